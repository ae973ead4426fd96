"""The vectors of `tests/conformance/state/`, run against the pure engine without a store or a socket.

The format is that of state.md section 15. A vector that needs a later step stands in `LATER`, with the reason; it must
fail until that step is made, so that the list cannot outlive its reasons.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from stateward_engine.errors import EngineError
from stateward_engine.json_value import canonical, equal
from stateward_engine.state.baseline import baseline
from stateward_engine.state.commands import Configure, ImportState, PatchState, parse_answer, parse_history_limit
from stateward_engine.state.decide import decide
from stateward_engine.state.draft import Draft
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.read import parse_request, read
from stateward_engine.state.transition import Repeat, from_entry
from stateward_engine.state.view import SCOPES, Selection, View
from stateward_engine.state.whole_state import parse_scopes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from _pytest.mark.structures import ParameterSet

    from stateward_engine.state.commands import Command

VECTORS: Final = Path(__file__).parent.parent / "conformance" / "state"

STORE: Final = "damaged files need the store"

LATER: Final[Mapping[str, Sequence[str]]] = {
    STORE: [
        "store-garbage",
        "store-truncated",
        "store-missing-though-known",
        "store-lazy-not-object",
        "store-unknown-version",
    ],
}


class Runner:
    """One client with all three owners, its state, and the journal that its accepted commands made."""

    def __init__(self, vector: Mapping[str, Any]) -> None:
        self.view = View()
        self.journal: list[str] = []
        self.mode = "active"
        if vector.get("initial"):
            self.submit(ImportState(selection(), parse_scopes(vector["initial"], SCOPES)))
        if "config" in vector and "historyLimit" in vector["config"]:
            self.submit(Configure(parse_history_limit(vector["config"]["historyLimit"])))

    def run(self, step: Mapping[str, Any]) -> Any:
        """Return the answer of one step; a refusal becomes `{"error": category}`."""
        members = {name: value for name, value in step.items() if name not in ("op", "expect", "wanted")}
        operation = getattr(self, step["op"], None)
        if operation is None:
            raise NotImplementedError(step["op"])
        try:
            return operation(members, selection(step.get("wanted", SCOPES)))
        except EngineError as error:
            return {"error": error.category}

    def read(self, members: Mapping[str, Any], who: Selection) -> Any:
        return read(self.view, who, parse_request(members))

    def patch(self, members: Mapping[str, Any], who: Selection) -> Any:
        receipt = self.submit(PatchState(who, parse_patch(members["patch"], who.wanted)))
        cascaded = receipt.get("state_updates", {}).get("cascaded", [])
        return {"ok": True, "cascaded": cascaded, **receipt}

    foreign_patch = patch

    def baseline(self, _members: Mapping[str, Any], who: Selection) -> Any:
        return baseline(self.view, who, answers=self.mode == "active")

    def respond(self, members: Mapping[str, Any], who: Selection) -> Any:
        return {"ok": True, **self.submit(parse_answer(who, members["text"], active=self.mode == "active"))}

    def set_mode(self, members: Mapping[str, Any], _who: Selection) -> Any:
        self.mode = members["mode"]
        return {"ok": True}

    def set_history_limit(self, members: Mapping[str, Any], _who: Selection) -> Any:
        self.submit(Configure(parse_history_limit(members["value"])))
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


def expand(value: Any) -> Any:
    """Return `value` with its generated parts written out."""
    if isinstance(value, list):
        return [expand(element) for element in value]
    if not isinstance(value, dict):
        return value
    if "@gen" in value:
        return GENERATORS[value["@gen"]](value)
    return {key: expand(member) for key, member in value.items()}


def nest(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = {"d": leaf}
    return leaf


GENERATORS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "array": lambda part: [part["item"]] * part["n"],
    "string": lambda part: part["ch"] * part["n"],
    "keys": lambda part: {f"{part['prefix']}{at:03}": part["value"] for at in range(part["n"])},
    "number": lambda part: float(part["value"]),
    "nest": lambda part: nest(part["depth"], part["leaf"]),
    "join": lambda part: "".join(map(expand, part["parts"])),
}


def matches(expected: Any, got: Any) -> bool:
    """Tell whether an answer, or a part of one, is what the vector says."""
    if expected == "@any-string@":
        return isinstance(got, str) and got != ""
    if isinstance(expected, dict) and isinstance(got, dict):
        wanted = {key for key, value in expected.items() if value != "@absent@"}
        return wanted == got.keys() and all(matches(expected[key], got[key]) for key in wanted)
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(map(matches, expected, got))
    return equal(expected, got)


def later(reason: str) -> pytest.MarkDecorator:
    """Return the mark of a vector that must fail today: it fails the test run once it passes."""
    return pytest.mark.xfail(strict=True, reason=reason, raises=(AssertionError, NotImplementedError))


def vectors() -> list[ParameterSet]:
    reasons = {name: reason for reason, names in LATER.items() for name in names}
    found = []
    for file in sorted(VECTORS.glob("*.json")):
        for vector in json.loads(file.read_text(encoding="utf-8")):
            marks = [later(reasons.pop(vector["name"]))] if vector["name"] in reasons else []
            found.append(pytest.param(vector, id=vector["name"], marks=marks))
    assert not reasons, "a later vector that does not exist"
    return found


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

        expected = step["expect"]
        listed = answer if step["op"] == "read" else {key: answer[key] for key in expected if key in answer}
        assert matches(expected, listed), step
        if step["op"] in ("read", "baseline") or "error" in answer:
            assert runner.view is before
            assert len(runner.journal) == entries
        assert stored == canonical({str(identity): dict(scope.planes) for identity, scope in before.scopes.items()})
