"""References of a document into the state that lead nowhere.

What the state says is not known here: whoever has a view brings what finds references in a text and what tells why one
cannot be read.
Source: goal-documents section 5, state.md section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.goals.problems import Problem, problem
from stateward_engine.goals.suppression import unsuppressed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.lines import Span


def state_problems(
    document: GoalDocument, mentions: Callable[[str], Iterable[Span]], refusal: Callable[[str], str | None]
) -> Iterator[Problem]:
    """Yield the references in the visible text that cannot be read.

    Args:
        document: What the text says.
        mentions: Gives the spans of the paths that a text refers to, without the dollar sign.
        refusal: Tells why a path cannot be read, and `None` when it can.
    """
    found = []
    for line in document.layout.lines_with_reference_sign():
        for start, end in mentions(line.text):
            reason = refusal(line.text[start:end])
            if reason is not None:
                message = f"this reference cannot be read: {reason}"
                found.append(problem("dangling_state_reference", message, (line.start + start, line.start + end)))
    if found:
        yield from unsuppressed(found, document.layout.ignored(), document.layout.line_at)
