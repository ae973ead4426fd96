"""The contract of the wire: one answer each, in order, within bounds, and errors that help to mend the call."""

from __future__ import annotations

import contextlib
import json
import socket
from typing import TYPE_CHECKING, Any, Final

import pytest

from stateward_protocol.errors import CATEGORIES
from wire import Daemon, Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AT_NULL: Final = "$.params.patch.cwd.tactics.x[0]"
BIG: Final = "x" * 1_000_000


def refusal(daemon: Daemon, method: str, params: Any, **attach: Any) -> Refused:
    with daemon.agent(**attach) as wire, pytest.raises(Refused) as refused:
        wire.call(method, params)
    return refused.value


# Each line is a wrong call, the category of its answer, and facts that the answer must carry.
WRONG_CALLS: Final[list[tuple[str, dict[str, Any], str, dict[str, Any]]]] = [
    ("raed_state", {}, "unknown_method", {"did_you_mean": "read_state"}),
    ("configure", {"history_limit": "7"}, "invalid_request", {"path": "$.params.history_limit"}),
    ("configure", {"history_limit": 101}, "invalid_request", {"path": "$.params.history_limit"}),
    ("configure", {"historyLimit": 7}, "invalid_request", {"wanted": ["history_limit"]}),
    ("read_state", {"path": "cwd.tactics", "limit": 5}, "invalid_request", {"path": "$.params.limit"}),
    ("read_state", {}, "invalid_request", {}),
    ("read_state", {"path": "cwd..x"}, "malformed_path", {"path": "cwd..x"}),
    ("read_state", {"path": "cwd.tactics.nxet"}, "missing_path", {"path": "cwd.tactics.nxet"}),
    ("read_state", {"path": "cwd.tactics.next[0]"}, "wrong_kind", {}),
    ("read_state", {"path": "cwd.lazy.list[9]"}, "out_of_bounds", {}),
    ("read_state", {"path": "cwd[3].tactics"}, "history_unavailable", {}),
    ("read_state", {"path": "cwd." + "a" * 65_536}, "too_large", {"limit": "max_path_length"}),
    ("read_state", {"paths": ["cwd"] * 10_001}, "too_large", {"limit": "max_paths"}),
    ("patch_state", {"patch": {"cwd": {"tactics": {"x": [None]}}}}, "invalid_patch", {"path": AT_NULL}),
    ("patch_state", {"patch": {"cwd": {"response": "x"}}}, "invalid_patch", {}),
    ("patch_state", {"patch": {"cwd": {"tactics": {}}}}, "no_op", {}),
    ("patch_state", {"patch": {"cwd": {"tactics": {"x": 1}}}, "edits": []}, "invalid_request", {"got": "edits"}),
    ("patch_state", {"patch": {"cwd": {"tactics": {"x": 1}}}, "if_revision": "G9/C9/S9"}, "stale_basis", {}),
    ("import_state", {"scopes": {"cwd": {"tactics": {}}}}, "refused", {"reason_code": "scope_not_empty"}),
    ("respond", {"text": 1}, "invalid_request", {"path": "$.params.text"}),
    ("set_mode", {"mode": "loud"}, "invalid_request", {"path": "$.params.mode"}),
    ("fork_session", {"parent": "nobody", "child": "s9"}, "refused", {"reason_code": "unknown_parent"}),
    ("goal_projection", {}, "invalid_request", {"path": "$.params.path"}),
    ("goal_projection", {"path": "/nowhere/ACTIVE_GOAL_STATE.md"}, "missing_path", {}),
    ("goal_projection", {"text": "---\nopen: yes\n"}, "unsafe_document", {"line": 1}),
]  # fmt: skip


@pytest.fixture
def filled(daemon: Daemon) -> Daemon:
    with daemon.agent() as wire:
        wire.call("patch_state", {"patch": {"cwd": {"tactics": {"next": "go"}, "lazy": {"list": [1, 2]}}}})
    return daemon


