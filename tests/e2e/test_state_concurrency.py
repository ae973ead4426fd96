"""Several writers and readers of one state: every answer is of one moment, and every accepted change stays."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wire import Daemon, Wire

TOGETHER = ["cwd.tactics.n", "session.lazy.n", "effective.tactics.n", "effective.lazy.n", "cwd[0].tactics.n"]


def bump(wire: Wire, n: int) -> Any:
    return wire.call("patch_state", {"patch": {"cwd": {"tactics": {"n": n}}, "session": {"lazy": {"n": n}}}})


def test_a_batch_sees_one_moment_while_others_write(daemon: Daemon) -> None:
    """SF-109, SF-170, SF-176: two scopes and planes change in one step, and no read meets them half way."""
    with daemon.agent() as writer, daemon.agent() as reader:
        bump(writer, 0)
        done = threading.Event()

        def write() -> None:
            for n in range(1, 120):
                bump(writer, n)
            done.set()

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        seen = set()
        while not done.is_set():
            values = reader.call("read_state", {"paths": TOGETHER})["value"]
            assert len(set(values)) == 1, values
            seen.add(values[0])
        thread.join()
        assert len(seen) > 1


def test_hot_and_lazy_changes_are_one_step_of_one_lineage(daemon: Daemon) -> None:
    """SF-008, SF-020, SF-175: a call that touches both planes is one boundary, and one revision of each scope."""
    with daemon.agent() as wire:
        bump(wire, 1)
        before = wire.call("state_status")
        assert bump(wire, 2) == {"changed": ["cwd", "session"]}
        after = wire.call("state_status")

        assert after["boundaries"] == before["boundaries"] + 1
        assert wire.call("read_state", {"paths": ["cwd[1].tactics.n", "session[1].lazy.n"]}) == {"value": [1, 1]}
        assert wire.call("read_state", {"paths": ["cwd", "session"], "projection": "patch"}) == {
            "patch": [{"tactics": {"n": 2}}, {"lazy": {"n": 2}}]
        }


def test_fields_that_a_writer_does_not_mention_survive_it(daemon: Daemon) -> None:
    """SF-094: the patch is applied to what is current; on the same field the later call wins, and nobody retries."""
    with daemon.agent("one") as one, daemon.agent("two") as two:
        one.call("patch_state", {"patch": {"cwd": {"intents": {"ship": {"a": 1, "b": 1}}}}})
        assert two.call("read_state", {"path": "cwd.intents.ship"}) == {"value": {"a": 1, "b": 1}}
        one.call("patch_state", {"patch": {"cwd": {"intents": {"ship": {"a": 2}}}}})
        two.call("patch_state", {"patch": {"cwd": {"intents": {"ship": {"b": 3}}}}})
        assert one.call("read_state", {"path": "cwd.intents.ship"}) == {"value": {"a": 2, "b": 3}}

        one.call("patch_state", {"patch": {"cwd": {"intents": {"ship": None}}}})
        two.call("patch_state", {"patch": {"cwd": {"intents": {"ship": {"b": 4}}}}})
        assert one.call("read_state", {"path": "cwd.intents"}) == {"value": {"ship": {"b": 4}}}


def test_two_connections_of_one_session_write_without_losing_each_other(daemon: Daemon) -> None:
    """SF-094: a session used twice is shared like any other scope."""
    with daemon.agent("s1") as one, daemon.agent("s1") as two:
        numbers = [
            (wire, wire.request("patch_state", {"patch": {"session": {"tactics": {f"{name}{n}": n}}}}))
            for n in range(50)
            for name, wire in (("a", one), ("b", two))
        ]
        for wire, number in numbers:
            assert wire.answer(number) == {"changed": ["session"]}
        assert len(one.call("read_state", {"path": "session.tactics"})["value"]) == 100
