"""Outline, and which URIs name goal documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from editor import Editor
from stateward_daemon.lsp.uris import goal_path_of, path_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

URI = "file:///w/ACTIVE_GOAL_STATE.md"
TEXT = """\
---
status: active
---

# Goal

## Agent Todo

- [ ] [P1] 🌊 ship it
  <!-- loopx:todo todo_id=todo_ship status=open claimed_by=codex resume_when=todo_done:todo_port -->
- [x] port it
  and more

### Notes

## Next Action

- ship
"""


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        yield editor


def outline(editor: Editor, uri: str = URI) -> Any:
    return editor.result("textDocument/documentSymbol", textDocument={"uri": uri})


class TestOutline:
    """editors.md section 1: sections and todos, id and title."""

    async def test_sections_hold_their_todos_and_their_sections(self, editor: Editor) -> None:
        editor.initialize({"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}})
        editor.open(URI, TEXT)

        [goal] = outline(editor)
        todos, action = goal["children"]
        ship, port, notes = todos["children"]
        assert [s["name"] for s in (goal, todos, action, ship, port, notes)] == [
            "Goal",
            "Agent Todo",
            "Next Action",
            "🌊 ship it",
            "port it and more",
            "Notes",
        ]
        assert ship["detail"] == "todo_ship open"
        assert [s["range"]["end"]["line"] for s in (goal, todos, action, ship, notes)] == [18, 15, 18, 9, 15]

    async def test_ranges_nest(self, editor: Editor) -> None:
        editor.initialize({"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}})
        editor.open(URI, "### a\n# b\n- [ ] no\n## Agent Todo\n- [ ] x\n#### deep\n- [ ] y\n## c")

        def edges(range_: Any) -> tuple[Any, Any]:
            return tuple(range_["start"].values()), tuple(range_["end"].values())

        def check(symbol: Any) -> int:
            start, end = edges(symbol["range"])
            for inside in (symbol["selectionRange"], *(child["range"] for child in symbol.get("children", []))):
                assert start <= edges(inside)[0] <= edges(inside)[1] <= end
            return 1 + sum(map(check, symbol.get("children", [])))

        assert sum(map(check, outline(editor))) == 7

    async def test_a_client_without_nesting_gets_a_list(self, editor: Editor) -> None:
        editor.initialize()
        editor.open(URI, TEXT)

        assert [(s["name"], s.get("containerName")) for s in outline(editor)] == [
            ("Goal", None),
            ("Agent Todo", "Goal"),
            ("🌊 ship it", "Agent Todo"),
            ("port it and more", "Agent Todo"),
            ("Notes", "Agent Todo"),
            ("Next Action", "Goal"),
        ]

    async def test_other_documents_have_none(self, editor: Editor) -> None:
        editor.initialize()

        assert outline(editor, "file:///w/README.md") == outline(editor, URI) == []


class TestUris:
    """security.md, 12: decoded once, local, absolute, and nothing that climbs."""

    @pytest.mark.parametrize(
        ("uri", "path"),
        [
            ("file:///a/b", "/a/b"),
            ("FILE:///a/b", "/a/b"),
            ("file:/a/b", "/a/b"),
            ("file:///a%20%C3%A9/%2525", "/a é/%25"),
            ("file:///a/%252e%252e/b", "/a/%2e%2e/b"),
            ("file://host/a", None),
            ("file:////host/a", None),
            ("file:///a/../b", None),
            ("file:///a/%2e%2E/b", None),
            ("file:///a%2f..%2fb", None),
            ("file:///a%00b", None),
            ("file:///a?x", None),
            ("file:///a#x", None),
            ("file:a/b", None),
            ("http:///a", None),
            ("/a/b", None),
            ("", None),
        ],
    )
    def test_what_names_a_file(self, uri: str, path: str | None) -> None:
        assert path_of(uri) is None if path is None else str(path_of(uri)) == path

    def test_a_name_that_is_no_text_survives(self) -> None:
        found = goal_path_of("file:///a%FF/ACTIVE_GOAL_STATE.md")

        assert found is not None
        assert bytes(found) == b"/a\xff/ACTIVE_GOAL_STATE.md"

    def test_a_goal_document_has_its_whole_name(self) -> None:
        assert goal_path_of("file:///w/active_goal_state.md") is None
        assert goal_path_of("file:///w/ACTIVE_GOAL_STATE.md/") is not None
        assert goal_path_of("file:///w/ACTIVE_GOAL_STATE.md.bak") is None