def test_wrong_calls_are_told_what_was_wrong_and_where(filled: Daemon) -> None:
    told = []
    for method, params, category, facts in WRONG_CALLS:
        error = refusal(filled, method, params)
        found = {name: error.data.get(name) for name in facts}
        told.append((method, error.category, found, error.error["code"] == CATEGORIES[category].code))

    assert told == [(method, category, facts, True) for method, _, category, facts in WRONG_CALLS]


def test_no_refusal_quotes_what_is_stored(filled: Daemon) -> None:
    """SF-022 and its like: lazy bodies appear in answers to explicit reads only."""
    with filled.agent() as wire:
        wire.call("patch_state", {"patch": {"cwd": {"lazy": {"secret": "swordfish"}}}})
    refusals = [refusal(filled, method, params) for method, params, _, _ in WRONG_CALLS]
    refusals.append(refusal(filled, "read_state", {"path": "cwd.lazy.secret.deeper"}))

    assert [error for error in refusals if "swordfish" in json.dumps(error.error)] == []


def test_only_ping_and_status_are_served_before_attach(daemon: Daemon) -> None:
    with daemon.connect() as wire:
        assert wire.call("ping") == {"ok": True}
        assert wire.call("status")["pid"] == daemon.pid
        for method in ("read_state", "patch_state", "sessions", "shutdown_daemon", "textDocument/hover", "shutdown"):
            with pytest.raises(Refused) as refused:
                wire.call(method, {})
            assert (refused.value.category, refused.value.error["code"]) == ("not_attached", -32002)


def test_attach_says_what_it_bound(daemon: Daemon) -> None:
    with daemon.connect() as wire:
        result = wire.attach(daemon.cwd, "s1")

    assert result["daemon"]["pid"] == daemon.pid
    assert result["wanted"] == ["global", "cwd", "session"]
    assert result["cwd"] == str(daemon.cwd.resolve())
    assert result["limits"] == {
        "max_message_bytes": 64 * 2**20,
        "max_entry_bytes": 64 * 2**20,
        "queue_length_max": 4096,
        "max_path_length": 65536,
        "max_paths": 10000,
    }


def test_a_long_name_of_a_client_is_cut_for_those_who_read_it(daemon: Daemon) -> None:
    """DM-012: what a program calls itself decides nothing, so no length of it keeps the program out."""
    with daemon.agent(client={"name": "n" * 1_000, "version": "v" * 1_000}) as wire:
        (connection,) = wire.call("sessions")["connections"]

    assert (connection["client"], connection["version"]) == ("n" * 128, "v" * 128)


@pytest.mark.parametrize(
    "params",
    [{"cwd": None}, {"cwd": "relative"}, {"cwd": "/nowhere/at/all"}, {"wanted": []}, {"wanted": ["cwd", "cwd"]},
     {"wanted": ["planet"]}, {"session": "two words"}, {"session": "line\n"}, {"protocol": 2}, {"client": {}}],
    ids=str,
)  # fmt: skip
def test_attach_refuses_what_it_cannot_bind(daemon: Daemon, params: dict[str, Any]) -> None:
    right = {"client": {"name": "test"}, "protocol": 1, "cwd": str(daemon.cwd), "session": "s1"}
    with daemon.connect() as wire, pytest.raises(Refused) as refused:
        wire.call("attach", {**right, **params})
    assert refused.value.category == "invalid_request"
    assert refused.value.data["path"].startswith("$.params.")


def test_mode_off_has_no_state_tools(daemon: Daemon) -> None:
    assert refusal(daemon, "read_state", {"path": "cwd"}, mode="off").category == "invalid_request"


def test_an_unwanted_owner_is_not_read(daemon: Daemon) -> None:
    assert refusal(daemon, "read_state", {"path": "session"}, wanted=["cwd"]).category == "unwanted_owner"


def test_the_prefix_names_the_same_method(daemon: Daemon) -> None:
    with daemon.agent() as wire:
        assert wire.call("stateward/read_state", {"path": "cwd.lazy"}) == {"value": None}


