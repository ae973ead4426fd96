"""What is told of lazy state without its bodies: that it is there, and its keys when they are few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward_engine.json_value import canonical, kind_of, utf16_length
from stateward_engine.state.overlay import keys, layers_of, member

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_engine.json_value import Json
    from stateward_engine.state.overlay import Layers
    from stateward_engine.state.view import Planes

# Both bound what every run starts with, however much lazy state there is.
KEYS_MAX: Final = 32
KEYS_LENGTH_MAX: Final = 1_024

_ROOT: Final = "effective.lazy"


def navigation(owners: Iterable[Planes]) -> dict[str, Json]:
    """Return the navigation object of the effective lazy plane; its size is bounded, and so is its cost.

    Args:
        owners: The planes of the wanted owners, lowest precedence first.

    Source: state.md section 11.

    >>> navigation([{"lazy": {"plan": {}}}])
    {'available': True, 'path': 'effective.lazy', 'keys': {'plan': 'object'}}
    """
    lazy = member(layers_of(owners), "lazy")
    answer: dict[str, Json] = {"available": any(lazy), "path": _ROOT}
    kinds = _kinds(lazy)
    if kinds and utf16_length(canonical(kinds)) <= KEYS_LENGTH_MAX:
        answer["keys"] = kinds
    return answer


def _kinds(lazy: Layers) -> dict[str, Json] | None:
    """Return the kind of every key, or `None` when there are too many of them."""
    if any(isinstance(layer, dict) and len(layer) > KEYS_MAX for layer in lazy):
        return None
    present = sorted(keys(lazy))
    return {key: kind_of(member(lazy, key)[-1]) for key in present} if len(present) <= KEYS_MAX else None
