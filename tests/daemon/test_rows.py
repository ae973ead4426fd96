"""What long answers say of every row is what the document says, and after an edit it costs what that has changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from stateward_daemon.lsp import rows
from stateward_daemon.lsp.features.text_document_document_symbol import outline
from stateward_daemon.lsp.plain import Position, Range, Symbol, plain_range
from stateward_daemon.lsp.reading import Reading
from stateward_daemon.positions import Encoding
from stateward_engine.goals.document import read_document
from stateward_engine.goals.todos import text_of

if TYPE_CHECKING:
    from stateward_engine.goals.todo_codec import Row

CONFORMANCE = Path(__file__).parent.parent / "conformance"
DOCUMENTS = sorted([*CONFORMANCE.glob("goal_documents/*.md"), *CONFORMANCE.glob("field_cases/*/*.md")])
WAVES = "\n## Completed Work Archive\n\n- [x] [P1] Wave 🌊 it\n  more 🌊\n  <!-- loopx:todo role=user -->\n"


def whole(symbols: list[Symbol]) -> list[Symbol]:
    return [found for symbol in symbols for found in (symbol, *whole(symbol.children or []))]


@pytest.mark.parametrize("encoding", list(Encoding))
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_rows_are_those_of_the_document(path: Path, encoding: Encoding) -> None:
    reading = Reading(read_document(path.read_bytes().decode("utf-8", "replace") + WAVES), encoding, 1)
    todos = reading.goal.todos
    shown = list(rows.shown_rows(reading))

    assert [(row.todo_id, row.todo_id_source, row.role, row.status, row.fields, row.archived) for row in shown] == [
        (todo.todo_id, todo.todo_id_source, todo.role, todo.status, todo.fields, todo.archived) for todo in todos
    ]
    assert [row.title for row in shown] == [todo.priority.title if todo.priority else todo.text for todo in todos]
    assert [row.span for row in shown] == [plain_range(reading.range(todo.span)) for todo in todos]
    counts = rows.status_counts(reading)
    for region in reading.goal.regions:
        assert counts.get(region, Counter()) == Counter(todo.status for todo in todos if todo.region == region)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_outline_is_in_order_and_each_range_is_inside_of_the_one_around(path: Path) -> None:
    reading = Reading(read_document(path.read_bytes().decode("utf-8", "replace") + WAVES), Encoding.UTF_16, 1)
    document = reading.goal
    spans = sorted([heading.span for heading in document.headings] + [todo.span for todo in document.todos])
    extents = [plain_range(reading.range(todo.extent)) for todo in document.todos]
    roots = outline(reading)

    assert [symbol.selection_range for symbol in whole(roots)] == [plain_range(reading.range(span)) for span in spans]
    assert [symbol.range for symbol in whole(roots) if symbol.children is None] == extents
    for around in whole(roots):
        for inside in around.children or []:
            assert _within(inside.range, around.range)


def test_an_edit_costs_its_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "## Agent Todo\n\n" + "".join(
        f"- [ ] Row {n}\n  <!-- loopx:todo todo_id=todo_{n:05} -->\n" for n in range(3000)
    )
    document = read_document(text)
    outline(Reading(document, Encoding.UTF_16, 1))
    read: list[Row] = []

    def counted(row: Row) -> str:
        read.append(row)
        return text_of(row)

    monkeypatch.setattr(rows, "text_of", counted)
    edited = document.become(text.replace("Row 1500\n", "Line 1500\n"))
    symbols = whole(outline(Reading(edited, Encoding.UTF_16, 2)))

    assert symbols[1501].name == "Line 1500"
    assert 0 < len(read) < 1500


def _within(inside: Range, around: Range) -> bool:
    return _key(around.start) <= _key(inside.start) and _key(inside.end) <= _key(around.end)


def _key(position: Position) -> tuple[int, int]:
    return position.line, position.character
