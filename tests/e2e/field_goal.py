"""A goal for field cases: its document, a connection, and what one does with both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

from editor import save
from wire import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from wire import Daemon, Wire

FIELD_CASES: Final = Path(__file__).parent.parent / "conformance" / "field_cases"
# A document that can be promoted; what its case is about is saved over it afterwards.
CLEAN: Final = """\
---
status: active
---
# Goal

## User Todo

{user}
## Agent Todo

{agent}
## Next Action

- Go on.
"""
ROW: Final = "- [ ] {text}\n  <!-- loopx:todo todo_id={todo_id} status=open -->\n"


def clean(user: dict[str, str] | None = None, agent: dict[str, str] | None = None) -> str:
    """Return a document with todos by id and text."""
    rows = [
        "".join(ROW.format(todo_id=todo_id, text=text) for todo_id, text in (todos or {}).items())
        for todos in (user, agent)
    ]
    return CLEAN.format(user=rows[0], agent=rows[1])


def case_file(case: str, file: str = "input") -> bytes:
    """Return the exact bytes of a document of a field case."""
    [path] = FIELD_CASES.glob(f"{case}-*/{file}.md")
    return path.read_bytes()


class FieldGoal:
    """A goal whose document begins as `content`.

    Attributes:
        wire: The connection that its calls are made on.
        path: Its document.
    """

    def __init__(self, daemon: Daemon, content: bytes | str) -> None:
        self._daemon = daemon
        # Of each test one, on a daemon that tests share.
        self.goal_id = re.sub(r"[^a-z0-9]+", "-", daemon.cwd.parent.name.lower())
        self.path = daemon.cwd.resolve() / "ACTIVE_GOAL_STATE.md"
        self.save(content)
        self.wire: Wire = daemon.agent()
        self.call("goal_register", path=str(self.path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wire.close()

    def reconnect(self) -> None:
        """Connect to the daemon that runs now."""
        self.wire.close()
        self.wire = self._daemon.agent()

    def restart(self) -> None:
        """End the daemon, start another one, and connect to it."""
        self._daemon.stop()
        self._daemon.start()
        self.reconnect()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.wire.call(method, {"goal_id": self.goal_id, **params})
        return result

    def refusal(self, method: str, **params: Any) -> dict[str, Any]:
        """Return what an error answer says: its data, with the message."""
        outcome = self.wire.outcome(self.wire.request(method, {"goal_id": self.goal_id, **params}))
        assert isinstance(outcome, Refused), outcome
        return {**outcome.data, "message": outcome.error["message"]}

    def promote(self, **options: Any) -> None:
        """Make the ledger the authority of what the document says now."""
        self.call("authority_shadow_bootstrap")
        assert self.call("authority_promote", **options)["projection_delivery"] == "delivered"

    def project(self, **how: Any) -> dict[str, Any]:
        return self.call("project_markdown", **{"execute": True, **how})

    @property
    def display(self) -> dict[str, Any]:
        found: dict[str, Any] = self.call("goal_status")["display"]
        return found

    @property
    def revision(self) -> str:
        return str(self.call("goal_status")["provider_revision"])

    def todos(self, **which: Any) -> dict[str, dict[str, Any]]:
        """Return the listed todos by id, in order."""
        return {todo["todo_id"]: todo for todo in self.call("todo_list", **which)["todos"]}

    def problems(self) -> list[dict[str, Any]]:
        """Return the problems of the document, with lines from 0."""
        found: list[dict[str, Any]] = self.wire.call("goal_diagnostics", {"path": str(self.path)})["items"]
        return found

    def told_at(self) -> list[tuple[str, int]]:
        """Return code and line, from 0, of each problem."""
        return [(problem["code"], problem["range"]["start"]["line"]) for problem in self.problems()]

    def save(self, content: bytes | str) -> None:
        """Replace the document, as most editors save one."""
        save(self.path, content)

    @property
    def content(self) -> bytes:
        return self.path.read_bytes()

    def lines_that_differ(self, before: bytes) -> tuple[list[bytes], list[bytes]]:
        """Return the lines, endings included, that only the document before has, and only the one of now."""
        old, new = before.splitlines(keepends=True), self.content.splitlines(keepends=True)
        return [line for line in old if line not in new], [line for line in new if line not in old]


# Makes the goal of a test from the bytes of its document.
GoalOf: TypeAlias = "Callable[[bytes | str], FieldGoal]"


def demand_pending(answer: dict[str, Any], reason_code: str) -> dict[str, Any]:
    """Check that a commit stands though it is not shown, and that nobody is told to repeat it; return the report."""
    report: dict[str, Any] = answer["projection_outbox"]
    assert (answer["changed"], answer["projection_delivery"]) == (True, "pending")
    assert (report["reason_code"], report["retryable"]) == (reason_code, True)
    assert report["retry_business_mutation"] is False
    return report
