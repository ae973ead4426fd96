"""An editor as the measures need one: it types and waits, and does little else while the clock runs."""

from __future__ import annotations

import random
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any, Final, Self

from wire import PATIENCE_S, Wire

if TYPE_CHECKING:
    from pathlib import Path

    from wire import Daemon

PUBLISHED: Final = "textDocument/publishDiagnostics"
# Longer than anything waits that is to be sent.
REST_S: Final = 0.1
# As fast as a key that is held down repeats, and faster than anybody types.
KEY_S: Final = 0.03


class Typist(Wire):
    """One editor behind the bridge, which pushes are sent to, with one document open."""

    def __init__(self, daemon: Daemon, path: Path, text: str) -> None:
        """Start a bridge, introduce the editor, open the document and wait until its diagnostics are there."""
        ours, theirs = socket.socketpair()
        end = theirs.fileno()
        self.bridge = subprocess.Popen(daemon.command("lsp"), env=daemon.environment, stdin=end, stdout=end)
        theirs.close()
        super().__init__(ours)
        self.lines_of_text = text.split("\n")
        self.uri, self.version = path.as_uri(), 1
        self.rows = [number for number, line in enumerate(self.lines_of_text) if line.startswith("- [")]
        self.drawn = random.Random(len(text))
        folders = [{"uri": daemon.cwd.as_uri(), "name": "w"}]
        result = self.call("initialize", {"processId": None, "capabilities": {}, "workspaceFolders": folders})
        self.capabilities: dict[str, Any] = result["capabilities"]
        self.tell("initialized")
        document = {"uri": self.uri, "languageId": "markdown", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)
        self.shown()

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Leave as editors do."""
        self.call("shutdown")
        self.tell("exit")
        self.bridge.wait()
        super().close()

    def place(self) -> dict[str, int]:
        """Return a position inside of what some row says."""
        line = self.drawn.choice(self.rows)
        return {"line": line, "character": self.lines_of_text[line].index("(#")}

    def type(self) -> float:
        """Type one character into some row; return when it was sent."""
        at = self.place()
        self.version += 1
        change = {"range": {"start": at, "end": at}, "text": "x"}
        began = time.perf_counter()
        self.tell(
            "textDocument/didChange",
            textDocument={"uri": self.uri, "version": self.version},
            contentChanges=[change],
        )
        return began

    def shown(self) -> None:
        """Wait until the diagnostics of the latest version are there."""
        while True:
            message = self.notifications.pop(0) if self.notifications else self.receive()
            if message.get("method") == PUBLISHED and message["params"].get("version") == self.version:
                return

    def keystroke(self) -> float:
        """Type one character after a rest, and return how long its diagnostics took, in seconds."""
        time.sleep(REST_S)
        began = self.type()
        self.shown()
        return time.perf_counter() - began

    def storm(self, seconds: float) -> list[float]:
        """Type without pause, and return how long each character took to be covered by diagnostics, in seconds."""
        sent: dict[int, float] = {}
        found: list[float] = []
        begin = due = time.perf_counter()
        while due < begin + seconds or sent:
            now = time.perf_counter()
            if now >= due and due < begin + seconds:
                began = self.type()
                sent[self.version] = began
                due += KEY_S
                continue
            self.socket.settimeout(max(due - now, 0.0001) if due < begin + seconds else PATIENCE_S)
            try:
                message = self.receive()
            except TimeoutError:
                continue
            arrived, version = time.perf_counter(), message["params"].get("version", 0)
            found += [arrived - sent.pop(older) for older in [*sent] if older <= version]
        self.socket.settimeout(PATIENCE_S)
        return found
