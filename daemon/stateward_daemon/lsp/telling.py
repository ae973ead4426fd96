"""Telling: what is known of a todo, a key, a reference or a problem, for hovers, completions and hints alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_daemon.lsp.commands import said_of
from stateward_daemon.state_keys import read_keys
from stateward_engine.authority.leases import told
from stateward_engine.errors import EngineError
from stateward_engine.goals.codes import CODES, page_of
from stateward_engine.goals.fields import decode_value, read_field
from stateward_engine.goals.meanings import MEANINGS
from stateward_engine.goals.tokens import TAKES
from stateward_engine.store.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lsprotocol import types as lsp

    from stateward_daemon.host import Caller
    from stateward_daemon.lsp.prose import Prose
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.authority.goal import Goal
    from stateward_engine.goals.problems import Problem
    from stateward_engine.goals.row_problems import Placed
    from stateward_engine.goals.todos import Todo

# Of a large object as many keys as fit into a hover.
KEYS_MAX: Final = 30
GENERATED: Final = "generated; it changes when the row moves or its text does"


class Named(NamedTuple):
    """What an item names that a client asks more about: members of its `data`, each empty where there is none.

    Attributes:
        uri: The document that the item was made for.
        key: A metadata key.
        todo: The id of a todo.
        path: A path into the state.
    """

    uri: str = ""
    key: str = ""
    todo: str = ""
    path: str = ""

    @staticmethod
    def read(data: object) -> Named:
        """Return what a client sends back; whatever it made of it that names nothing is left out."""
        members = data if isinstance(data, dict) else {}
        return Named(**{name: value for name in Named._fields if isinstance(value := members.get(name), str)})

    def data(self) -> dict[str, str]:
        """Return it as the client keeps it."""
        return {name: value for name, value in self._asdict().items() if value}


def told_of(session: LspSession, prose: Prose, data: Any) -> lsp.MarkupContent | None:  # noqa: ANN401 - any JSON value
    """Return what is known of what the data of an item name, `None` where that is nothing any more."""
    words = _words_of(session, prose, Named.read(data))
    return None if words is None else prose.content([words])


def _words_of(session: LspSession, prose: Prose, named: Named) -> str | None:
    if named.key:
        return key_meaning(prose, named.key)
    if named.path:
        return reference_told(prose, session.caller, named.path)
    reading = session.reading(named.uri) if named.todo else None
    todos = reading.goal.todos_named(named.todo) if reading else []
    return todo_named(prose, todos[0], session.goal(named.uri)) if todos else None


def todo_facts(prose: Prose, todo: Todo, goal: Goal | None) -> str:
    """Return the facts of a row, a line each: a list in Markdown, and readable as it is."""
    return "\n".join(f"- {name}: {value}" for name, value in _todo_facts(prose, todo, goal))


def _todo_facts(prose: Prose, todo: Todo, goal: Goal | None) -> Iterator[tuple[str, str]]:
    said = said_of(todo, goal)
    yield "status", f"{said['status']}, archived" if todo.archived else said["status"]
    if todo.priority is not None:
        yield "priority", todo.priority.label
    yield "claimed by", prose.code(said["claimed_by"]) if said.get("claimed_by") else "nobody"
    if goal is not None and (lease := goal.leases.get(todo.todo_id)) is not None:
        yield "lease", prose.sentence(told(lease, goal.now(utc_now())))
    for key, name in (("resume_when", "resumes when"), ("evidence", "evidence"), ("superseded_by", "superseded by")):
        if said.get(key):
            yield name, prose.code(str(said[key]))
    generated = f" ({GENERATED})" if todo.id_line is None else ""
    yield "id", f"{prose.code(todo.todo_id)}{generated}"


def todo_named(prose: Prose, todo: Todo, goal: Goal | None) -> str:
    """Return a row that is named elsewhere: its text, and its facts."""
    return f"{prose.code(todo.text or todo.todo_id)}\n\n{todo_facts(prose, todo, goal)}"


def key_meaning(prose: Prose, key: str) -> str | None:
    """Return what a metadata key means and what it takes, `None` for one that there is not."""
    if key not in MEANINGS:
        return None
    return f"{prose.strong(key)}: {MEANINGS[key]}\n\nIt takes {prose.sentence(TAKES[key])}."


def token_told(prose: Prose, token: Placed) -> Iterator[str]:
    """Yield what a metadata token says: its value where it is written otherwise, and what its key means."""
    meaning = key_meaning(prose, token.key)
    if meaning is None:
        return
    value = decode_value(token.raw)
    if value != token.raw and read_field(token.key, token.raw) is not None:
        yield prose.code(value)
    yield meaning


def reference_told(prose: Prose, caller: Caller, path: str) -> str:
    """Return what a path into the state leads to, by keys and kinds, or why it cannot be read; never a value."""
    named = prose.code(f"${path}")
    selection = caller.readable()
    if selection is None:
        return f"{named}: this editor works without state (mode `off`)"
    try:
        keys = read_keys(caller.host.store.view, selection, path)
    except EngineError as error:
        return f"{named} cannot be read: {prose.sentence(str(error))}"
    size = "" if keys.size is None else f", {keys.size} {_unit(keys.kind, keys.size)}"
    shown = [f"- {prose.code(key)}: {kind}" for key, kind in list(keys.kinds.items())[:KEYS_MAX]]
    more = [f"- and {len(keys.kinds) - KEYS_MAX} more"] if len(keys.kinds) > KEYS_MAX else []
    head = f"{named}: {keys.kind}{size}"
    return "\n\n".join([head, *(["\n".join([*shown, *more])] if shown else [])])


def _unit(kind: str, size: int) -> str:
    name = {"object": "key", "array": "element"}.get(kind, "character")
    return name if size == 1 else f"{name}s"


def problem_told(prose: Prose, problem: Problem) -> str:
    """Return what is wrong, why that matters, how to mend it, and where more is said."""
    page = prose.link(problem.code, page_of(problem.code))
    fix = f" Quick fix: {prose.sentence(problem.fix.title)}." if problem.fix else ""
    why = CODES[problem.code].meaning
    return f"{prose.strong(problem.severity)}: {prose.sentence(problem.message)}.{fix}\n\n{_capital(why)} ({page})."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
