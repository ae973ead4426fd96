"""Laws of state in a real store: restarts lose nothing and reads leave no trace."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.chronicle import READERS, Chronicle
from state.drawn import WHO, commands, search
from stateward_engine.errors import RequestError
from stateward_engine.state.baseline import baseline
from stateward_engine.state.commands import PatchState
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.read import PROJECTIONS, ReadRequest, read
from stateward_engine.state.view import SCOPES
from stateward_engine.store.store import open_store

if TYPE_CHECKING:
    from stateward_engine.state.commands import Command
    from stateward_engine.state.view import Selection, View
    from stateward_engine.store.store import Store

pytestmark = pytest.mark.property

# Right and wrong, current and past, of every owner.
PATHS = [
    f"{root}{rest}"
    for root in ("effective", "global", "cwd[0]", "session[1]", "effective[2]", "lazy", "cwd[9]")
    for rest in ("", ".lazy", ".tactics.a", "[0]", ".lazy.a[0:1]", ".nosuch")
]


def evidence(folder: Path) -> list[tuple[str, int, int, bytes]]:
    """Return name, size, time and bytes of every file of a store."""
    return [
        (str(file), file.stat().st_size, file.stat().st_mtime_ns, file.read_bytes())
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    ]


def all_that_is_seen(view: View) -> tuple[Any, ...]:
    """Return a view as text: the scopes that it has, and what readers find in those that were never changed."""
    return view, repr(view), repr([view.planes(who) for who in READERS]), baseline(view, WHO, answers=True)


def read_everything(view: View, who: Selection) -> None:
    """Ask for all that can be asked for, and for much that cannot."""
    for projection in PROJECTIONS:
        for path in PATHS:
            with contextlib.suppress(RequestError):
                read(view, who, ReadRequest((path,), projection=projection))
        with contextlib.suppress(RequestError):
            read(view, who, ReadRequest(tuple(PATHS), batch=True, projection=projection))
    for answers in (True, False):
        baseline(view, who, answers=answers)


def submit(store: Store, command: Command) -> None:
    with contextlib.suppress(RequestError):
        store.commit_now(command)


class TestRestartLaws:
    """state.md, section 12: "Reload, resume and branch switching attach the current memory of the same session".

    And of section 7.1: "every readable offset stays exact" (SF-008, SF-127, SF-178, SF-179, SF-181).
    """

    @search(12)
    @given(st.data())
    def test_every_offset_is_exact_after_any_restarts(self, data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as closing:
            place, chronicle = Path(folder) / "store", Chronicle()
            store = closing.enter_context(open_store(place, now=lambda: "2026-01-01T00:00:00Z"))
            for _ in range(data.draw(st.integers(1, 6))):
                command = data.draw(commands(chronicle.views[-1]))
                chronicle.follow(command)
                submit(store, command)
                if data.draw(st.booleans()):
                    store.close()
                    store = closing.enter_context(open_store(place, now=lambda: "2026-01-01T00:00:00Z"))
            chronicle.limits.add(store.view.history_limit)

            assert store.view.sequence == chronicle.views[-1].sequence
            for who in READERS:
                chronicle.check(store.view, who)


class TestReadLaws:
    """state.md, section 4: "A read never changes bytes, history, revisions, timestamps, counters or the baseline".

    SF-002, SF-006, SF-043, SF-157, SF-180, SF-197.
    """

    @search(8)
    @given(st.data())
    def test_reads_change_no_byte(self, data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store") as store:
            for _ in range(3):
                submit(store, data.draw(commands(store.view)))
            before, files = all_that_is_seen(store.view), evidence(Path(folder))

            for who in READERS:
                read_everything(store.view, who)

            assert evidence(Path(folder)) == files
            assert all_that_is_seen(store.view) == before

    def test_refused_and_repeated_patches_change_no_byte(self, tmp_path: Path) -> None:
        """SF-167, SF-185, SF-187, SF-196: scalars, objects, elements, several scopes; nothing is published by half."""
        with open_store(tmp_path / "store") as store:
            given_: Any = {"cwd": {"lazy": {"m": [1, [2], {"a": 3}]}}, "session": {"tactics": {"s": 1}}}
            store.commit_now(PatchState(WHO, parse_patch(given_, SCOPES)))
            files, view = evidence(tmp_path), store.view
            good: Any = {"session": {"tactics": {"s": 2}}}
            for bad in ({"[3]": 1}, {"[1]": {"[1]": 1}}, {"[2]": {"a": {"[0]": 1}}}, {"[0]": {"x": None}}):
                with pytest.raises(RequestError):
                    store.commit_now(PatchState(WHO, parse_patch({**good, "cwd": {"lazy": {"m": bad}}}, SCOPES)))
            with pytest.raises(RequestError):
                store.commit_now(PatchState(WHO, parse_patch(good, SCOPES), if_revision="G0/C0/S0"))
            store.commit_now(PatchState(WHO, parse_patch(given_, SCOPES)))

            assert evidence(tmp_path) == files
            assert store.view == view

    def test_a_store_with_lazy_state_has_the_files_of_one_without(self, tmp_path: Path) -> None:
        """SF-182: there is no separate index of lazy state."""
        names = {}
        for plane in ("tactics", "lazy"):
            with open_store(tmp_path / plane) as store:
                store.commit_now(PatchState(WHO, parse_patch({"cwd": {plane: {"a": [1]}}}, SCOPES)))
            names[plane] = sorted(str(file.relative_to(tmp_path / plane)) for file in (tmp_path / plane).rglob("*"))

        assert names["tactics"] == names["lazy"]
