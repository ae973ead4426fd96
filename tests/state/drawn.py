"""What hypothesis draws for the laws of state: values, states, patches that fit them, and commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hypothesis import Phase, settings
from hypothesis import strategies as st

from stateward_engine.errors import RequestError
from stateward_engine.state.commands import Configure, PatchState
from stateward_engine.state.decide import decide
from stateward_engine.state.draft import Draft
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.transition import Repeat
from stateward_engine.state.view import PATCHABLE_PLANES, SCOPES, Selection, View

if TYPE_CHECKING:
    from stateward_engine.state.commands import Command

Value: TypeAlias = Any

WHO: Final = Selection("/home/ada/project", "morning", SCOPES)
# `make search` looks further, and elsewhere each time.
EXAMPLES: Final = int(os.environ.get("STATEWARD_EXAMPLES", "0"))
# `make faults` wants to know whether there is a counterexample, and not the smallest one.
PHASES: Final = [Phase.generate] if "STATEWARD_FIRST_EXAMPLE" in os.environ else tuple(Phase)


def search(examples: int) -> settings:
    """Return the settings of a law: how many examples it is tried with."""
    return settings(max_examples=EXAMPLES or examples, derandomize=not EXAMPLES, deadline=None, phases=PHASES)


searching: Final = search(25)

keys = st.sampled_from(["a", "b", "c", "", "a.b", "é", "0", "[x]"])
scalars = st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0]) | st.sampled_from(["", "x", "😀"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=5
)
objects = st.dictionaries(keys, values, min_size=1, max_size=3)
planes = st.dictionaries(st.sampled_from(sorted(PATCHABLE_PLANES)), objects, max_size=3)
states = st.builds(
    lambda some, response: {**some, **response},
    planes,
    st.just({}) | st.fixed_dictionaries({"response": st.sampled_from(["", "r"])}),
)


@st.composite
def patches_of(draw: st.DrawFn, value: Value, *, addressing: bool = True) -> Value:
    """Return a patch that `value` takes: members merged, set or deleted, elements addressed, or a whole new value."""
    if addressing and isinstance(value, list) and value and draw(st.booleans()):
        chosen = draw(st.sets(st.sampled_from(range(len(value))), min_size=1))
        return {f"[{at}]": draw(patches_of(value[at])) for at in sorted(chosen)}
    if not isinstance(value, dict):
        return draw(values)
    known = sorted(draw(st.sets(st.sampled_from(sorted(value))))) if value else []
    new = {key: member for key, member in draw(st.dictionaries(keys, values, max_size=2)).items() if key not in value}
    return new | {key: draw(st.none() | patches_of(value[key], addressing=addressing)) for key in known}


@st.composite
def changes(draw: st.DrawFn, *, addressing: bool = True) -> tuple[Value, Value]:
    """Return the planes of a scope and a patch that they take."""
    before = draw(planes)
    names = draw(st.sets(st.sampled_from(sorted(PATCHABLE_PLANES)), min_size=1, max_size=3))
    return before, {
        name: draw(patches_of(before[name], addressing=addressing) if name in before else objects)
        for name in sorted(names)
    }


def committed(view: View, command: Command) -> View:
    """Return the view after a command, or `view` itself when the command is refused or changes nothing."""
    draft = Draft(view)
    try:
        decision = decide(draft, command)
    except RequestError:
        return view
    if isinstance(decision, Repeat):
        return view
    draft.apply(decision, at="2026-01-01T00:00:00Z", sequence=view.sequence + 1)
    return draft.finish()


@st.composite
def commands(draw: st.DrawFn, view: View) -> PatchState | Configure:
    if not draw(st.integers(0, 9)):
        return Configure(draw(st.integers(0, 9)))
    who = Selection(WHO.cwd, draw(st.sampled_from(["morning", "evening"])), SCOPES)
    patch: dict[str, Value] = {}
    for scope in draw(st.sets(st.sampled_from(SCOPES), min_size=1)):
        before = view.scope(who.identity(scope)).planes
        plane = draw(st.sampled_from(sorted(PATCHABLE_PLANES)))
        patch[scope] = {plane: draw((patches_of(before[plane]) if plane in before else objects).filter(bool))}
    key = draw(st.none() | st.sampled_from(["k1", "k2"]))
    return PatchState(who, parse_patch(patch, SCOPES), idempotency_key=key)
