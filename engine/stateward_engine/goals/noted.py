"""Noted lines: what belongs to no row and may have to be told of, with as much of its surroundings as decides that."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias


class Above(NamedTuple):
    """What stands above a line in its section; `None` is for what the lines above the passage say.

    Attributes:
        is_open: Whether a row is open, so that indented metadata belongs to it.
        follows_box: Whether a box that is no task is the last thing that looks like a row.
        is_near: Whether only metadata and indented text stand between the line and the task line above it.
        has_id: Whether metadata below that task line gives an id.
    """

    is_open: bool | None
    follows_box: bool | None
    is_near: bool | None
    has_id: bool | None

    def below(self, above: Above) -> Above:
        """Return it where another one stands above the passage."""
        if None not in self:
            return self
        return Above(*(theirs if own is None else own for own, theirs in zip(self, above, strict=True)))


NOTHING_ABOVE: Final = Above(False, False, False, False)
PASSAGE_ABOVE: Final = Above(None, None, None, None)
TASK_ABOVE: Final = Above(True, False, True, False)
BOX_ABOVE: Final = Above(False, True, False, False)


NotedKind: TypeAlias = Literal["box", "metadata", "wrapped", "rule", "merge"]


class Noted(NamedTuple):
    """Visible lines, or a hidden block, that belong to no row and may have to be told of.

    Attributes:
        kind: A box that is no task, metadata that no row takes, a comment that may hide some, a rule around a second
            frontmatter, or a marker of a merge.
        first: Index of its first line.
        end: Index behind its last line.
        above: What stands above it.
    """

    kind: NotedKind
    first: int
    end: int
    above: Above