def test_a_shell_can_speak_in_lines(daemon: Daemon) -> None:
    with daemon.connect(lines=True) as wire:
        wire.attach(daemon.cwd, "s1")
        wire.call("patch_state", {"patch": {"cwd": {"tactics": {"text": "zwei\nZeilen"}}}})
        assert wire.call("read_state", {"path": "cwd.tactics.text"}) == {"value": "zwei\nZeilen"}


def test_hostile_members_arrive_intact(daemon: Daemon) -> None:
    """Keys that a dispatcher could take for its own come back as they went."""
    stored = {"jsonrpc": "2.0", "a-b": 1, "class": 2, "type_name": 3, "_x": 4, "__proto__": {"id": 9, "method": "evil"}}
    with daemon.agent() as wire:
        wire.call("patch_state", {"patch": {"cwd": {"lazy": {"odd": stored}}}})
        assert wire.call("read_state", {"path": "cwd.lazy.odd"}) == {"value": stored}


def test_a_patch_is_queued_before_the_next_message_is_looked_at(daemon: Daemon) -> None:
    with daemon.agent() as wire:
        numbers = [wire.request("patch_state", {"patch": {"cwd": {"tactics": {"n": n}}}}) for n in range(200)]
        answers = [wire.receive() for _ in numbers]
        assert [answer["id"] for answer in answers] == numbers
        assert wire.call("read_state", {"path": "cwd.tactics.n"}) == {"value": 199}


def test_a_notification_is_obeyed_and_never_answered(daemon: Daemon) -> None:
    with daemon.agent() as wire:
        wire.send({"jsonrpc": "2.0", "method": "patch_state", "params": {"patch": {"cwd": {"tactics": {"n": 1}}}}})
        wire.send({"jsonrpc": "2.0", "method": "patch_state", "params": {"patch": "wrong"}})
        wire.send({"jsonrpc": "2.0", "method": "no_such_method"})
        wire.send({"jsonrpc": "2.0", "method": "ping", "params": 5})
        wire.send_body(b'{"jsonrpc":"2.0","method":"ping","params":{"n":1e999,"s":"\\ud800"}}')
        wire.call("patch_state", {"patch": {"cwd": {"tactics": {"m": 2}}}})
        assert wire.call("read_state", {"path": "cwd.tactics"}) == {"value": {"m": 2, "n": 1}}
        assert wire.notifications == []


def test_an_id_that_is_in_flight_is_refused_and_its_first_use_answered(daemon: Daemon) -> None:
    with daemon.agent() as wire:
        patch = {"patch": {"cwd": {"tactics": {"n": 1}}}}
        body = json.dumps({"jsonrpc": "2.0", "id": "same", "method": "patch_state", "params": patch}).encode()
        wire.socket.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) * 2)
        answers = [wire.receive(), wire.receive()]
        assert sorted("result" in answer for answer in answers) == [False, True]
        assert [answer["id"] for answer in answers] == ["same", "same"]


def test_a_cancelled_mutation_is_answered_once_and_either_way(daemon: Daemon) -> None:
    """A cancelled request that was too late is answered with its receipt, and one in time was not committed."""
    with daemon.agent() as wire:
        for n in range(100):
            number = wire.request("patch_state", {"patch": {"cwd": {"tactics": {"n": n}}}})
            wire.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})
            outcome = wire.outcome(number)
            committed = not isinstance(outcome, Refused)
            assert committed or (outcome.category, outcome.error["code"]) == ("cancelled", -32800)
            found = wire.call("read_state", {"path": "cwd.tactics"})["value"]
            assert ((found or {}).get("n") == n) is committed


def test_late_answers_arrive_after_a_half_close(daemon: Daemon) -> None:
    with daemon.agent() as wire:
        numbers = [wire.request("patch_state", {"patch": {"cwd": {"tactics": {"n": n}}}}) for n in range(50)]
        wire.socket.shutdown(socket.SHUT_WR)
        assert [wire.receive()["id"] for _ in numbers] == numbers
        with pytest.raises(ConnectionError):
            wire.receive()


