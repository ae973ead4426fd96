"""Proposals: what fits into a slot, with as much of it as a list shows."""

from __future__ import annotations

import re
import secrets
from functools import singledispatch
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from lsprotocol import types as lsp

from stateward_daemon import state_keys
from stateward_daemon.lsp.slots import (
    BoxSlot,
    CommentSlot,
    HeadingSlot,
    IdSlot,
    KeySlot,
    PathSlot,
    RowSlot,
    Slot,
    ValueSlot,
    own_id,
    own_text,
)
from stateward_daemon.lsp.telling import Named
from stateward_engine.authority.leases import later
from stateward_engine.goals.compact import clip
from stateward_engine.goals.encode import encode_value
from stateward_engine.goals.fields import FIELDS, Choice, decode_value
from stateward_engine.goals.id_problems import free_id
from stateward_engine.goals.todo_codec import STATUS_OF_MARKER
from stateward_engine.goals.tokens import LISTS, OWN_KEYS, examine
from stateward_engine.store.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from stateward_daemon.host import Caller
    from stateward_engine.authority.goal import Goal
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.todos import Todo

Kind = lsp.CompletionItemKind

# Of more, a list is incomplete, and asked for again with each character.
PROPOSALS_MAX: Final = 100
# Nobody writes it: it keeps what old documents said.
RETIRED_KEYS: Final = frozenset({"removed_continuation_policy"})
AGENT_KEYS: Final = ("claimed_by", "bound_agent", "blocks_agent", "excluded_agents", "last_actor_agent_id")
DAY_SECONDS: Final = 24 * 60 * 60
SLUG_LENGTH_MAX: Final = 32
# What stands beside an id in a list.
TITLE_CHARACTERS_MAX: Final = 80
# A priority in front of a text.
LABEL: Final = re.compile(r"^\s*\[[Pp][0-4][^\]]*\]")
# The sections of a document in their order, each with what it is for.
SECTIONS: Final = {
    "Objective": "what is to be reached",
    "User Todo": "what the user is asked for",
    "Agent Todo": "what agents work on",
    "Next Action": "what comes next",
    "Completed Work Archive": "todos that are history; their ids still count",
}
ROLES: Final = {"User Todo": "user", "Agent Todo": "agent", "Completed Work Archive": "archive"}
ARCHIVE: Final = "Completed Work Archive"
CHINESE_ARCHIVE: Final = "完成归档"
CHINESE: Final = re.compile("[\u4e00-\u9fff]")


class Proposal(NamedTuple):
    """Something that can be written into a slot.

    Attributes:
        label: What a list shows.
        text: What is written.
        kind: Which picture stands beside it.
        detail: What it is, in a few words, or nothing.
        named: What `resolve` tells more about.
        snippet: The same with places to fill in, for a client that takes those.
        typed: What is compared with what somebody types; by default the text.
    """

    label: str
    text: str
    kind: lsp.CompletionItemKind
    detail: str = ""
    named: Named = Named()
    snippet: str | None = None
    typed: str | None = None

    def compared_with(self, typed: str) -> str:
        """Return what typed characters are compared with: people type a value as it is read, or as it is written."""
        written = self.text if self.kind is not Kind.Value or "%" in typed else self.label
        return self.typed or written


class Known(NamedTuple):
    """What proposals are made from.

    Attributes:
        document: What the text says.
        caller: Whose state is read.
        goal: The goal of the document, `None` where it is that of none.
        agent: Who writes.
    """

    document: GoalDocument
    caller: Caller
    goal: Goal | None
    agent: str


@singledispatch
def propose(slot: Slot, _known: Known) -> Iterator[Proposal]:
    """Yield what fits into a slot, the likeliest first; what is read of the document ends where nobody goes on."""
    raise TypeError(slot)  # pragma: no cover - every kind of slot is registered


# -- metadata ----------------------------------------------------------------------------------------------------------


@propose.register(KeySlot)
def _keys(slot: KeySlot, _known: Known) -> Iterator[Proposal]:
    for key in FIELDS:
        if key not in slot.taken | RETIRED_KEYS:
            text = f"{slot.before}{key}{slot.after}"
            yield Proposal(key, text, Kind.Property, named=Named(key=key), typed=key)


@propose.register(ValueSlot)
def _values(slot: ValueSlot, known: Known) -> Iterator[Proposal]:
    seen = set(slot.others)
    for proposal in _possible_values(slot, known):
        # Whatever is offered is read back as it is written.
        if proposal.text not in seen and examine(slot.key, proposal.text) is None:
            seen.add(proposal.text)
            yield proposal


def _possible_values(slot: ValueSlot, known: Known) -> Iterator[Proposal]:
    reader = FIELDS.get(slot.key)
    if isinstance(reader, Choice):
        return (Proposal(word, word, Kind.EnumMember) for word in reader.members)
    return VALUES.get(slot.key, _used_values)(slot, known) if reader else iter(())


