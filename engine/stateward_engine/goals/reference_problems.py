"""References between todos: the ones that name nobody, and rows that wait for each other.

Source: goal-documents section 5.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from stateward_engine.goals.problems import RELATED_MAX, Problem, problem, shifted
from stateward_engine.goals.row_problems import placed_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from stateward_engine.goals.id_counts import IdCounts
    from stateward_engine.goals.lines import Lines, Span
    from stateward_engine.goals.parts import Parts
    from stateward_engine.goals.placed_rows import PlacedRows
    from stateward_engine.goals.todos import Todo, Wait


class Waits(NamedTuple):
    """Who waits for whom.

    Attributes:
        stamp: Of the ids, see `IdCounts`.
        found: Who waits, passage by passage, as far as somebody does.
        rings: The groups of ids that wait for each other.
    """

    stamp: int
    found: list[list[Wait]]
    rings: list[list[str]]


def find_waits(placed: Iterable[PlacedRows], ids: IdCounts, before: Waits | None) -> Waits:
    """Return who waits for whom. As long as nothing of that changes, it is what it was before.

    An id that stands twice names nobody in particular.
    """
    found = [rows.waits for rows in placed if rows.refers]
    if before and (before.stamp, before.found) == (ids.stamp, found):
        return before
    graph: dict[str, list[str]] = {}
    for name, target, _ in chain.from_iterable(found):
        if ids.is_single(name) and ids.is_single(target):
            graph.setdefault(name, []).append(target)
    return Waits(ids.stamp, found, list(rings(graph)))


def reference_problems(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with references between the rows of a document, archived ones included."""
    ids = parts.tables.ids
    for rows, offset, region in parts.placed("refers"):
        for reference in () if ids.has_all(rows.targets) else rows.references:
            if reference.target not in ids:
                message = (
                    f"{reference.key} names {reference.target}, and no row of this goal has that id; "
                    "correct or remove it"
                )
                span = value_span(rows.passage.lines, rows.todo(reference.place, 0, region), reference.key)
                yield problem("dangling_todo_reference", message, shifted(span, offset))
    if parts.tables.waits.rings:
        yield from _cycles(parts)


def value_span(lines: Lines, todo: Todo, key: str) -> Span:
    """Return where the value of a key stands, the last one if it is repeated."""
    placed = placed_tokens(lines.text[slice(*todo.extent)], todo.extent[0])
    return next((token.value_span for token in reversed(placed) if token.key == key), todo.span)


def _cycles(parts: Parts) -> Iterator[Problem]:
    """Yield a problem for each row that waits for itself by way of others."""
    ring_of = {name: number for number, ring in enumerate(parts.tables.waits.rings) for name in ring}
    edges: dict[str, dict[str, tuple[Span, str]]] = {name: {} for name in ring_of}
    for rows, offset, region in parts.placed("refers"):
        for name, target, reference in rows.waits:
            if ring_of.get(name, -1) == ring_of.get(target) and target not in edges[name]:
                todo = rows.todo(reference.place, 0, region)
                span = shifted(value_span(rows.passage.lines, todo, reference.key), offset)
                edges[name][target] = span, f"{todo.todo_id} belongs to the cycle"
    for ring in parts.tables.waits.rings:
        places = [place for name in ring for place in edges[name].values()]
        for span, _ in places:
            message = "these rows wait for each other, so none of them can begin; remove one of the references"
            # No more of them than are told: a cycle can have as many rows as a document.
            others = islice((place for place in places if place[0] != span), RELATED_MAX)
            yield problem("blocking_cycle", message, span, list(others))


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