def test_a_repeat_with_its_key_gets_the_first_answer(start: Callable[..., Daemon]) -> None:
    daemon = start()
    first = {"patch": {"cwd": {"tactics": {"n": 1}}}, "idempotency_key": "k1"}
    other = {"patch": {"cwd": {"tactics": {"n": 2}}}, "idempotency_key": "k1"}
    with daemon.agent() as wire:
        assert wire.call("patch_state", first) == {"changed": ["cwd"]}
        wire.call("patch_state", {"patch": {"cwd": {"tactics": {"n": 3}}}})
    daemon.kill()
    daemon.start()
    with daemon.agent() as wire:
        assert wire.call("patch_state", first) == {"changed": ["cwd"]}
        assert wire.call("read_state", {"path": "cwd.tactics.n"}) == {"value": 3}
        with pytest.raises(Refused) as refused:
            wire.call("patch_state", other)
        assert refused.value.category == "idempotency_conflict"


def test_history_survives_a_restart_and_is_counted(daemon: Daemon) -> None:
    """SF-179: reload attaches the current memory of the session, and does not rewind it."""
    with daemon.agent() as wire:
        for n in range(3):
            wire.call("patch_state", {"patch": {"cwd": {"tactics": {"n": n}}}})
    daemon.stop()
    daemon.start()
    with daemon.agent() as wire:
        assert wire.call("read_state", {"paths": ["cwd.tactics.n", "cwd[2].tactics.n"]}) == {"value": [2, 0]}
        assert wire.call("read_state", {"path": "cwd[1]", "projection": "patch"}) == {"patch": {"tactics": {"n": 1}}}
        assert wire.call("state_status")["boundaries"] == 4


def test_a_mode_belongs_to_its_connection(daemon: Daemon) -> None:
    with daemon.agent() as wire, daemon.agent() as other:
        wire.call("respond", {"text": "done"})
        assert wire.call("set_mode", {"mode": "passive"}) == {"mode": "passive"}
        assert wire.call("baseline")["state"] == {}
        assert other.call("baseline")["state"] == {"response": "done"}
        wire.call("set_mode", {"mode": "off"})
        for method, params in (("baseline", {}), ("read_state", {"path": "cwd"}), ("respond", {"text": "x"})):
            with pytest.raises(Refused) as refused:
                wire.call(method, params)
            assert refused.value.category == "invalid_request"
        wire.call("set_mode", {"mode": "active"})
        assert wire.call("baseline")["state"] == {"response": "done"}


def test_a_fork_begins_where_its_parent_is(daemon: Daemon) -> None:
    with daemon.agent("parent") as wire:
        wire.call("patch_state", {"patch": {"session": {"tactics": {"n": 1}}}})
        assert wire.call("fork_session", {"parent": "parent", "child": "child"}) == {"changed": ["session"]}
    with daemon.agent("child") as wire:
        assert wire.call("read_state", {"path": "session.tactics.n"}) == {"value": 1}
        assert wire.call("state_status")["boundaries"] == 1


def test_a_revision_guards_a_patch(daemon: Daemon) -> None:
    with daemon.agent() as wire, daemon.agent("s2") as other:
        revision = wire.call("state_status")["revision"]
        other.call("patch_state", {"patch": {"cwd": {"tactics": {"n": 1}}}})
        with pytest.raises(Refused) as refused:
            wire.call("patch_state", {"patch": {"cwd": {"tactics": {"n": 2}}}, "if_revision": revision})
        assert refused.value.category == "stale_basis"
        again = wire.call("state_status")["revision"]
        assert wire.call("patch_state", {"patch": {"cwd": {"tactics": {"n": 2}}}, "if_revision": again})


def test_an_answer_over_the_message_limit_is_refused_and_a_part_is_served(start: Callable[..., Daemon]) -> None:
    daemon = start(max_message_bytes=1_500_000)
    with daemon.agent() as wire:
        wire.call("patch_state", {"patch": {"cwd": {"lazy": {"a": BIG}}}})
        wire.call("patch_state", {"patch": {"cwd": {"lazy": {"b": BIG}}}})
        with pytest.raises(Refused) as refused:
            wire.call("read_state", {"path": "cwd.lazy"})
        assert (refused.value.category, refused.value.data["limit"]) == ("too_large", 1_500_000)
        assert wire.call("read_state", {"path": "cwd.lazy.a"}) == {"value": BIG}


