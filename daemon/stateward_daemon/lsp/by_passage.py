"""What was found in a passage, kept for as long as the passage is.

An edit leaves nearly all passages of a document as they are. So what follows from the text of a passage alone is found
once, however often an editor asks after each of its edits.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple, Unpack
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_engine.goals.passages import Passage

Found = TypeVar("Found")
Given = TypeVarTuple("Given")


def by_passage(find: Callable[[Passage, Unpack[Given]], Found]) -> Callable[[Passage, Unpack[Given]], Found]:
    """Return the function with a memory. Its other arguments are hashable, and nobody changes what it returns."""
    kept: WeakKeyDictionary[Passage, dict[object, Found]] = WeakKeyDictionary()

    @wraps(find)
    def known(passage: Passage, /, *given: *Given) -> Found:
        found = kept.setdefault(passage, {})
        if given not in found:
            found[given] = find(passage, *given)
        return found[given]

    return known
