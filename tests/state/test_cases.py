"""The pages of `cases/`: each case is a state, one call, and its answer or its refusal.

Blocks `global`, `cwd` and `session` are the planes that are there, `wanted` the owners of the client.
Calls in `earlier` are made before, each by the client or by another `as` a session of its name.
The call is a `path` to parse, a `read`, a `patch`, an `import`, or the `mode` of a `baseline`.
An `error` lists facts that the refusal must have.
Of a change, `changed` and `cascaded` are what the receipt says, and `updates` is its `state_updates`, null when absent;
`after` and `net` are what became of the cwd and what was recorded of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from literate import load_cases
from stateward_engine.errors import EngineError, MalformedPath
from stateward_engine.json_value import canonical, in_order
from stateward_engine.state.baseline import baseline
from stateward_engine.state.commands import Command, Configure, ImportState, PatchState, Respond
from stateward_engine.state.decide import decide
from stateward_engine.state.draft import Draft
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.paths import parse, render
from stateward_engine.state.read import parse_request, read
from stateward_engine.state.transition import Repeat
from stateward_engine.state.view import SCOPES, Identity, Scope, Selection, View
from stateward_engine.state.whole_state import parse_scopes

CASES = load_cases(Path(__file__).parent / "cases")
CWD = Identity("cwd", "/home/ada/project")


@pytest.mark.parametrize("case", CASES)
def test_case(case: dict[str, Any]) -> None:
    who = Selection(CWD.cwd, "morning", tuple(case.get("wanted", SCOPES)))
    view = view_of(case, who)
    before = repr((view, case))

    if "malformed" in case:
        check_malformed(case)
    elif "error" in case:
        check_refusal(case, view, who)
    elif "baseline" in case:
        assert repr(baseline(view, who, answers=case["mode"] == "active")) == repr(case["baseline"])
    elif "path" in case:
        assert render(parse(case["path"].rstrip("\n"))) == case["canonical"].rstrip("\n")
    elif "read" in case:
        # Text against text, so that the order of keys counts.
        assert repr(read(view, who, parse_request(case["read"]))) == repr(case["answer"])
    else:
        check_change(case, view, who)

    assert repr((view, case)) == before, "the captured view or an argument was changed"


def view_of(case: dict[str, Any], who: Selection) -> View:
    """Return the view with the planes of a case, after its earlier calls."""
    given: dict[Any, Any] = {scope: in_order(case[scope]) for scope in SCOPES if scope in case}
    draft = Draft(View(scopes={who.identity(scope): Scope(planes, 1) for scope, planes in given.items()}))
    for sequence, earlier in enumerate(case.get("earlier", []), 1):
        caller = Selection(CWD.cwd, earlier.get("as", "morning"), SCOPES)
        decision = decide(draft, command_of(earlier, caller))
        assert not isinstance(decision, Repeat)
        draft.apply(decision, at="2026-01-01T00:00:00Z", sequence=sequence)
    return draft.finish()


def check_malformed(case: dict[str, Any]) -> None:
    with pytest.raises(MalformedPath) as caught:
        parse(case["path"].rstrip("\n"))

    assert caught.value.at == case["malformed"]["at"]
    assert case["malformed"]["expected"] in caught.value.expected
    assert caught.value.facts["at"] == caught.value.at


def check_refusal(case: dict[str, Any], view: View, who: Selection) -> None:
    with pytest.raises(EngineError) as caught:
        call(case, view, who)

    told = {"category": caught.value.category, "message": str(caught.value), **caught.value.facts}
    assert case["error"] == {name: told.get(name) for name in case["error"]}
    canonical(told).encode()


def call(case: dict[str, Any], view: View, who: Selection) -> object:
    if "read" in case:
        return read(view, who, parse_request(case["read"]))
    return decide(view, command_of(case, who))


def check_change(case: dict[str, Any], view: View, who: Selection) -> None:
    decision = decide(view, command_of(case, who))
    draft = Draft(view)
    if not isinstance(decision, Repeat):
        draft.apply(decision, at="2026-01-01T00:00:00Z", sequence=view.sequence + 1)
        assert decision.patches.get(CWD) == case.get("net")

    updates: Any = decision.receipt.get("state_updates")
    assert decision.receipt["changed"] == case["changed"]
    assert decision.receipt.keys() <= {"changed", "state_updates"}
    if "updates" in case:
        assert updates == case["updates"]
    assert (updates or {}).get("cascaded") == case.get("cascaded", (case.get("updates") or {}).get("cascaded"))
    assert isinstance(decision, Repeat) == (case["changed"] == [])
    assert canonical(dict(draft.finish().scope(CWD).planes)) == canonical(case["after"])


def command_of(case: dict[str, Any], who: Selection) -> Command:
    if "import" in case:
        return ImportState(who, parse_scopes(case["import"], who.wanted))
    if "respond" in case:
        return Respond(who, case["respond"])
    if "history_limit" in case:
        return Configure(case["history_limit"])
    return PatchState(who, parse_patch(case["patch"], who.wanted))
