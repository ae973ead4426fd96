"""Ratios of state: what reads and patches cost when almost all that is stored is lazy and none of their business.

Source: state.md sections 4, 8 and 11.
"""

from __future__ import annotations

import json
import statistics
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from bench.measuring import interleaved, p50s, report, timed
from stateward_engine.state.commands import PatchState
from stateward_engine.state.decide import decide
from stateward_engine.state.draft import Draft
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.transition import Transition
from stateward_engine.state.view import SCOPES, Selection, View
from wire import Daemon, Wire

if TYPE_CHECKING:
    from pathlib import Path

WHO: Final = Selection("/home/ada/project", "s1", SCOPES)
MEMBERS: Final = 1_000
LEAF: Final = "x" * 1_000
SIZES: Final = {"1 KB": 1, "1 MB": 1_000, "100 MB": 100_000}


def lazy(kilobytes: int) -> dict[str, Any]:
    """Return lazy state of that size: leaves of 1 KB in objects of at most 1,000 members, under one key."""
    objects = {
        f"o{first}": {f"k{n}": LEAF for n in range(first, min(first + MEMBERS, kilobytes))}
        for first in range(0, kilobytes, MEMBERS)
    }
    return {"notes": objects}


def committed(view: View, patch: dict[str, Any]) -> View:
    """Return the view after a patch, decided and applied as the writer does."""
    draft = Draft(view)
    decision = decide(draft, PatchState(WHO, parse_patch(patch, SCOPES)))
    assert isinstance(decision, Transition)
    draft.apply(decision, at="2026-01-01T00:00:00Z", sequence=view.sequence + 1)
    return draft.finish()


def engine_patches() -> None:
    """One leaf of a large store against the same leaf of a small one, without wire and disk."""
    views = {size: committed(View(), {"cwd": {"lazy": lazy(kilobytes)}}) for size, kilobytes in SIZES.items()}
    counter = iter(range(10**9))

    def change(size: str) -> float:
        patches = [{"cwd": {"lazy": {"notes": {"o0": {"k0": f"{next(counter)}"}}}}} for _ in range(200)]
        return float(statistics.median(timed(partial(committed, views[size], patch)) for patch in patches))

    found = interleaved({size: partial(change, size) for size in SIZES})
    # A patch copies the object that it changes: 1,000 members where there are so many, one in the smallest store.
    report("patch of a leaf in the engine, 100 MB against 1 MB", found["100 MB"], found["1 MB"], "1.5x")
    report("patch of a leaf in the engine, 100 MB against 1 KB", found["100 MB"], found["1 KB"], "1.5x")


def fill(wire: Wire, kilobytes: int) -> None:
    """Put that much lazy state into the store, an object at a time."""
    for name, members in lazy(kilobytes)["notes"].items():
        wire.call("patch_state", {"patch": {"cwd": {"lazy": {"notes": {name: members}}}}})
    wire.call("patch_state", {"patch": {"cwd": {"tactics": {"next": "go on"}}}})


def reads(daemons: dict[str, Daemon]) -> None:
    """Small reads and the baseline while lazy state grows."""
    wires = {}
    for size, daemon in daemons.items():
        wires[size] = daemon.agent()
        fill(wires[size], SIZES[size])
    baselines = {size: len(json.dumps(wire.call("baseline"))) for size, wire in wires.items()}
    for path in ("cwd.tactics.next", "effective.lazy.notes.o0.k0"):
        found = p50s({size: partial(wire.call, "read_state", {"path": path}) for size, wire in wires.items()})
        for size in ("1 MB", "100 MB"):
            report(f"read of {path}, {size} against 1 KB", found[size], found["1 KB"], "1.10x")
    print(f"{'baseline, bytes by size of lazy':52} {baselines}  bar: constant", flush=True)
    for wire in wires.values():
        wire.close()


def unread(wire: Wire, method: str, params: dict[str, Any]) -> None:
    """Call, and take the answer as bytes: decoding a megabyte would hide what it took to get it."""
    wire.request(method, params)
    data = wire.socket.recv(1 << 20)
    head, _, _ = data.partition(b"\r\n\r\n")
    left = len(head) + 4 + int(head.split(b":")[1]) - len(data)
    while left > 0:
        left -= len(wire.socket.recv(1 << 20))


def served_again(daemon: Daemon, echo_path: Path) -> None:
    """A value of 1 MB that was read before, against 1 MB of bytes that are ready."""
    with daemon.agent() as wire, Wire(echo_path) as floor:
        fill(wire, MEMBERS)
        found = p50s(
            {
                "read": partial(unread, wire, "read_state", {"path": "cwd.lazy.notes.o0"}),
                "ready": partial(unread, floor, "ready", {}),
            }
        )
    report("a value of 1 MB served again, against ready bytes", found["read"], found["ready"], "3x")


def run(folder: Path, echo_path: Path) -> None:
    """Run all measures of state."""
    engine_patches()
    daemons = {}
    for number, size in enumerate(SIZES):
        place = folder / f"s{number}"
        place.mkdir(mode=0o700)
        daemons[size] = Daemon(place).start()
    reads(daemons)
    served_again(daemons["1 KB"], echo_path)
    for daemon in daemons.values():
        daemon.stop()