def _flags(_slot: ValueSlot, _known: Known) -> Iterator[Proposal]:
    return (Proposal(word, word, Kind.EnumMember) for word in ("true", "false"))


def _agents(slot: ValueSlot, known: Known) -> Iterator[Proposal]:
    return (Proposal(agent, encode_value(agent), Kind.Value) for agent in agents(slot, known))


def _todos(slot: ValueSlot, known: Known) -> Iterator[Proposal]:
    return (_named(todo) for todo in _others(slot, known, slot.typed))


def _own_ids(slot: ValueSlot, known: Known) -> Iterator[Proposal]:
    if slot.row is None:
        return
    now = own_id(slot.row)
    words = re.sub(r"[^a-z0-9]+", "_", _title(slot.row).lower()).strip("_")
    if words:
        slug = free_id(f"todo_{words[:SLUG_LENGTH_MAX].strip('_')}", set(known.document.todo_ids))
        yield Proposal(slug, slug, Kind.Value, "of the text of the row")
    yield Proposal(now, now, Kind.Value, "what the row is called now")


def _past(_slot: ValueSlot, _known: Known) -> Iterator[Proposal]:
    yield Proposal(now := _now(), now, Kind.Value, "now")


def _coming(_slot: ValueSlot, _known: Known) -> Iterator[Proposal]:
    yield Proposal(time := later(_now(), DAY_SECONDS), time, Kind.Value, "in a day")


def _nothing(_slot: ValueSlot, _known: Known) -> Iterator[Proposal]:
    return iter(())


def _used_values(slot: ValueSlot, known: Known) -> Iterator[Proposal]:
    used = _used(slot, known, slot.key)
    return (Proposal(decode_value(raw), raw, Kind.Value, "used in this document") for raw in used)


def _conditions(slot: ValueSlot, known: Known) -> Iterator[Proposal]:
    tomorrow = f"resume_at:{later(_now(), DAY_SECONDS)}"
    yield Proposal(tomorrow, tomorrow, Kind.Value, "at that time")
    yield Proposal("pr_merged:#1", "pr_merged:#1", Kind.Value, "when that pull request is merged")
    for raw in _used(slot, known, "required_capabilities"):
        yield Proposal(text := f"capacity_available:{raw.lower()}", text, Kind.Value, "when somebody can do that")
    for todo in _others(slot, known, slot.typed.partition(":")[2]):
        kind = "monitor_changed" if todo.task_class == "continuous_monitor" else "todo_done"
        yield _named(todo, before=f"{kind}:")


def _used(slot: ValueSlot, known: Known, *keys: str) -> Iterator[str]:
    """Yield the values that a document gives to some keys, lists member by member, beside the one at the cursor."""
    used = known.document.used_values(*keys)
    used.subtract([slot.written])
    for raw, count in used.most_common():
        if count > 0:
            yield from re.split("%2C|[,;]", raw, flags=re.IGNORECASE) if set(keys) & LISTS.keys() else [raw]


def agents(slot: ValueSlot, known: Known) -> Iterable[str]:
    """Return the agents that are known: who writes, those of the goal, of its leases and of the document."""
    goal = known.goal
    registered = [] if goal is None else [*goal.agents, *(lease["owner"] for lease in goal.leases.values())]
    written = (decode_value(raw).lower() for raw in _used(slot, known, *AGENT_KEYS))
    return dict.fromkeys(chain([known.agent], registered, written))


def _others(slot: ValueSlot, known: Known, typed: str) -> Iterator[Todo]:
    own = slot.row.todo_id if slot.row else None
    return (todo for todo in _explicit(known.document, typed) if todo.todo_id != own)


def _explicit(document: GoalDocument, typed: str) -> Iterator[Todo]:
    """Yield the rows with an id of their own that begins as it is typed; a generated one would not stay."""
    begins = typed.lower() if typed.lower().startswith("todo_") else ""
    rows = document.todos_where(lambda todo_id, _text: todo_id.startswith(begins))
    return (todo for todo in rows if todo.id_line is not None)


def _named(todo: Todo, before: str = "") -> Proposal:
    text = f"{before}{todo.todo_id}"
    state = "archived" if todo.archived else todo.status
    title = clip(_title(todo), TITLE_CHARACTERS_MAX)
    return Proposal(text, text, Kind.Reference, f"{state}: {title}", Named(todo=todo.todo_id))


def _title(todo: Todo) -> str:
    return LABEL.sub("", own_text(todo)).strip()


