"""One golden transcript per method: what is sent and what comes back, as JSON lines that any client can replay.

`make golden` writes them anew. What differs from run to run stands in them as a word in angle brackets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest
from transcribing import GOAL, TIMED, VOLATILE, golden_of, steady

from stateward_protocol.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wire import Daemon, Wire

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

OF_GOAL: Final = {"goal_id": "rollback"}
OF_TODO: Final = {**OF_GOAL, "todo_id": "todo_rehearse"}
HELD: Final = {**OF_TODO, "owner": "agent-kite", "idempotency_key": "kite-1"}
REGISTERED: Final = ("goal_register", {**OF_GOAL, "path": "<cwd>/GOAL.md"})
SHADOWED: Final = ("authority_shadow_bootstrap", {**OF_GOAL, "operation_id": "shadow-1"})
PROMOTED: Final = [
    REGISTERED,
    SHADOWED,
    ("authority_promote", {**OF_GOAL, "handoff_mode": "hard_lease", "operation_id": "promote-1"}),
]
ADDED: Final = (
    "todo_add",
    {**OF_GOAL, "role": "agent", "text": "Time it", "operation_id": "add-1", "required_write_scopes": ["ops/**"]},
)
CLAIMED: Final = (
    "todo_claim",
    {
        **OF_TODO,
        "claimed_by": "agent-kite",
        "agent_id": "agent-kite",
        "operation_id": "claim-1",
        "lease": {"idempotency_key": "kite-1", "expected_version": 0},
    },
)
ACQUIRED: Final = ("lease_acquire", {**HELD, "operation_id": "acquire-1", "expected_version": 0})
COMPLETION: Final = {
    **OF_TODO,
    "agent_id": "agent-kite",
    "evidence": "8 minutes",
    "no_followup": True,
    "operation_id": "complete-1",
}

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
    "state_document": [
        FILLED,
        ("state_document", {"uri": "stateward:/cwd/lazy.json"}),
        ("state_document", {"uri": "stateward:/lazy/list%5B1%5D.json?keys"}),
        ("state_document", {"uri": "stateward:/cwd/lazy/lost.json"}),
        ("state_document", {"uri": "stateward:/cwd.lazy"}),
    ],
    "state_status": [FILLED, ("state_status", {})],
    "subscribe": [
        ("subscribe", {"topics": ["state", "todos"]}),
        FILLED,
        TOLD,
        ("subscribe", {"topics": ["goals"]}),
        REGISTERED,
        TOLD,
        ("unsubscribe", {"topics": ["goals"]}),
        ADDED,
        TOLD,
        ("subscribe", {"topics": ["lunch"]}),
    ],
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
    "goal_new": [
        ("goal_new", {**OF_GOAL, "path": "<cwd>/NEW.md", "objective": "Roll back in ten minutes"}),
        ("goal_new", {**OF_GOAL, "path": "<cwd>/NEW.md", "objective": "Roll back in ten minutes"}),
    ],
    "goal_register": [REGISTERED, REGISTERED, ("goal_register", {**OF_GOAL, "path": "GOAL.md"})],
    "goal_configure": [
        REGISTERED,
        ("goal_configure", {**OF_GOAL, "agents": ["agent-kite", "agent-wren"]}),
        ("goal_configure", {**OF_GOAL, "handoff_mode": "loud"}),
    ],
    "goal_list": [("goal_list", {}), REGISTERED, ("goal_list", {})],
    "goal_status": [
        *PROMOTED,
        ("goal_status", OF_GOAL),
        ("goal_status", {"goal_id": "other"}),
    ],
    "todo_list": [
        REGISTERED,
        ("todo_list", {**OF_GOAL, "ready": True, "agent_id": "agent-kite"}),
        ("todo_list", OF_TODO),
        ("todo_list", {**OF_GOAL, "todo_id": "todo_none"}),
    ],
    "todo_add": [
        REGISTERED,
        ADDED,
        ADDED,
        ("todo_add", {**ADDED[1], "text": "Time it again"}),
        ("todo_add", {**OF_GOAL, "role": "agent", "text": "Go", "excluded_agents": "bo", "operation_id": "add-2"}),
        SHADOWED,
        PROMOTED[2],
        ("todo_add", {**OF_GOAL, "role": "user", "text": "Decide", "task_class": "user_gate", "operation_id": "add-3"}),
    ],
    "todo_claim": [
        *PROMOTED,
        ("todo_claim", {**OF_TODO, "claimed_by": "agent-wren", "operation_id": "claim-0"}),
        CLAIMED,
        CLAIMED,
        ("todo_claim", {**OF_TODO, "claimed_by": "agent-wren", "operation_id": "claim-2"}),
    ],
    "todo_update": [
        REGISTERED,
        ("todo_update", {**OF_TODO, "priority": "P0", "note": "first", "operation_id": "update-1"}),
        ("todo_update", {**OF_TODO, "clear": ["note"], "operation_id": "update-2", "dry_run": True}),
        ("todo_update", {**OF_TODO, "priority": "P9", "task_class": "zoo", "operation_id": "update-3"}),
        ("todo_update", {**OF_TODO, "done": True}),
    ],
    "todo_complete": [
        *PROMOTED,
        CLAIMED,
        ("todo_complete", COMPLETION),
        ("todo_complete", {**COMPLETION, "lease": {"idempotency_key": "kite-1", "expected_version": 1}}),
        ("todo_complete", {**COMPLETION, "lease": {"idempotency_key": "kite-1", "expected_version": 1}}),
    ],
    "todo_archive_completed": [
        REGISTERED,
        ("todo_archive_completed", {**OF_GOAL, "max_active_done": 0}),
        ("todo_archive_completed", {**OF_GOAL, "max_active_done": 0, "execute": True}),
        ("todo_archive_completed", {**OF_GOAL, "max_active_done": -1}),
    ],
    "todo_receipt": [
        REGISTERED,
        ADDED,
        ("todo_receipt", {**OF_GOAL, "operation_id": "add-1"}),
        ("todo_receipt", {**OF_GOAL, "operation_id": "add-2"}),
        ("todo_receipt", OF_GOAL),
    ],
    "project_markdown": [
        REGISTERED,
        ("project_markdown", OF_GOAL),
        SHADOWED,
        PROMOTED[2],
        ("project_markdown", OF_GOAL),
        ("project_markdown", {**OF_GOAL, "execute": True}),
        ("project_markdown", {**OF_GOAL, "provider_revision": "file:0:1", "execute": True}),
    ],
    "refresh_state": [
        REGISTERED,
        (
            "refresh_state",
            {
                **OF_GOAL,
                "classification": "in_progress",
                "next_action": "Go on.",
                "turn_key": "turn-1",
                "operation_id": "refresh-1",
            },
        ),
        ("goal_configure", {**OF_GOAL, "agents": ["agent-kite", "agent-wren"]}),
        ("refresh_state", {**OF_GOAL, "turn_key": "turn-2"}),
    ],
    "lease_acquire": [
        REGISTERED,
        ACQUIRED,
        ("lease_acquire", {**HELD, "owner": "agent-wren", "idempotency_key": "wren-1", "operation_id": "acquire-2"}),
        ("lease_acquire", {**HELD, "ttl_seconds": 0, "operation_id": "acquire-3"}),
    ],
    "lease_renew": [
        REGISTERED,
        ACQUIRED,
        ("lease_renew", {**HELD, "expected_version": 1, "operation_id": "renew-1"}),
        ("lease_renew", {**HELD, "expected_version": 1, "operation_id": "renew-2"}),
        ("lease_renew", HELD),
    ],
    "lease_transfer": [
        REGISTERED,
        ACQUIRED,
        (
            "lease_transfer",
            {
                **HELD,
                "expected_version": 1,
                "new_owner": "agent-wren",
                "new_idempotency_key": "wren-1",
                "operation_id": "transfer-1",
            },
        ),
    ],
    "lease_release": [
        REGISTERED,
        ACQUIRED,
        ("lease_release", {**HELD, "expected_version": 1, "operation_id": "release-1"}),
        ("lease_release", {**HELD, "expected_version": 2, "operation_id": "release-2"}),
    ],
    "lease_inspect": [
        REGISTERED,
        ("lease_inspect", OF_TODO),
        ACQUIRED,
        ("lease_inspect", OF_TODO),
        ("lease_inspect", OF_GOAL),
    ],
    "authority_shadow_bootstrap": [
        REGISTERED,
        SHADOWED,
        SHADOWED,
        ("authority_shadow_bootstrap", {"goal_id": "other"}),
    ],
    "authority_shadow_qualify": [
        REGISTERED,
        ("authority_shadow_qualify", OF_GOAL),
        SHADOWED,
        ("authority_shadow_qualify", OF_GOAL),
    ],
    "authority_promote": [REGISTERED, PROMOTED[2], SHADOWED, PROMOTED[2], PROMOTED[2], ("authority_promote", OF_GOAL)],
    "authority_rollback": [
        REGISTERED,
        SHADOWED,
        ("authority_rollback", {**OF_GOAL, "operation_id": "rollback-1"}),
        PROMOTED[2],
    ],
}


def transcript(wire: Wire, cwd: Path, script: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return what went over the wire; a notice, which may come before an answer or behind it, where it is asked for."""
    attach = {
        "client": {"name": "transcript"},
        "protocol": 1,
        "cwd": str(cwd),
        "session": "s1",
        "wanted": ["cwd", "session"],
    }
    lines: list[dict[str, Any]] = []
    told: list[dict[str, Any]] = []
    for number, (method, template) in enumerate([("attach", attach), *script], 1):
        params = {
            name: value.replace("<cwd>", str(cwd)) if isinstance(value, str) else value
            for name, value in template.items()
        }
        sent = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        if method:
            wire.send(sent)
            lines.append({"send": sent})
            while "method" in (message := wire.receive()):
                told.append(message)
        else:
            message = told.pop(0) if told else wire.receive()
        lines.append({"receive": message})
    assert told == []
    return lines


