"""Inlay hints: beside a reference what it leads to, and beside a row its generated id.

editors.md section 1; DM-008: keys and kinds, never a value, and they follow the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from editor import Editor
from state_of_editor import change_state
from stateward_daemon.positions import Encoding, units_in
from stateward_engine.goals.document import read_document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

URI: Final = "file:///w/ACTIVE_GOAL_STATE.md"
RESOLVES: Final = {"textDocument": {"inlayHint": {"resolveSupport": {"properties": ["tooltip"]}}}}
REFRESHES: Final[dict[str, Any]] = {
    "textDocument": {"diagnostic": {}, "inlayHint": {}},
    "workspace": {"diagnostics": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}},
}
TEXT: Final = """\
# Goal

🌊 see $global.lazy.plan, $lazy.word and $global.lazy.gone.

```
$global.lazy.plan
```

## Agent Todo

- [ ] has none
  and more
- [ ] has one
  <!-- loopx:todo todo_id=todo_one note=$global.lazy.list -->
"""
STATE: Final = {"plan": {"rules": 1, "memory": "SECRET", "soul": {}}, "word": "SECRET", "list": [1, 2, 3, 4]}


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        change_state(editor, STATE)
        yield editor


def hints(editor: Editor, first: int = 0, last: int = 99) -> list[dict[str, Any]]:
    """The hints of some lines, from the beginning of the first one to that of the last one."""
    found: list[dict[str, Any]] = editor.result(
        "textDocument/inlayHint",
        textDocument={"uri": URI},
        range={"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}},
    )
    return found


def labels(editor: Editor, first: int = 0, last: int = 99) -> list[str]:
    return [hint["label"] for hint in hints(editor, first, last)]


async def test_a_reference_says_kind_size_and_first_keys_and_a_row_its_generated_id(editor: Editor) -> None:
    editor.initialize(RESOLVES)
    editor.open(URI, TEXT)

    assert labels(editor) == [
        "→ object 3: memory, rules, soul",
        "→ string 6",
        "→ array 4",
        read_document(TEXT).todos[0].todo_id,
    ]


async def test_of_more_keys_the_first_ones_are_told(editor: Editor) -> None:
    change_state(editor, {"plan": {"all": 1}})
    editor.initialize(RESOLVES)
    editor.open(URI, TEXT)

    assert labels(editor)[0] == "→ object 4: all, memory, rules, …"


@pytest.mark.parametrize("encoding", Encoding)
async def test_they_stand_behind_what_they_are_about(editor: Editor, encoding: Encoding) -> None:
    editor.initialize({**RESOLVES, "general": {"positionEncodings": [encoding]}})
    editor.open(URI, TEXT)
    reference, word, array, row = hints(editor)

    assert reference["position"] == {"line": 2, "character": units_in("🌊 see $global.lazy.plan", encoding)}
    assert word["position"]["line"] == 2
    assert row["position"] == {"line": 10, "character": len("- [ ] has none")}
    assert array["position"]["line"] == 13
    assert all(hint["paddingLeft"] for hint in (reference, word, array, row))


async def test_only_the_asked_range_is_told(editor: Editor) -> None:
    editor.initialize(RESOLVES)
    editor.open(URI, TEXT)

    assert labels(editor, 3, 10) == []
    assert labels(editor, 0, 3) == ["→ object 3: memory, rules, soul", "→ string 6"]
    assert len(labels(editor, 10, 12)) == 1


async def test_the_tooltip_comes_when_somebody_looks(editor: Editor) -> None:
    editor.initialize(RESOLVES)
    editor.open(URI, TEXT)
    reference, *_, row = hints(editor)

    assert "tooltip" not in reference
    told = editor.result("inlayHint/resolve", **reference)["tooltip"]["value"]
    assert told == "$global.lazy.plan: object, 3 keys\n\n- memory: string\n- rules: number\n- soul: object"
    assert "generated; it changes" in editor.result("inlayHint/resolve", **row)["tooltip"]["value"]
    assert "tooltip" not in editor.result("inlayHint/resolve", **{**row, "data": ["?"]})


async def test_a_client_that_resolves_nothing_has_it_at_once(editor: Editor) -> None:
    editor.initialize()
    editor.open(URI, TEXT)

    assert [hint["tooltip"]["kind"] for hint in hints(editor)] == ["plaintext"] * 4
    assert "SECRET" not in str(hints(editor))


async def test_without_state_only_ids_are_told(editor: Editor, tmp_path: Path) -> None:
    editor.initialize(RESOLVES, initializationOptions={"stateward": {"mode": "off", "cwd": str(tmp_path)}})
    editor.open(URI, TEXT)

    assert len(labels(editor)) == 1


async def test_they_are_asked_for_again_when_the_state_has_changed(editor: Editor) -> None:
    """Also where nobody has asked for diagnostics."""
    editor.initialize(REFRESHES)
    editor.open(URI, TEXT)
    assert "→ string 6" in labels(editor)
    change_state(editor, {"word": "longer SECRET"})

    await editor.until(lambda: editor.asked("workspace/inlayHint/refresh"))
    assert "→ string 13" in labels(editor)


@pytest.mark.parametrize("text", ["", "\n", "x", "$global.lazy.word"])
async def test_short_texts(editor: Editor, text: str) -> None:
    editor.initialize(RESOLVES)
    editor.open(URI, text)

    assert labels(editor) == ["→ string 6"] * text.count("$")
    assert labels(editor, 5, 2) == []
