"""Hover: what stands at a place, and what is wrong there.

editors.md section 1; security.md rows 24 and 25; DM-008: of the state keys and kinds, never a value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import pytest
from markdown_it import MarkdownIt

from authority.shown_goal import GRIND, LENS, Ledger, serve
from editor import Editor
from state_of_editor import change_state
from stateward_daemon.lsp.prose import Prose
from stateward_daemon.positions import Encoding, units_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

URI: Final = "file:///w/ACTIVE_GOAL_STATE.md"
MARKDOWN: Final = {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}
TEXT: Final = """\
---
status: active
---

# Goal

See $global.lazy.plan, $global.lazy.gone and todo_port.

## Agent Todo

- [ ] [P1] 🌊 ship it after todo_port and todo_nobody
  <!-- loopx:todo todo_id=todo_ship status=open claimed_by=codex evidence=a%20b%60c resume_when=todo_done:todo_port -->
- [x] port it
  <!-- loopx:todo todo_id=todo_port color=red unblocks_todo_id=todo_ship -->
- [x] no id
  and more

## Next Action

- ship
"""


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        change_state(editor, {"plan": {"steps": ["SECRET"], "owner": "SECRET", **{f"k{n}": n for n in range(40)}}})
        yield editor


def hover(editor: Editor, text: str, at: str, encoding: Encoding = Encoding.UTF_16) -> Any:
    """Hover over the second character of a text that stands once in a document."""
    assert text.count(at) == 1, at
    before = text[: text.index(at) + 1]
    line = before.rpartition("\n")[2]
    position = {"line": before.count("\n"), "character": units_in(line, encoding)}
    return editor.result("textDocument/hover", textDocument={"uri": URI}, position=position)


def said(editor: Editor, at: str, text: str = TEXT) -> str:
    found = hover(editor, text, at)
    assert found is not None, at
    return str(found["contents"]["value"])


class TestRows:
    """A todo: status, claim, lease, resume condition, evidence."""

    @pytest.mark.parametrize("at", ["ship it after", "<!-- loopx:todo todo_id=todo_ship"])
    async def test_a_row_tells_its_facts_on_each_of_its_lines(self, editor: Editor, at: str) -> None:
        editor.initialize(MARKDOWN)
        editor.open(URI, TEXT)

        found = hover(editor, TEXT, at)
        assert found["contents"] == {
            "kind": "markdown",
            "value": "- status: open\n- priority: P1\n- claimed by: `codex`\n"
            "- resumes when: `todo_done:todo_port`\n- evidence: ``` a b`c ```\n- id: `todo_ship`".replace("```", "``"),
        }
        assert (found["range"]["start"]["line"], found["range"]["end"]["line"]) == (10, 11)

    async def test_a_generated_id_says_so_and_its_problem_says_how_to_mend_it(self, editor: Editor) -> None:
        editor.initialize()
        editor.open(URI, TEXT)

        found = hover(editor, TEXT, "no id\n")["contents"]
        facts, problem, page = found["value"].split("\n\n")
        assert found["kind"] == "plaintext"
        assert facts.startswith("- status: done\n- claimed by: nobody\n- id: todo_")
        assert facts.endswith("(generated; it changes when the row moves or its text does)")
        assert problem.startswith("warning: this row has no id of its own")
        assert problem.endswith("Quick fix: give the row its id.")
        assert re.search(r"implicit_todo_ids: https://\S+/implicit_todo_ids\.md", page)

    async def test_a_promoted_todo_tells_what_the_ledger_knows_and_its_lease(
        self, editor: Editor, tmp_path: Path
    ) -> None:
        path = tmp_path / "ACTIVE_GOAL_STATE.md"
        ledger = Ledger(path, LENS, {**GRIND, "status": "blocked", "claimed_by": "kite"})
        lease = {
            "owner": "kite",
            "status": "active",
            "acquired_at": "2026-01-01T00:00:00Z",
            "expires_at": "9999-01-01T00:00:00Z",
        }
        ledger.change(leases={"todo_grind": lease})
        serve(editor.caller.host, ledger)
        editor.initialize()
        text = "# G\n\n## Agent Todo\n\n- [ ] Grind it.\n  <!-- loopx:todo todo_id=todo_grind -->\n"
        editor.open(path.as_uri(), text)
        place = {"line": 4, "character": 8}
        value = editor.result("textDocument/hover", textDocument={"uri": path.as_uri()}, position=place)["contents"]

        assert "- status: blocked\n- claimed by: kite\n- lease: kite has the lease since 2026-01-01" in value["value"]

    async def test_an_id_tells_the_row_that_has_it(self, editor: Editor) -> None:
        editor.initialize(MARKDOWN)
        editor.open(URI, TEXT)

        assert said(editor, "todo_port.").startswith("`port it`\n\n- status: done\n")
        assert said(editor, "todo_nobody") == "No row of this document has the id `todo_nobody`."
        waits = hover(editor, TEXT, "todo_port -->")
        assert waits["contents"]["value"].startswith("`port it`\n\n")
        assert "**resume\\_when**" not in waits["contents"]["value"]
        assert "**resume_when**: what has to happen" in waits["contents"]["value"]

    async def test_elsewhere_there_is_nothing_to_tell(self, editor: Editor) -> None:
        editor.initialize()
        editor.open(URI, TEXT)

        assert hover(editor, TEXT, "# Goal") is None
        far = {"line": 99, "character": 0}
        assert editor.result("textDocument/hover", textDocument={"uri": URI}, position=far) is None


class TestKeys:
    """A metadata key: what it means and its values."""

    async def test_a_key_tells_what_it_means_and_takes(self, editor: Editor) -> None:
        editor.initialize(MARKDOWN)
        editor.open(URI, TEXT)

        assert said(editor, "status=open") == (
            "**status**: how far the todo has come; it wins over the box\n\n"
            "It takes `open`, `done`, `blocked` or `deferred`."
        )

    async def test_a_value_is_told_as_it_is_read(self, editor: Editor) -> None:
        editor.initialize(MARKDOWN)
        editor.open(URI, TEXT)

        assert said(editor, "a%20b%60c").startswith("`` a b`c ``\n\n**evidence**: ")

    async def test_an_unknown_key_is_a_problem_alone(self, editor: Editor) -> None:
        editor.initialize(MARKDOWN)
        editor.open(URI, TEXT)

        assert said(editor, "color=red").startswith("**info**: there is no key color")

    @pytest.mark.parametrize("encoding", Encoding)
    async def test_its_range_is_that_of_the_token(self, editor: Editor, encoding: Encoding) -> None:
        editor.initialize({"general": {"positionEncodings": [encoding]}})
        text = TEXT.replace("todo_id=todo_ship", "todo_id=todo_ship note=🌊é")
        editor.open(URI, text)
        found = hover(editor, text, "claimed_by=codex", encoding)
        start = units_in(text[text.index("  <!-- loopx:todo todo_id=todo_ship") : text.index("claimed_by")], encoding)

        assert found["range"] == {
            "start": {"line": 11, "character": start},
            "end": {"line": 11, "character": start + len("claimed_by=codex")},
        }


class TestReferences:
    """A reference: kind, size, keys, and why it cannot be read when it cannot."""

    async def test_it_tells_keys_and_kinds_and_no_value(self, editor: Editor) -> None:
        editor.initialize(MARKDOWN)
        editor.open(URI, TEXT)
        value = said(editor, "$global.lazy.plan")

        assert value.startswith("`$global.lazy.plan`: object, 42 keys\n\n- `k0`: number\n")
        assert value.endswith("\n- and 12 more")
        assert "SECRET" not in value

    async def test_one_that_leads_nowhere_says_why(self, editor: Editor) -> None:
        editor.initialize(MARKDOWN)
        editor.open(URI, TEXT)
        value = said(editor, "$global.lazy.gone")

        assert value.startswith("`$global.lazy.gone` cannot be read: ")
        assert "**warning**: this reference cannot be read" in value

    async def test_without_state_it_says_so(self, editor: Editor, tmp_path: Path) -> None:
        options = {"stateward": {"mode": "off", "cwd": str(tmp_path)}}
        editor.initialize(MARKDOWN, initializationOptions=options)
        editor.open(URI, TEXT)

        assert said(editor, "$global.lazy.plan") == "`$global.lazy.plan`: this editor works without state (mode `off`)"


ATTACKS: Final = (
    "[click](command:workbench.action.quit)",
    "![x](https://evil.example/x.png)",
    "<img src=https://evil.example onerror=alert(1)>",
    "<https://evil.example>",
    "https://evil.example/a www.evil.example a@evil.example",
    "**bold** _em_ ~~gone~~ | a | b |",
    "`` ` [x](command:y)",
    "```\n[x](command:y)",
    "&lt;b&gt; \\[x](y)",
    "`[x](command:y)`` [z](command:w)",
)


@pytest.mark.parametrize("attack", ATTACKS)
class TestHostileText:
    """Security: what others wrote becomes neither markup nor a link nor a command."""

    def test_quoted_it_is_code_and_nothing_else(self, attack: str) -> None:
        tokens = MarkdownIt("commonmark").parseInline(Prose(markdown=True).code(attack))[0].children
        assert tokens is not None
        assert [token.type for token in tokens] == ["code_inline"]

    def test_in_a_sentence_it_is_text_or_code(self, attack: str) -> None:
        sentence = Prose(markdown=True).sentence(f"this is read as `{attack}`; {attack}; `{attack}")
        # What was escaped stays apart, so that nothing finds an address across it.
        tokens = MarkdownIt("commonmark").disable("text_join").parseInline(sentence)[0].children
        assert tokens is not None
        assert {token.type for token in tokens} <= {"code_inline", "text", "text_special"}
        outside = "\0".join(token.content for token in tokens if token.type == "text")
        assert "://" not in outside
        assert "@" not in outside
        assert "www." not in outside

    async def test_in_a_hover_of_a_row_it_is_text_or_code(self, editor: Editor, attack: str) -> None:
        editor.initialize(MARKDOWN)
        text = (
            f"# G\n\n## Agent Todo\n\n- [ ] x {attack}\n  <!-- loopx:todo todo_id=todo_x evidence={quote(attack)} -->\n"
        )
        editor.open(URI, text)
        place = {"line": text[: text.index("  <!-- loopx:todo todo_id=")].count("\n"), "character": 3}
        value = editor.result("textDocument/hover", textDocument={"uri": URI}, position=place)["contents"]["value"]
        tokens = MarkdownIt("commonmark").parse(value)
        inside = [child for token in tokens for child in token.children or ()]
        pages = [str(child.attrs["href"]) for child in inside if child.type == "link_open"]
        assert not [child for child in inside if child.type in ("image", "html_inline")]
        assert not [page for page in pages if not page.startswith("https://github.com/stateward/")]


def test_plain_text_is_as_it_is() -> None:
    assert Prose(markdown=False).code("a`b\x1b") == "a`b\\u001b"
    assert Prose(markdown=False).sentence("write `a_b`") == "write `a_b`"
