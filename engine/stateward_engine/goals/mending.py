"""Mending: the safe fixes of a document, made together and proved harmless by reading the result."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.document import read_document
from stateward_engine.goals.suppression import Rules, ruled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.problems import Edit, Problem

# A fix can bring out another problem, but no chain of them is as long as that.
ROUNDS_MAX: Final = 16
# A row gets an id only when no other fix is left that may change its text, of which the id is made.
LAST: Final = "implicit_todo_ids"


class Mended(NamedTuple):
    """What mending a text gave.

    Attributes:
        text: With the fixes.
        fixed: The problems whose fixes were made, with their places in the text of that moment.
    """

    text: str
    fixed: tuple[Problem, ...]


def mend(text: str, rules: Rules) -> Mended:
    """Make the safe fixes of a document; nothing that the rules switch off, and nothing in a refused one.

    A fix whose result would have an error that was not there before is left out.
    """
    document = read_document(text)
    fixed: list[Problem] = []
    for _ in range(ROUNDS_MAX):
        due = _due(document, rules)
        for attempt in [due, *([found] for found in due if len(due) > 1)]:
            after = read_document(edited(document.text, _edits(attempt)))
            if attempt and _is_harmless(document, after):
                document, fixed = after, [*fixed, *attempt]
                break
        else:
            break
    return Mended(document.text, tuple(fixed))


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return `text` with edits that do not overlap; of two insertions at one place the first given comes first."""
    pieces, at = [], 0
    for (start, end), instead in sorted(edits, key=lambda edit: edit.span):
        pieces += [text[at:start], instead]
        at = end
    return "".join([*pieces, text[at:]])


def _due(document: GoalDocument, rules: Rules) -> list[Problem]:
    """Return the problems to mend in one go: those that do not touch each other."""
    if document.refusal:
        return []
    safe = [found for found in ruled(document.problems, rules) if found.fix and found.fix.safe]
    first = [found for found in safe if found.code != LAST] or safe
    chosen: list[Problem] = []
    end = -1
    for found in sorted(first, key=lambda found: _edits([found])[0].span):
        edits = _edits([found])
        if edits[0].span[0] > end:
            chosen.append(found)
            end = edits[-1].span[1]
    return chosen


def _edits(problems: Sequence[Problem]) -> list[Edit]:
    return [edit for found in problems if found.fix for edit in found.fix.edits]


def _is_harmless(before: GoalDocument, after: GoalDocument) -> bool:
    return after.refusal is None and not _errors(after) - _errors(before)


def _errors(document: GoalDocument) -> Counter[str]:
    return Counter(found.code for found in document.problems if found.severity == "error")
