"""An editor without a window: it drives a language-server session over a channel that records."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Self, cast

from stateward.location import Place
from stateward_daemon.host import Host
from stateward_daemon.lsp.session import LspSession
from stateward_daemon.settings import Settings
from stateward_daemon.watch import Watcher
from stateward_engine.state.view import View

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_engine.store.store import Store

Message = dict[str, Any]

# Generous, because it is only spent when something is missing.
PATIENCE_S: Final = 10

CASE: Final = Path(__file__).parent / "conformance/field_cases/37-atomic-save-and-stale-diagnostics"
GOOD: Final = (CASE / "good.md").read_text("utf-8")
# One row without an id, and two rows with the same one.
BAD: Final = (CASE / "bad.md").read_text("utf-8")
TWIN: Final = "\n  <!-- loopx:todo todo_id=todo_twin -->"
DUPLICATES: Final = BAD.replace("- [ ] no id here", f"- [ ] a{TWIN}\n- [ ] b{TWIN}")

PULLS: Final = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}


class Channel:
    """Records what a session sends; tells `changed` about it."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.paused = False
        self.clogged = False
        self.closed = False
        self.worked = 0
        self.changed = asyncio.Event()

    def send(self, body: bytes) -> None:
        """Record one message."""
        self.sent.append(json.loads(body))
        self.changed.set()

    def work(self, job: Callable[[], Any], done: Callable[[Any], None], failed: Callable[[Exception], None]) -> None:
        """Run the job at once, and record that it was to be run in a thread."""
        self.worked += 1
        try:
            done(job())
        except Exception as error:  # noqa: BLE001 - as a connection does
            failed(error)

    def close(self) -> None:
        """Record the end."""
        self.closed = True


class Editor:
    """A client and the session that serves it.

    Attributes:
        channel: What the session sent.
        session: What is under test.
        caller: Who the editor is to the host.
    """

    def __init__(self) -> None:
        self.channel = Channel()
        # Of the store only what `attach` tells about it.
        store = cast("Store", SimpleNamespace(view=View(), provider="embedded", outage=None))
        self._loop = asyncio.get_running_loop()
        self.watcher = Watcher(self._file_changed)
        host = Host(
            store=store,
            place=Place(Path("/store")),
            settings=Settings(),
            watcher=self.watcher,
            wrote=self._wrote,
        )
        self.caller = host.admit(0, self.channel)
        self.session = LspSession(self.channel, self.caller)
        self._id = 0

    async def __aenter__(self) -> Self:
        """Connect."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Lose the connection, and stop what watches files for it."""
        self.session.closed()
        await self.watcher.close()

    def _file_changed(self, path: Path, digest: str | None) -> None:
        self.session.file_changed(path, digest)

    def _wrote(self, path: Path, digest: str) -> None:
        self._loop.call_soon_threadsafe(self.watcher.wrote, path, digest)

    def file_changed(self, path: Path) -> None:
        """Let the session hear that the file at `path` is another one, without waiting for the watcher."""
        self.session.file_changed(path, self.session.documents.digest(path))

    def send(self, **message: Any) -> None:
        """Send one message as it is."""
        self.session.receive({"jsonrpc": "2.0", **message})

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self.send(method=method, params=params)

    def ask(self, method: str, **params: Any) -> Message:
        """Send a request and return its one answer, which the session gives at once."""
        self._id += 1
        self.send(id=self._id, method=method, params=params)
        [answer] = self.answers(self._id)
        return answer

    def result(self, method: str, **params: Any) -> Any:
        """Send a request and return its result."""
        answer = self.ask(method, **params)
        assert "error" not in answer, answer
        return answer["result"]

    def refusal(self, method: str, **params: Any) -> tuple[int, str]:
        """Send a request and return code and category of its error."""
        error = self.ask(method, **params)["error"]
        return error["code"], error["data"]["category"]

    def answers(self, identifier: Any) -> list[Message]:
        """Return the answers that a request got."""
        return [message for message in self.channel.sent if "method" not in message and message["id"] == identifier]

    def initialize(self, capabilities: Message | None = None, *folders: str, **params: Any) -> Message:
        """Introduce the editor and return what the session announces."""
        shown = [{"uri": folder, "name": "w"} for folder in folders] or None
        result = self.result(
            "initialize", processId=None, capabilities=capabilities or {}, workspaceFolders=shown, **params
        )
        self.notify("initialized")
        return cast("Message", result["capabilities"])

    def open(self, uri: str, text: str, version: int = 1) -> None:
        """Open a document."""
        self.notify(
            "textDocument/didOpen",
            textDocument={"uri": uri, "languageId": "markdown", "version": version, "text": text},
        )

    def change(self, uri: str, version: int, *changes: Message) -> None:
        """Edit a document."""
        self.notify(
            "textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=list(changes)
        )

    def close(self, uri: str) -> None:
        """Close a document."""
        self.notify("textDocument/didClose", textDocument={"uri": uri})

    def pushed(self, uri: str | None = None) -> list[Message]:
        """Return the diagnostics that were pushed, for one document or for all."""
        found = [m["params"] for m in self.channel.sent if m.get("method") == "textDocument/publishDiagnostics"]
        return [params for params in found if uri in (None, params["uri"])]

    def asked(self, method: str) -> list[Message]:
        """Return the requests of a method that the session sent."""
        return [message for message in self.channel.sent if message.get("method") == method and "id" in message]

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait until what was sent fulfills a condition."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self.channel.changed.clear()
                await self.channel.changed.wait()

    async def next_push(self, uri: str) -> Message:
        """Return the next diagnostics that are pushed for a document after those already there."""
        before = len(self.pushed(uri))
        await self.until(lambda: len(self.pushed(uri)) > before)
        return self.pushed(uri)[before]


def codes(report: Message) -> list[str]:
    """Return the codes of pushed or pulled diagnostics."""
    items = report["diagnostics"] if "diagnostics" in report else report["items"]
    return [item["code"] for item in items]


def save(path: Path, text: str | bytes) -> None:
    """Save as most editors do: write a new file, then give it the old one's name."""
    draft = path.with_name("draft~")
    draft.write_bytes(text if isinstance(text, bytes) else text.encode())
    draft.replace(path)


def delete(path: Path) -> None:
    """Delete a file."""
    path.unlink()