def undeclared(lines: list[dict[str, Any]]) -> list[str]:
    """Return the members of results that the structs of their methods do not have, and clients would lose."""
    sent: dict[int, str] = {}
    found: list[str] = []
    for line in lines:
        if "send" in line:
            sent[line["send"]["id"]] = line["send"]["method"]
        elif "result" in line["receive"]:
            method = METHODS[sent[line["receive"]["id"]]]
            if issubclass(method.result, msgspec.Struct):
                typed = msgspec.to_builtins(msgspec.convert(line["receive"]["result"], method.result))
                found += [f"{method.name}: {place}" for place in _lost(line["receive"]["result"], typed)]
    return found


def _lost(told: Any, typed: Any, place: str = "$") -> list[str]:
    if isinstance(told, list):
        return [lost for a, b in zip(told, typed, strict=True) for lost in _lost(a, b, f"{place}[]")]
    if not isinstance(told, dict):
        return []
    return [
        lost
        for name, value in told.items()
        for lost in (_lost(value, typed[name], f"{place}.{name}") if name in typed else [f"{place}.{name}"])
    ]


def test_every_method_has_a_script() -> None:
    assert set(SCRIPTS) == set(METHODS)


@pytest.mark.parametrize("method", SCRIPTS)
def test_golden_transcript(start: Callable[[], Daemon], method: str) -> None:
    daemon = start()
    cwd = daemon.cwd.resolve()
    (cwd / "GOAL.md").write_text(GOAL, encoding="utf-8")
    with daemon.connect() as wire:
        lines = transcript(wire, cwd, SCRIPTS[method])
    # A rendering has digests of what is given, and nothing of a time.
    volatile = VOLATILE if method == "goal_render" else TIMED
    found = [steady(line, {"cwd": str(cwd)}, volatile) for line in lines]

    assert undeclared(lines) == []
    assert found == golden_of(f"{method}.jsonl", found)
