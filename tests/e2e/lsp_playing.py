"""Scripts of editors are played and become transcripts, and transcripts are replayed.

`docs/editors.md` says what the lines of a transcript are.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from transcribing import TIMED, steady

if TYPE_CHECKING:
    from collections.abc import Callable

    from lsp_scripts import Step

    from wire import Daemon, Wire

Line = dict[str, Any]

VOLATILE: Final = TIMED | {"request_sha256", "resultId"}
WORD: Final = re.compile(r"<(\w+)>")
# The words that stand for what whoever replays a transcript chooses.
GIVEN: Final = ("cwd", "goal")


class Stage:
    """One editor, and whoever else does something in its transcript.

    Attributes:
        words: What the words in lines stand for.
    """

    def __init__(self, daemon: Daemon, wire: Wire) -> None:
        self.words: dict[str, Any] = {"cwd": str(daemon.cwd.resolve()), "goal": f"goal-{uuid4().hex}"}
        self._daemon = daemon
        self._wire = wire
        self._waiting: list[Line] = []

    def do(self, line: Line) -> None:
        """Do what a line says, unless it is about what the server sends."""
        [(kind, content)] = self.filled(line).items()
        if kind == "send":
            self._wire.send(content)
        elif kind == "write":
            path = Path(content["path"])
            path.parent.mkdir(exist_ok=True)
            path.write_text(content["text"], encoding="utf-8")
        else:
            assert kind == "call"
            with self._daemon.agent("editor") as agent:
                agent.call(content["method"], content["params"])

    def next(self, fits: Callable[[Line], bool]) -> Line:
        """Return the first message of the server that fits; what came before it stays for later."""
        while True:
            for message in self._waiting:
                if fits(message):
                    self._waiting.remove(message)
                    return message
            self._waiting.append(self._wire.receive())

    def closed(self) -> bool:
        """Tell whether the server ends the connection, without another word."""
        try:
            self._wire.receive()
        except ConnectionError:
            return True
        return False

    def filled(self, value: Any) -> Any:
        """Return `value` with what its words stand for."""
        if isinstance(value, dict):
            return {name: self.filled(member) for name, member in value.items()}
        if isinstance(value, list):
            return list(map(self.filled, value))
        if isinstance(value, str):
            return WORD.sub(lambda word: str(self.words.get(word[1], word[0])), value)
        return value


class Play(Stage):
    """A script is played.

    Attributes:
        lines: The transcript.
    """

    def __init__(self, daemon: Daemon, wire: Wire, *, tells_capabilities: bool) -> None:
        """Begin; the answer to `initialize` may be told in full."""
        super().__init__(daemon, wire)
        self.lines: list[Line] = []
        self._tells_capabilities = tells_capabilities
        self._known = dict(self.words)
        self._result: Any = None
        self._asked = 0

    def go(self, step: Step) -> None:
        """Take one step."""
        getattr(self, f"_{step.kind}")(step.name, step.content)

    def _ask(self, method: str, params: Any) -> None:
        self._asked += 1
        params = params(self._result) if callable(params) else params
        self._do({"send": {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}})
        answer = self.next(lambda message: "method" not in message and message["id"] == self._asked)
        self._result = answer.get("result")
        if method == "initialize" and "result" in answer and not self._tells_capabilities:
            # Or else each new feature would be a change of all transcripts.
            answer = {**answer, "result": "<result>"}
        self._received(answer)

    def _tell(self, method: str, params: Any) -> None:
        self._do({"send": {"jsonrpc": "2.0", "method": method, "params": params}})

    def _told(self, method: str, answer: Any) -> None:
        message = self.next(lambda message: message.get("method") == method)
        if "id" not in message:
            self._received(message)
            return
        self.words["id"] = message["id"]
        self._received({**message, "id": "<id>"})
        self._do({"send": {"jsonrpc": "2.0", "id": "<id>", "result": answer}})

    def _call(self, method: str, params: Any) -> None:
        self._do({"call": {"method": method, "params": params}})

    def _write(self, name: str, text: str) -> None:
        self._do({"write": {"path": f"<cwd>/{name}", "text": text}})

    def _ended(self, *_: object) -> None:
        assert self.closed()
        self.lines.append({"receive": None})

    def _do(self, line: Line) -> None:
        line = json.loads(json.dumps(line))
        self.lines.append(line)
        self.do(line)

    def _received(self, message: Line) -> None:
        self._learn(message)
        self.lines.append({"receive": steady(message, self._known, VOLATILE)})

    def _learn(self, value: Any) -> None:
        if isinstance(value, dict):
            self.words |= {name: member for name, member in value.items() if name in VOLATILE}
        for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            self._learn(member)


class Replay(Stage):
    """A transcript is replayed, by the rules of `docs/editors.md` alone."""

    def go(self, line: Line) -> None:
        """Do what a line says, or wait for it."""
        if "receive" not in line:
            self.do(line)
        elif line["receive"] is None:
            assert self.closed()
        else:
            awaited = line["receive"]
            # An answer to the editor's request, or a message of a method.
            name = "method" if "method" in awaited else "id"
            found = self.next(
                lambda message: message.get(name) == awaited[name] and ("method" in message) == (name == "method")
            )
            assert self._is(found, awaited), (found, awaited)

    def _is(self, found: Any, awaited: Any) -> bool:
        """Tell whether a value is what a line has in its place; what a word stands for is noted."""
        if isinstance(awaited, dict):
            return (
                isinstance(found, dict)
                and found.keys() == awaited.keys()
                and all(self._is(found[name], member) for name, member in awaited.items())
            )
        if isinstance(awaited, list):
            return isinstance(found, list) and len(found) == len(awaited) and all(map(self._is, found, awaited))
        if isinstance(awaited, str):
            return self._is_text(found, awaited)
        return bool(found == awaited)

    def _is_text(self, found: Any, awaited: str) -> bool:
        for given in GIVEN:
            awaited = awaited.replace(f"<{given}>", self.words[given])
        if word := WORD.fullmatch(awaited):
            self.words[word[1]] = found
            return True
        pattern = ".*?".join(map(re.escape, WORD.split(awaited)[::2]))
        return isinstance(found, str) and re.fullmatch(pattern, found, re.DOTALL) is not None