def test_a_large_value_that_changed_is_served_as_it_is(daemon: Daemon) -> None:
    """Its bytes are kept for the next read, and no longer than it is the value."""
    with daemon.agent() as wire:
        texts = [mark * 200_000 for mark in "abab"]
        for text in texts:
            wire.call("patch_state", {"patch": {"cwd": {"lazy": {"big": {"text": text}}}}})
            for path in ("cwd.lazy.big", "cwd.lazy.big", "effective.lazy.big"):
                assert wire.call("read_state", {"path": path}) == {"value": {"text": text}}
        assert wire.call("read_state", {"paths": ["cwd[1].lazy.big", "cwd.lazy.big"]}) == {
            "value": [{"text": texts[-2]}, {"text": texts[-1]}]
        }


def test_a_client_that_stays_stuck_is_dropped(start: Callable[..., Daemon]) -> None:
    daemon = start(client_stall_s=0.5)
    with daemon.agent() as wire:
        wire.call("patch_state", {"patch": {"cwd": {"lazy": {"a": BIG}}}})
        wire.socket.settimeout(1.0)
        with contextlib.suppress(TimeoutError, BrokenPipeError, ConnectionResetError):
            for _ in range(1_000):
                wire.request("read_state", {"path": "cwd.lazy"})
        with daemon.agent("good") as good:
            while len(good.call("sessions")["connections"]) > 1:
                pass


def test_too_many_connections_are_refused_and_the_first_are_served(start: Callable[..., Daemon]) -> None:
    daemon = start(connections_max=2)
    with daemon.agent() as first, daemon.agent("b") as second, daemon.connect() as third:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            third.request("ping")
        with pytest.raises(OSError):  # noqa: PT011 - closed or reset, as the kernel saw it
            third.receive()
        assert first.call("ping") == second.call("ping") == {"ok": True}


def test_a_full_queue_is_busy_and_nothing_is_lost(start: Callable[..., Daemon]) -> None:
    daemon = start(queue_length_max=1)
    with daemon.agent() as wire:
        numbers = [wire.request("patch_state", {"patch": {"cwd": {"tactics": {f"n{n}": n}}}}) for n in range(60)]
        outcomes = [wire.outcome(number) for number in numbers]
        refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
        committed = [f"n{n}" for n, outcome in enumerate(outcomes) if not isinstance(outcome, Refused)]
        assert {(outcome.category, outcome.data["retryable"]) for outcome in refused} == {("busy", True)}
        assert sorted(wire.call("read_state", {"path": "cwd.tactics"})["value"]) == sorted(committed)


def test_sessions_tells_who_is_there(daemon: Daemon) -> None:
    with daemon.agent("one"), daemon.agent("two") as wire, daemon.connect():
        found = [(c["kind"], c["session"]) for c in wire.call("sessions")["connections"]]
    assert found[:2] == [("agent", "one"), ("agent", "two")]


def test_a_new_session_finds_what_earlier_ones_left(daemon: Daemon) -> None:
    for session in ("first", "second"):
        with daemon.agent(session) as wire:
            wire.call("patch_state", {"patch": {"session": {"tactics": {"n": 1}}}})
    with daemon.connect() as wire:
        known = wire.attach(daemon.cwd, "third")["sessions"]
    assert [session["id"] for session in known] == ["second", "first"]


def test_an_export_is_what_an_import_takes(daemon: Daemon, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with daemon.agent() as wire:
        wire.call("patch_state", {"patch": {"cwd": {"lazy": {"a": [1, {"b": "c"}]}}, "session": {"tactics": {"t": 1}}}})
        states = wire.call("export_state")["scopes"]
    with daemon.connect() as wire:
        wire.attach(elsewhere, "s9", wanted=["cwd", "session"])
        moved = {name: states[name] for name in ("cwd", "session")}
        assert wire.call("import_state", {"scopes": moved}) == {"changed": ["cwd", "session"]}
        assert wire.call("export_state") == {"scopes": moved}