@propose.register(CommentSlot)
def _comment(slot: CommentSlot, _known: Known) -> Iterator[Proposal]:
    text = f"<!-- loopx:todo todo_id={slot.todo_id} -->"
    snippet = f"<!-- loopx:todo todo_id=${{1:{slot.todo_id}}} $0-->"
    yield Proposal("metadata", text, Kind.Snippet, "an id for this row", Named(key="todo_id"), snippet)


# What can be the value of a key that is no choice; of others it is what the document has for them.
VALUES: Final[Mapping[str, Callable[[ValueSlot, Known], Iterator[Proposal]]]] = {
    **dict.fromkeys(OWN_KEYS, _nothing),
    **dict.fromkeys(("goal_bound", "global_gate", "no_followup"), _flags),
    **dict.fromkeys(AGENT_KEYS, _agents),
    **dict.fromkeys(("unblocks_todo_id", "successor_todo_ids", "superseded_by"), _todos),
    **dict.fromkeys(("completed_at", "updated_at", "last_checked_at"), _past),
    **dict.fromkeys(("next_due_at", "expires_at"), _coming),
    "todo_id": _own_ids,
    "resume_when": _conditions,
}


# -- text --------------------------------------------------------------------------------------------------------------


@propose.register(BoxSlot)
def _boxes(_slot: BoxSlot, _known: Known) -> Iterator[Proposal]:
    for box, status in STATUS_OF_MARKER.items():
        if box == box.lower():
            yield Proposal(f"[{box}]", f"[{box}] ", Kind.EnumMember, status)


@propose.register(RowSlot)
def _rows(_slot: RowSlot, _known: Known) -> Iterator[Proposal]:
    todo_id = f"todo_{secrets.token_hex(6)}"
    text = f"- [ ] what is to be done\n  <!-- loopx:todo todo_id={todo_id} status=open -->"
    snippet = f"- [ ] ${{1:what is to be done}}\n  <!-- loopx:todo todo_id=${{2:{todo_id}}} status=open$3 -->$0"
    yield Proposal("new todo", text, Kind.Snippet, "a row with an id", snippet=snippet, typed="- [ ] new todo")


@propose.register(HeadingSlot)
def _headings(_slot: HeadingSlot, known: Known) -> Iterator[Proposal]:
    document = known.document
    roles = {region.role for region in document.regions}
    there = {title for title, role in ROLES.items() if role in roles}
    if document.next_action.heading is not None:
        there.add("Next Action")
    there.update("Objective" for heading in document.headings if heading.text.lower() == "objective")
    for title, detail in SECTIONS.items():
        if title not in there:
            named = CHINESE_ARCHIVE if title == ARCHIVE and _is_chinese(document) else title
            yield Proposal(f"## {named}", f"## {named}", Kind.Module, detail)


def _is_chinese(document: GoalDocument) -> bool:
    """Tell whether a document names its sections in Chinese; beside marked regions only the English names are read."""
    marked = any(region.marked for region in document.regions)
    return not marked and any(CHINESE.search(heading.text) for heading in document.headings)


@propose.register(IdSlot)
def _todo_ids(slot: IdSlot, known: Known) -> Iterator[Proposal]:
    return map(_named, _explicit(known.document, slot.typed))


@propose.register(PathSlot)
def _steps(slot: PathSlot, known: Known) -> Iterator[Proposal]:
    if slot.is_index:
        keys = state_keys.keys_or_none(known.caller, slot.parent or "")
        count = keys.size if keys is not None and keys.kind == "array" else 0
        for index in range(count or 0):
            named = Named(path=f"{slot.parent}[{index}]")
            yield Proposal(f"[{index}]", f"{index}]", Kind.Value, "element", named, typed=f"{index}]")
        return
    words = state_keys.first_words(known.caller) if slot.parent is None else {}
    words = words or (state_keys.next_words(known.caller, slot.parent) if slot.parent is not None else {})
    before = "" if slot.parent is None else f"{slot.parent}."
    for word, kind in words.items():
        picture = Kind.Module if kind == "object" else Kind.Field
        yield Proposal(word, word, picture, kind, Named(path=f"{before}{word}"))


def bounded(proposals: Iterable[Proposal], typed: str) -> tuple[list[Proposal], bool]:
    """Return the first proposals that have the typed characters in their order, and whether there are more."""
    fitting = (proposal for proposal in proposals if _has(proposal.compared_with(typed), typed))
    found = list(islice(fitting, PROPOSALS_MAX + 1))
    return found[:PROPOSALS_MAX], len(found) > PROPOSALS_MAX


def _has(text: str, typed: str) -> bool:
    """Tell whether characters stand in a text in their order, as editors compare them.

    >>> _has("claimed_by", "clby"), _has("claimed_by", "byc")
    (True, False)
    """
    rest = iter(text.lower())
    return all(character in rest for character in typed.lower())


def _now() -> str:
    return f"{utc_now()[:19]}Z"
