"""The vectors of `tests/conformance/state/`, run against the pure engine without a store or a socket.

The format is that of state.md section 15. A vector that damages files needs a store, and is run over the wire:
`tests/e2e/test_state_vectors.py`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from state.vectors import as_expected, expand, load, members_of, needs_a_store
from state.vectors import receipt as receipt_of
from stateward_engine.errors import EngineError
from stateward_engine.json_value import canonical
from stateward_engine.state.baseline import baseline
from stateward_engine.state.commands import Configure, ImportState, PatchState, parse_answer
from stateward_engine.state.decide import decide
from stateward_engine.state.draft import Draft
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.read import parse_request, read
from stateward_engine.state.transition import Repeat, from_entry
from stateward_engine.state.view import SCOPES, Selection, View
from stateward_engine.state.whole_state import parse_scopes
from stateward_protocol.messages import ConfigureParams

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _pytest.mark.structures import ParameterSet

    from stateward_engine.state.commands import Command


class Runner:
    """One client with all three owners, its state, and the journal that its accepted commands made."""

    def __init__(self, vector: Mapping[str, Any]) -> None:
        self.view = View()
        self.journal: list[str] = []
        self.mode = "active"
        if vector.get("initial"):
            self.submit(ImportState(selection(), parse_scopes(vector["initial"], SCOPES)))
        if "config" in vector and "historyLimit" in vector["config"]:
            self.submit(setting(vector["config"]["historyLimit"]))

    def run(self, step: Mapping[str, Any]) -> Any:
        """Return the answer of one step; a refusal becomes `{"error": category}`."""
        try:
            return getattr(self, step["op"])(members_of(step), selection(step.get("wanted", SCOPES)))
        except EngineError as error:
            return {"error": error.category}
        except msgspec.ValidationError:
            return {"error": "invalid_request"}

    def read(self, members: Mapping[str, Any], who: Selection) -> Any:
        return read(self.view, who, parse_request(members))

    def patch(self, members: Mapping[str, Any], who: Selection) -> Any:
        return receipt_of(self.submit(PatchState(who, parse_patch(members["patch"], who.wanted))))

    foreign_patch = patch

    def baseline(self, _members: Mapping[str, Any], who: Selection) -> Any:
        return baseline(self.view, who, answers=self.mode == "active")

    def respond(self, members: Mapping[str, Any], who: Selection) -> Any:
        return {"ok": True, **self.submit(parse_answer(who, members["text"], active=self.mode == "active"))}

    def set_mode(self, members: Mapping[str, Any], _who: Selection) -> Any:
        self.mode = members["mode"]
        return {"ok": True}

    def set_history_limit(self, members: Mapping[str, Any], _who: Selection) -> Any:
        self.submit(setting(members["value"]))
        return {"ok": True}

    def reload(self, _members: Mapping[str, Any], _who: Selection) -> Any:
        replayed = Draft(View())
        for sequence, text in enumerate(self.journal, 1):
            entry = json.loads(text)
            replayed.apply(from_entry(entry), at=entry["at"], sequence=sequence)
        view = replayed.finish()
        assert view == self.view
        self.view = view
        return {"ok": True}

    def submit(self, command: Command) -> dict[str, Any]:
        """Do what the writer does, and return the receipt."""
        draft = Draft(self.view)
        decision = decide(draft, command)
        if isinstance(decision, Repeat):
            return dict(decision.receipt)
        at = f"2026-01-01T00:00:{len(self.journal):02}Z"
        self.journal.append(canonical(decision.to_entry(at)))
        draft.apply(decision, at=at, sequence=len(self.journal))
        self.view = draft.finish()
        return dict(decision.receipt)


def selection(wanted: tuple[Any, ...] | list[Any] = SCOPES) -> Selection:
    return Selection("/home/ada/project", "morning", tuple(scope for scope in SCOPES if scope in wanted))


def setting(value: Any) -> Configure:
    """Return the command that the wire makes of a history limit; its message knows the bounds."""
    return Configure(msgspec.convert({"history_limit": value}, ConfigureParams).history_limit)


def vectors() -> list[ParameterSet]:
    found = (vector for file in load().values() for vector in file if not needs_a_store(vector))
    return [pytest.param(vector, id=vector["name"]) for vector in found]


@pytest.mark.parametrize("vector", vectors())
def test_vector(vector: Mapping[str, Any]) -> None:
    """Every step answers what its vector says; reads and refusals leave everything as it was.

    SF-001, SF-003, SF-004, SF-005, SF-006, SF-007, SF-021, SF-028, SF-045, SF-046, SF-059, SF-061, SF-101, SF-102,
    SF-103, SF-105, SF-106, SF-107, SF-108, SF-110, SF-111, SF-112, SF-113, SF-114, SF-115, SF-116, SF-118, SF-120,
    SF-121, SF-122, SF-123, SF-124, SF-125, SF-126, SF-128, SF-129, SF-130, SF-131, SF-132, SF-133, SF-134, SF-135,
    SF-136, SF-137, SF-138, SF-139, SF-140, SF-141, SF-142, SF-143, SF-145, SF-161, SF-162, SF-163, SF-164, SF-165,
    SF-166, SF-167, SF-168, SF-169, SF-171, SF-172, SF-174, SF-177, SF-183, SF-184, SF-185, SF-187.
    History, references, receipts and the baseline: SF-025, SF-033, SF-034, SF-035, SF-041, SF-054, SF-099, SF-144,
    SF-154, SF-155, SF-156, SF-157.
    """
    runner = Runner(expand({key: value for key, value in vector.items() if key != "steps"}))
    for step in map(expand, vector["steps"]):
        before, entries = runner.view, len(runner.journal)
        stored = canonical({str(identity): dict(scope.planes) for identity, scope in before.scopes.items()})

        answer = runner.run(step)

        assert as_expected(step, answer), step
        if step["op"] in ("read", "baseline") or "error" in answer:
            assert runner.view is before
            assert len(runner.journal) == entries
        assert stored == canonical({str(identity): dict(scope.planes) for identity, scope in before.scopes.items()})
