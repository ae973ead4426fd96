"""What stands at a place of a document."""

from __future__ import annotations

import pytest

from stateward_daemon.lsp.places import place_at
from stateward_engine.goals.document import read_document

TEXT = """\
---
status: active
---
# Goal

See $cwd.lazy.plan and todo_one.

```
$cwd.lazy.hidden todo_hidden
```

## Agent Todo

- [ ] One 🌊
  <!-- loopx:todo todo_id=todo_one unblocks_todo_id=todo_TWO -->
- [x] Two
  more of $session.tactics, {"$ref": "lazy.notes"} and {"$ref": "https://example.org"}
"""
DOCUMENT = read_document(TEXT)


@pytest.mark.parametrize(
    ("at", "row", "key", "todo_id", "path"),
    [
        ("cwd.lazy.plan", None, None, None, "cwd.lazy.plan"),
        ("$cwd.lazy.plan", None, None, None, "cwd.lazy.plan"),
        ('"lazy.notes"', "generated", None, None, "lazy.notes"),
        ('"$ref": "https', "generated", None, None, None),
        ("todo_one.", None, None, "todo_one", None),
        ("cwd.lazy.hidden", None, None, None, None),
        ("todo_hidden", None, None, None, None),
        ("One 🌊", "todo_one", None, None, None),
        ("todo_id=", "todo_one", "todo_id", None, None),
        ("todo_TWO", "todo_one", "unblocks_todo_id", "todo_two", None),
        ("session.tactics", "generated", None, None, "session.tactics"),
        ("# Goal", None, None, None, None),
    ],
)
def test_a_place_knows_its_row_token_id_and_reference(
    at: str, row: str | None, key: str | None, todo_id: str | None, path: str | None
) -> None:
    place = place_at(DOCUMENT, TEXT.index(at))
    name = None if place.todo is None else place.todo.todo_id if place.todo.id_line else "generated"
    assert name == row
    assert (place.token and place.token.key) == key
    assert (place.todo_id and place.todo_id.name) == todo_id
    assert (place.state_path and place.state_path.name) == path
    for written in filter(None, (place.todo_id, place.state_path)):
        assert TEXT[slice(*written.span)].lower() == written.name


@pytest.mark.parametrize("text", ["", "\n", "- [ ] x", TEXT])
def test_every_place_of_a_text_is_one(text: str) -> None:
    document = read_document(text)
    for offset in range(len(text) + 1):
        place = place_at(document, offset)
        rows = [todo for todo in document.todos if todo.extent[0] <= offset <= todo.extent[1]]
        assert [place.todo] == rows if rows else place.todo is None


def test_rows_are_found_by_span_and_by_name_as_among_all() -> None:
    rows = "".join(f"- [ ] {n}\n  <!-- loopx:todo todo_id=todo_{n:04} -->\n" for n in range(2000))
    text = (
        f"# Goal\n\n## Agent Todo\n\n{rows}\n## User Todo\n\n- [ ] {'x' * 9} todo_0001\n\n## Agent Todo\n\n- [ ] last\n"
    )
    document = read_document(text)
    for start in range(0, len(text), 4999):
        for span in ((start, start), (start, min(start + 9000, len(text)))):
            wanted = [todo for todo in document.todos if todo.extent[0] <= span[1] and span[0] <= todo.extent[1]]
            assert document.todos_in(span) == wanted
    for todo in (document.todos[0], document.todos[1500], document.todos[-1]):
        assert document.todos_named(todo.todo_id) == [todo]
    assert document.todos_named("todo_none") == []
