"""References between todos: the ones that name nobody, and rows that wait for each other.

Source: goal-documents section 5.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from stateward_engine.goals.problems import RELATED_MAX, Problem, problem
from stateward_engine.goals.row_problems import placed_tokens
from stateward_engine.goals.todos import REFERRING_KEYS, references_in, waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from stateward_engine.goals.lines import Lines, Span
    from stateward_engine.goals.todos import Todo


class Reference(NamedTuple):
    """One row that names another one under a key."""

    todo: Todo
    key: str
    target: str


def reference_problems(lines: Lines, todos: Sequence[Todo]) -> Iterator[Problem]:
    """Yield what is wrong with references between the rows of a document, archived ones included."""
    # Most documents have none, and that is known without looking at their rows.
    if not any(f"{key}=" in lines.text for key in REFERRING_KEYS):
        return
    references = [reference for todo in todos for reference in references_of(todo)]
    counts = Counter(todo.todo_id for todo in todos)
    for reference in references:
        if reference.target not in counts:
            message = (
                f"{reference.key} names {reference.target}, and no row of this goal has that id; correct or remove it"
            )
            yield problem("dangling_todo_reference", message, value_span(lines, reference.todo, reference.key))
    yield from _cycles(lines, references, counts)


def references_of(todo: Todo) -> Iterator[Reference]:
    """Yield the references that a row makes."""
    for key, target in references_in(todo.fields):
        yield Reference(todo, key, target)


def value_span(lines: Lines, todo: Todo, key: str) -> Span:
    """Return where the value of a key stands, the last one if it is repeated."""
    placed = placed_tokens(lines.text[slice(*todo.extent)], todo.extent[0])
    return next((token.value_span for token in reversed(placed) if token.key == key), todo.span)


def _cycles(lines: Lines, references: Iterable[Reference], counts: Mapping[str, int]) -> Iterator[Problem]:
    """Yield a problem for each row that waits for itself by way of others.

    An id that stands twice names nobody in particular, and what is done is waited for no longer.
    """
    waits: dict[str, dict[str, Reference]] = {}
    for reference in references:
        todo, key, target = reference
        pair = waiting(todo.todo_id, key, target) if todo.status != "done" else None
        if pair and all(counts.get(name) == 1 for name in pair):
            waits.setdefault(pair[0], {}).setdefault(pair[1], reference)
    for ring in rings({name: list(targets) for name, targets in waits.items()}):
        members = set(ring)
        edges = [waits[name][target] for name in ring for target in waits[name] if target in members]
        places = [
            (value_span(lines, edge.todo, edge.key), f"{edge.todo.todo_id} belongs to the cycle") for edge in edges
        ]
        for span, _ in places:
            message = "these rows wait for each other, so none of them can begin; remove one of the references"
            others = [place for place in places if place[0] != span]
            yield problem("blocking_cycle", message, span, others[:RELATED_MAX])


def rings(graph: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield the groups of names that reach each other, in the order of the graph.

    They are its strongly connected components of several names, or of one that names itself, found without recursion
    (Tarjan 1972): a document can chain as many rows as it has.

    >>> list(rings({"a": ["b"], "b": ["c"], "c": ["b"], "d": ["d"]}))
    [['b', 'c'], ['d']]
    """
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: dict[str, None] = {}
    for root in graph:
        if root in order:
            continue
        due = [(root, iter(graph[root]))]
        order[root] = low[root] = len(order)
        stack[root] = None
        while due:
            name, targets = due[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack[target] = None
                    due.append((target, iter(graph.get(target, ()))))
                    break
                if target in stack:
                    low[name] = min(low[name], order[target])
            else:
                due.pop()
                if due:
                    low[due[-1][0]] = min(low[due[-1][0]], low[name])
                if low[name] == order[name]:
                    ring = _pop_until(stack, name)
                    if len(ring) > 1 or name in graph.get(name, ()):
                        yield ring


def _pop_until(stack: dict[str, None], name: str) -> list[str]:
    """Take the names from the end of the stack up to `name`, and return them in the order in which they were put."""
    taken: list[str] = []
    while not taken or taken[-1] != name:
        taken.append(stack.popitem()[0])
    return taken[::-1]
