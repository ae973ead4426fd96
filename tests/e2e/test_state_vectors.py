"""The vectors of `tests/conformance/state/` over the wire, in real directories of real daemons.

Every vector that leaves the global scope and the setting of the store alone runs in a directory of its own, so that
one daemon serves them all. Of the others, a fixed sample has a daemon each, and so has each one that damages a file,
which is run here alone.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from state.vectors import as_expected, expand, load, members_of, needs_a_store, receipt
from stateward_engine.state.view import SCOPES
from wire import Daemon, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from _pytest.mark.structures import ParameterSet

    from state.vectors import Vector
    from wire import Wire

# Of each file that has such, what shows most of it.
SAMPLE: Final = {
    "overlay-recursive",
    "hint-scan-order-and-limit",
    "proj-effective-masked",
    "history-limit-three",
    "history-limit-bounds",
    "history-lower-then-raise",
    "history-reload-keeps-window",
    "own-multi-scope-order",
    "receipt-two-owners-same-leaf",
    "base-response-fallback",
}
METHODS: Final = {
    "read": "read_state",
    "baseline": "baseline",
    "status": "state_status",
    "patch": "patch_state",
    "respond": "respond",
}
# No step of a vector: what is compared around those that must change nothing.
STATUS: Final = {"op": "status"}
ALONE: Final = ("set_history_limit", "reload", "tamper")
# What is written in place of the checkpoint of a scope; of a missing one nothing.
DAMAGES: Final[Mapping[str, Callable[[bytes], bytes | None]]] = {
    "garbage": lambda _: b"{",
    "truncate": lambda data: data[: len(data) // 2],
    "missing": lambda _: None,
    "array_lazy": lambda data: changed(data, lambda document: document["base"].update(lazy=[1])),
    "unknown_version": lambda data: changed(data, lambda document: document.update(format=999)),
}


def changed(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    document = json.loads(data)
    change(document)
    return json.dumps(document).encode()


def needs_a_daemon(vector: Vector) -> bool:
    steps = vector["steps"]
    return (
        bool(vector.get("config"))
        or any(step["op"] in ALONE for step in steps)
        or "global" in vector.get("initial", {})
        or any("global" in step.get("patch", {}) and "error" not in step["expect"] for step in steps)
    )


def vectors(*, alone: bool) -> list[ParameterSet]:
    found = [vector for file in load().values() for vector in file if needs_a_daemon(vector) == alone]
    if alone:
        assert {vector["name"] for vector in found} >= SAMPLE
        found = [vector for vector in found if vector["name"] in SAMPLE or needs_a_store(vector)]
    return [pytest.param(vector, id=vector["name"]) for vector in found]


class Runner:
    """One directory and session, with a connection for each list of wanted owners."""

    def __init__(self, daemon: Daemon, closing: contextlib.ExitStack) -> None:
        self.daemon = daemon
        self.closing = closing
        self.wires: dict[tuple[str, ...], Wire] = {}
        self.mode = "active"

    def run(self, step: Mapping[str, Any]) -> Any:
        """Return the answer of one step; a refusal becomes `{"error": category}`."""
        try:
            return self.answer(step["op"], members_of(step), step.get("wanted"))
        except Refused as refused:
            return {"error": refused.category}

    def answer(self, operation: str, members: Mapping[str, Any], wanted: list[str] | None) -> Any:
        match operation:
            case "read" | "baseline" | "status":
                return self.wire(wanted).call(METHODS[operation], members)
            case "patch" | "respond":
                return receipt(self.wire(wanted).call(METHODS[operation], members))
            case "foreign_patch":
                with self.agent(wanted) as other:
                    return receipt(other.call("patch_state", members))
            case "set_history_limit":
                self.wire().call("configure", {"history_limit": members["value"]})
            case "set_mode":
                self.mode = members["mode"]
                for wire in [self.wire(), *self.wires.values()]:
                    wire.call("set_mode", members)
            case "tamper":
                self.stop()
                damage(self.daemon, members["scope"], members["damage"])
                self.daemon.start()
            case "reload":
                self.stop()
                self.daemon.start()
                self.wire()
        return {"ok": True}

    def stop(self) -> None:
        self.wires.clear()
        self.closing.close()
        self.daemon.stop()

    def wire(self, wanted: list[str] | None = None) -> Wire:
        key = tuple(wanted or ())
        if key not in self.wires:
            self.wires[key] = self.closing.enter_context(self.agent(wanted))
        return self.wires[key]

    def agent(self, wanted: list[str] | None) -> Wire:
        return self.daemon.agent("s1", mode=self.mode, wanted=wanted or list(SCOPES))


def damage(daemon: Daemon, kind: str, how: str) -> None:
    """Damage the file of the one stream of a kind, in the store of a daemon that does not run."""
    assert daemon.run("compact").returncode == 0
    streams = json.loads(daemon.run("check-store", "--json").stdout)["streams"]
    (name,) = (stream["file"] for stream in streams if stream["kind"] == kind)
    file = daemon.store / name
    data = DAMAGES[how](file.read_bytes())
    file.unlink() if data is None else file.write_bytes(data)


@contextlib.contextmanager
def runner(daemon: Daemon, vector: Vector) -> Iterator[Runner]:
    """Return the runner of a vector, with the state that it begins with."""
    with contextlib.ExitStack() as closing:
        found = Runner(daemon, closing)
        config = vector.get("config", {})
        if "historyLimit" in config:
            found.answer("set_history_limit", {"value": config["historyLimit"]}, None)
        if initial := expand(vector.get("initial", {})):
            found.wire().call("import_state", {"scopes": initial})
        yield found


def follow(daemon: Daemon, vector: Vector) -> None:
    with runner(daemon, vector) as client:
        for step in map(expand, vector["steps"]):
            before = client.run(STATUS)

            answer = client.run(step)

            assert as_expected(step, answer), (step, answer)
            if step["op"] in ("read", "baseline") or "error" in answer:
                assert client.run(STATUS) == before


@pytest.mark.parametrize("vector", vectors(alone=False))
def test_a_vector_over_the_wire(daemon: Daemon, vector: Vector) -> None:
    """SF-001, SF-010, SF-017, SF-018, SF-121, SF-183, SF-187: what the engine keeps, a client sees."""
    follow(daemon, vector)


@pytest.mark.parametrize("vector", vectors(alone=True))
def test_a_vector_with_a_daemon_of_its_own(start: Callable[[], Daemon], vector: Vector) -> None:
    """SF-188, SF-192: of damaged files, too: a stream that cannot be trusted fails alone."""
    follow(start(), vector)


def test_every_file_is_in_it() -> None:
    run = {parameter.id for alone in (False, True) for parameter in vectors(alone=alone)}

    assert [name for name, file in load().items() if not any(vector["name"] in run for vector in file)] == []
