"""What a todo says: its text in its one spelling, with the priority in front of it and the title behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.authority.given import CARRIER, NUL
from stateward_engine.authority.refusals import refused
from stateward_engine.errors import RenderRejected
from stateward_engine.goals.compact import ELLIPSIS, clip, compact
from stateward_engine.goals.priority import read_decorated_priority
from stateward_engine.goals.records import admit
from stateward_engine.goals.todos import TEXT_CHARACTERS_MAX
from stateward_engine.json_value import encodable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_engine.authority.goal import Members


def read_text(text: str, records: Iterable[Members], *, member: str = "text") -> str:
    """Return the text of a todo in its one spelling: on one line, one space between words.

    Args:
        text: As given.
        records: Those of the goal: a text that was cut for display is known by the whole one.
        member: The member of the params that it came in.

    Raises:
        Refused: `empty_text`, `todo_text_has_marker`, `unwritable_value` or `text_is_bounded_summary`.

    Source: authority.md section 1.
    """
    compacted = compact(text)
    if NUL in compacted:
        raise refused("unwritable_value", "a todo's text holds no NUL character", member=member)
    try:
        admit([{**CARRIER, "text": compacted}], {})
    except RenderRejected as fault:
        raise refused(fault.kind, str(fault), member=member) from None
    if cut := _source_of(compacted, records):
        raise refused(
            "text_is_bounded_summary",
            "this text was cut for display, and to store it would lose the rest; read the todo with todo_list and "
            "its todo_id, and start from `full_text`",
            member=member,
            todo_id=cut["todo_id"],
        )
    return compacted


def read_sentence(member: str, text: str | None) -> str | None:
    """Return a text that is no todo's in its one spelling; `None` stays so.

    Raises:
        Refused: `unwritable_value`.
    """
    if text is None:
        return None
    compacted = compact(text)
    if not compacted or NUL in compacted or not encodable(compacted):
        raise refused(
            "unwritable_value",
            f"{member} is a text that is not empty and that UTF-8 can hold, without NUL",
            member=member,
        )
    return compacted


def prioritised(text: str, priority: str | None, default: str | None, *, member: str = "priority") -> dict[str, str]:
    """Return the members that a text and a priority come to: the text with its prefix, `priority` and `title`.

    Args:
        text: With or without the prefix of a priority.
        priority: As given beside the text, or `None`.
        default: What a text without a prefix gets, or `None` for no priority at all.
        member: The member of the params that the priority came in.

    Raises:
        Refused: `todo_priority_conflict`: the prefix and the priority differ. `empty_text`: a prefix and nothing more.

    Source: authority.md section 6; goal-documents 1.6.

    >>> prioritised("Warp the loom.", None, "P1")
    {'text': '[P1] Warp the loom.', 'priority': 'P1', 'title': 'Warp the loom.'}
    """
    read = read_decorated_priority(text)
    if read and priority not in (None, read.label, read.label[:2]):
        raise refused(
            "todo_priority_conflict",
            "the text begins with another priority; give one of them, or the same",
            member=member,
            got=priority,
            wanted=read.label,
        )
    label, title = read or (priority or default, text)
    if not title:
        raise refused("empty_text", "a todo has a text behind its priority", member="text")
    return labelled(label, title)


def labelled(label: str | None, title: str) -> dict[str, str]:
    """Return the members of a priority and a title; a title without one is a text as it is."""
    return {"text": title} if label is None else {"text": f"[{label}] {title}", "priority": label, "title": title}


def _source_of(text: str, records: Iterable[Members]) -> Members | None:
    """Return the record that was cut for display into this text; `None` for a text of its own."""
    if not text.endswith(ELLIPSIS):
        return None
    forms = {text, _title_of(text)}
    for record in records:
        whole = record["text"]
        if len(whole) > TEXT_CHARACTERS_MAX:
            cut = clip(whole, TEXT_CHARACTERS_MAX)
            if not forms.isdisjoint({cut, _title_of(cut), clip(_title_of(whole), TEXT_CHARACTERS_MAX)} - {whole}):
                return record
    return None


def _title_of(text: str) -> str:
    read = read_decorated_priority(text)
    return read.title if read else text
