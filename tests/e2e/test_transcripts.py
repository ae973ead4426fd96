"""One golden transcript per method: what is sent and what comes back, as JSON lines that any client can replay.

`make golden` writes them anew. What differs from run to run stands in them as a word in angle brackets.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from stateward_protocol.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from wire import Daemon, Wire

GOLDEN: Final = Path(__file__).parent / "golden"
# Members that differ from run to run, or from machine to machine.
VOLATILE: Final = {
    "pid", "store", "socket", "log", "uptime_s", "connections", "queue_length", "sequence", "store_bytes", "changed_at",
    "version",
}  # fmt: skip

DOCUMENT: Final = """\
---
status: active
---
# Goal

## Next Action

- Go on.

## Agent Todo

- [ ] [P1] One
  <!-- loopx:todo todo_id=todo_one claimed_by=agent-kite -->
- [ ] 二 🌊
"""
RECORD: Final[dict[str, Any]] = {
    "schema_version": "todo_domain_record_v0",
    "todo_id": "todo_one",
    "role": "agent",
    "status": "done",
    "done": True,
    "text": "[P1] One",
    "archive_state": "active",
    "claimed_by": "agent-kite",
    "note": "二 🌊",
}
FILLED: Final = ("patch_state", {"patch": {"cwd": {"tactics": {"next": "go"}, "lazy": {"list": [1, {"a": True}]}}}})

# Nothing is sent: what the daemon tells next.
TOLD: Final[tuple[str, dict[str, Any]]] = ("", {})

# Right calls first, then one that is refused. `attach` comes before each of them, and is part of its transcript.
SCRIPTS: Final[dict[str, list[tuple[str, dict[str, Any]]]]] = {
    "attach": [("attach", {"client": {"name": "again"}, "protocol": 1}), ("attach", {"client": {"name": "x"}})],
    "ping": [("ping", {})],
    "status": [("status", {})],
    "sessions": [("sessions", {})],
    "shutdown_daemon": [("shutdown_daemon", {})],
    "read_state": [
        FILLED,
        ("read_state", {"path": "effective"}),
        ("read_state", {"paths": ["cwd.lazy.list[1].a", "tactics"]}),
        ("read_state", {"path": "cwd.lazy", "projection": "keys"}),
        ("read_state", {"path": "cwd.lazy.list[2:9]"}),
    ],
    "patch_state": [
        FILLED,
        ("patch_state", {"patch": {"cwd": {"tactics": {"next": None}, "lazy": {"list": {"[0]": 2}}}}}),
        ("patch_state", {"patch": {"cwd": {"tactics": {"next": None}}}}),
        ("patch_state", {"patch": {"edits": []}}),
    ],
    "baseline": [
        FILLED,
        ("set_mode", {"mode": "passive"}),
        ("baseline", {}),
        ("set_mode", {"mode": "off"}),
        ("baseline", {}),
    ],
    "respond": [
        ("respond", {"text": "done"}),
        ("respond", {"text": "done"}),
        ("baseline", {}),
        ("set_mode", {"mode": "passive"}),
        ("respond", {"text": "again"}),
    ],
    "set_mode": [("set_mode", {"mode": "passive"}), ("set_mode", {"mode": "loud"})],
    "fork_session": [
        FILLED,
        ("fork_session", {"parent": "s1", "child": "s2"}),
        ("fork_session", {"parent": "s1", "child": "s2"}),
    ],
    "state_status": [FILLED, ("state_status", {})],
    "subscribe": [("subscribe", {"topics": ["state"]}), FILLED, TOLD, ("subscribe", {"topics": ["lunch"]})],
    "unsubscribe": [("subscribe", {"topics": ["state"]}), ("unsubscribe", {"topics": ["state"]}), FILLED],
    "configure": [("configure", {"history_limit": 3}), ("configure", {"history_limit": 3.5})],
    "export_state": [FILLED, ("export_state", {})],
    "import_state": [
        ("import_state", {"scopes": {"session": {"tactics": {"n": 1}}}}),
        ("import_state", {"scopes": {"session": {"tactics": {"n": 2}}}}),
    ],
    "reset_scope": [
        FILLED,
        ("reset_scope", {"scope": "cwd", "cwd": "<cwd>"}),
        ("reset_scope", {"scope": "global"}),
        ("reset_scope", {"scope": "session"}),
    ],
    "compact": [FILLED, ("compact", {}), ("compact", {}), ("compact", {"now": True})],
    "goal_projection": [
        ("goal_projection", {"text": DOCUMENT, "goal_id": "g1"}),
        ("goal_projection", {"text": "---\n"}),
    ],
    "goal_diagnostics": [("goal_diagnostics", {"text": DOCUMENT}), ("goal_diagnostics", {"path": "relative.md"})],
    "goal_render": [
        ("goal_render", {"text": DOCUMENT, "provider_revision": "file:store-1:42", "records": [RECORD]}),
        (
            "goal_render",
            {"text": DOCUMENT, "provider_revision": "file:store-1:42", "records": [RECORD | {"colour": "red"}]},
        ),
    ],
}


def steady(value: Any, cwd: str) -> Any:
    """Return `value` with a word in the place of what differs from run to run."""
    if isinstance(value, dict):
        return {k: f"<{k}>" if k in VOLATILE and not isinstance(v, list) else steady(v, cwd) for k, v in value.items()}
    if isinstance(value, list):
        return [steady(item, cwd) for item in value]
    return value.replace(cwd, "<cwd>") if isinstance(value, str) else value


def transcript(wire: Wire, cwd: Path, script: list[tuple[str, dict[str, Any]]]) -> str:
    """Return what went over the wire, one JSON object per line."""
    attach = {
        "client": {"name": "transcript"},
        "protocol": 1,
        "cwd": str(cwd),
        "session": "s1",
        "wanted": ["cwd", "session"],
    }
    lines: list[dict[str, Any]] = []
    for number, (method, template) in enumerate([("attach", attach), *script], 1):
        params = {name: str(cwd) if value == "<cwd>" else value for name, value in template.items()}
        sent = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        if method:
            wire.send(sent)
            lines.append({"send": sent})
        lines.append({"receive": wire.receive()})
    return "".join(json.dumps(steady(line, str(cwd)), ensure_ascii=False) + "\n" for line in lines)


def test_every_method_has_a_script() -> None:
    assert set(SCRIPTS) == set(METHODS)


@pytest.mark.parametrize("method", SCRIPTS)
def test_golden_transcript(start: Callable[[], Daemon], method: str) -> None:
    daemon = start()
    with daemon.connect() as wire:
        found = transcript(wire, daemon.cwd.resolve(), SCRIPTS[method])
    golden = GOLDEN / f"{method}.jsonl"
    if os.environ.get("STATEWARD_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found, encoding="utf-8")

    assert found == golden.read_text(encoding="utf-8")
