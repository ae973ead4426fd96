"""Which of the words that exist a misspelled one may have meant."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# More would be a listing; projection `keys` is for that.
SUGGESTIONS_MAX: Final = 3
# Comparing two words takes time that grows with the product of their lengths, and a client can store both long words
# and many of them. What a person misspells is shorter.
WORD_LENGTH_MAX: Final = 64
CANDIDATES_MAX: Final = 500


def closest(word: str, candidates: Iterable[str]) -> list[str] | None:
    """Return those `candidates` that look like `word`, best first; `None` when none does.

    >>> closest("tactic", ["strategy", "tactics", "lazy"])
    ['tactics']
    """
    import difflib  # noqa: PLC0415 - only a wrong call pays for it

    if len(word) > WORD_LENGTH_MAX:
        return None
    short = (candidate for candidate in candidates if len(candidate) <= WORD_LENGTH_MAX)
    return difflib.get_close_matches(word, list(islice(short, CANDIDATES_MAX)), SUGGESTIONS_MAX) or None
