"""What a caller is told of the state unasked: which keys there are and of what kind, and never a value.

It is the read of `read_state` with `keys`, for the owners that the caller works with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from stateward_engine.errors import EngineError
from stateward_engine.state.paths import NAME, ROOTS
from stateward_engine.state.read import ReadRequest, read
from stateward_engine.state.view import PLANES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_daemon.host import Caller
    from stateward_engine.state.view import Selection, View

# What is told of an object in a line.
FIRST_KEYS: Final = 3


class Keys(NamedTuple):
    """What one path leads to.

    Attributes:
        kind: `object`, `array`, `string`, `number` or `boolean`.
        size: How many keys, elements or UTF-16 units; `None` for what has no size.
        kinds: The kind of each key of an object.
    """

    kind: str
    size: int | None
    kinds: Mapping[str, str]

    def __str__(self) -> str:
        """Return it in a few words, such as `object 3: memory, rules, soul`."""
        named = self.kind if self.size is None else f"{self.kind} {self.size}"
        first = [*self.kinds][:FIRST_KEYS]
        more = ", \N{HORIZONTAL ELLIPSIS}" if len(self.kinds) > FIRST_KEYS else ""
        return f"{named}: {', '.join(first)}{more}" if first else named


def read_keys(view: View, selection: Selection, path: str) -> Keys:
    """Return what a path leads to.

    Args:
        view: What the state is read from.
        selection: The owners whose state it is.
        path: As in `read_state`.

    Raises:
        EngineError: It leads nowhere for them; the message says why.
    """
    # In a batch, so that a hint is no answer.
    request = ReadRequest((path,), batch=True, projection="keys")
    answer = cast("dict[str, list[Any]]", read(view, selection, request))
    [meta], [kinds] = answer["meta"], answer["keys"]
    return Keys(meta["type"], meta.get("size", meta.get("length")), dict(kinds))


def keys_or_none(caller: Caller, path: str) -> Keys | None:
    """Return what a path leads to, `None` where it leads nowhere and for a caller without state."""
    selection = caller.readable()
    if selection is None:
        return None
    try:
        return read_keys(caller.host.store.view, selection, path)
    except EngineError:
        return None


def first_words(caller: Caller) -> dict[str, str]:
    """Return the words that a path of this caller can begin with, each with the kind of what it leads to."""
    selection = caller.readable()
    owners = () if selection is None else selection.wanted
    wanted = (*(name for name in ROOTS if name in owners), "effective", *PLANES)
    found = {name: keys_or_none(caller, name) for name in wanted}
    return {name: keys.kind for name, keys in found.items() if keys is not None}


def next_words(caller: Caller, parent: str) -> dict[str, str]:
    """Return the names that can follow a path and a dot, each with its kind; what is no name cannot be written."""
    keys = keys_or_none(caller, parent)
    return {} if keys is None else {name: kind for name, kind in keys.kinds.items() if NAME.fullmatch(name)}
