"""The pages in `render/`: what becomes of records and a document, by example; and proofs that can fail."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from goals.rendering import REVISION, SECTIONS, record, rendered
from literate import load_cases
from stateward_engine.errors import InvalidRequest, RenderRejected, UnsafeDocument
from stateward_engine.goals import owned as owned_module
from stateward_engine.goals import render as render_module
from stateward_engine.goals.digests import value_sha256
from stateward_engine.goals.owned import Survey, read_owned, survey
from stateward_engine.goals.records import admit
from stateward_engine.goals.render import Rendering, prove, sections_of
from stateward_engine.goals.source_decoder import UnreadableField, decode_todo
from stateward_engine.goals.validation import DECLARATION_KEYS

DIGEST = re.compile(r"(?<=records_sha256=)[0-9a-f]{64}")
MARKER = re.compile(r"^<!-- loopx:todo-region-v0 role=(\w+ \w+) -->\r?$", re.MULTILINE)


def complete(declaration: dict[str, Any]) -> str:
    return value_sha256({key: declaration.get(key) for key in DECLARATION_KEYS})


def given(case: dict[str, Any]) -> tuple[list[Any], dict[str, Any], dict[str, str]]:
    """Return the records and declarations of a case, and the digests that its placeholders stand for."""
    declarations = case.get("declarations", {})
    digests = {todo_id: complete(declaration) for todo_id, declaration in declarations.items()}
    records = [record(**members) if isinstance(members, dict) else members for members in case["records"]]
    for one in records:
        if isinstance(one, dict) and one.get("completion_validation_sha256") == "sha256":
            one["completion_validation_sha256"] = digests.get(one["todo_id"], "0" * 64)
    return records, declarations, digests


def outcome(case: dict[str, Any]) -> Rendering | list[Any]:
    """Return what became of a case: a rendering, or the kind, place and field of its refusal."""
    records, declarations, _ = given(case)
    try:
        return rendered(case.get("document", SECTIONS), records, **declarations)
    except RenderRejected as refusal:
        return [refusal.kind, refusal.todo_id, refusal.field]
    except UnsafeDocument as refusal:
        return [refusal.kind, refusal.line, None]


def views(case: dict[str, Any], rendering: Rendering) -> dict[str, Any]:
    """Return what a page may expect of a rendering, by name."""
    owned = read_owned(rendering.markdown)
    lines = owned.lines.texts
    shown = [decode_todo(todo) for todo in owned.todos]
    of_digest = dict.fromkeys(given(case)[2].values(), "sha256")
    return {
        "rows": [line for line in lines if line.startswith(("- [", "  <!-- loopx:todo "))],
        "sections": [line for line in lines if line.startswith("## ") and "Next" not in line],
        "markers": MARKER.findall(rendering.markdown),
        "narrative": "".join(owned.narrative()),
        "bare_newlines": len(re.findall(r"(?<!\r)\n", rendering.markdown)),
        "ids": [one["todo_id"] for one in shown],
        "ordinals": [one["index"] for one in shown],
        "titles": [one.get("title") for one in shown],
        "classes": [one["task_class"] for one in shown],
        "requirements": [of_digest.get(str(one.get("completion_validation_sha256"))) for one in shown],
        "digests": rendering.section_record_sha256,
    }


@pytest.mark.parametrize("case", load_cases(Path(__file__).parent / "render"))
def test_case(case: dict[str, Any]) -> None:
    """Each page states one part of the contract.

    Rows LX-048, LX-059 to LX-069, LX-073, LX-076 to LX-082, LX-088, LX-117 to LX-120.
    """
    found = outcome(case)
    wanted = case.get("expect", {})

    if "refusal" in wanted:
        assert found == wanted["refusal"]
        return
    assert isinstance(found, Rendering)
    if "digests" in wanted:
        wanted["digests"] = {role: value_sha256(records) for role, records in wanted["digests"].items()}
    seen = views(case, found)
    assert {view: seen[view] for view in wanted} == wanted
    if "rendered" in case:
        assert DIGEST.sub("…", found.markdown) == case["rendered"]


def test_source_and_rendering_are_read_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """LX-075: nothing is read again to prove that it came out right."""
    seen: list[str] = []

    def look(text: str) -> Survey:
        seen.append(text)
        return survey(text)

    # What reads a rendering back finds it in its own module.
    for module in (render_module, owned_module):
        monkeypatch.setattr(module, "survey", look)

    found = rendered(SECTIONS, [record()])

    assert seen == [SECTIONS, found.markdown]


class TestRefusals:
    """A refusal names the record, the field and the rule, and quotes no value."""

    def test_facts_for_a_program(self) -> None:
        with pytest.raises(RenderRejected) as raised:
            rendered(SECTIONS, [record(), record(todo_id="todo_two", text="a <!-- loopx:x")])

        facts = raised.value.facts
        assert raised.value.category == "refused"
        assert (facts["reason_code"], facts["todo_id"], facts["field"], facts["path"]) == (
            "todo_text_has_marker", "todo_two", "text", "$.params.records[1].text",
        )  # fmt: skip

    @pytest.mark.parametrize(
        ("members", "said", "wanted"),
        [
            ({"text": None}, "this record has no text, which is required", "schema_version, todo_id, "),
            ({"status": "in_progress"}, "status has a value", "open or done or blocked or deferred"),
            ({"continuation_policy": "x"}, "continuation_policy", "independent_handoff or same_agent_non_delivery"),
            ({"text": "[P1] two  words"}, "text would be read back as something else: its words are", ""),
            ({"status": "done"}, "done would be read back as something else: it is true where the status is", ""),
        ],
    )
    def test_a_refusal_says_what_would_be_right(self, members: dict[str, Any], said: str, wanted: str) -> None:
        with pytest.raises(RenderRejected, match=said) as raised:
            rendered(SECTIONS, [record(**members)])

        assert str(raised.value.facts.get("wanted", "")).startswith(wanted)
        assert bool(wanted) == ("wanted" in raised.value.facts)

    @pytest.mark.parametrize(
        "members",
        [
            {"text": "SECRET  SECRET"},
            {"note": 7, "text": "SECRET"},
            {"decision_scope": {"kind": "SECRET", "granularity": "goal", "scope_key": "k"}},
            {"todo_id": "SECRET"},
            {"claimed_by": "<SECRET>"},
            {"completion_validation_required": True, "completion_validation_sha256": "SECRET"},
        ],
    )
    def test_no_value_is_quoted(self, members: dict[str, Any]) -> None:
        with pytest.raises(RenderRejected) as raised:
            rendered(SECTIONS, [record(**members)], todo_one={"validation_command": "SECRET"})

        assert "SECRET" not in f"{raised.value} {raised.value.facts}"

    @pytest.mark.parametrize("revision", ["", "rev with space", "rev\n", "rév", "a-->"])
    def test_a_revision_is_a_word(self, revision: str) -> None:
        with pytest.raises(InvalidRequest):
            rendered(SECTIONS, [], revision)

    def test_arguments_are_never_changed(self) -> None:
        """LX-077 and LX-085: rendering alters no record."""
        scope = {"kind": "other", "granularity": "goal", "scope_key": "k"}
        records = [record(decision_scope=dict(scope), claimed_by=None)]
        rendered(SECTIONS, records)

        assert records == [record(decision_scope=scope, claimed_by=None)]


class TestProof:
    """Each self-check refuses on its own, whatever went wrong before it (LX-063 and LX-079)."""

    def refusal(self, change: tuple[str, str]) -> str:
        source = f"Before.\n{SECTIONS}"
        owned = read_owned(source)
        sections = sections_of(owned, admit([record(text="one"), record(todo_id="todo_two")], {}), REVISION)
        markdown = rendered(source, [record(text="one"), record(todo_id="todo_two")]).markdown
        prove(owned, sections, markdown)
        assert change[0] in markdown
        with pytest.raises(RenderRejected) as raised:
            prove(owned, sections, markdown.replace(*change))
        return raised.value.kind

    @pytest.mark.parametrize(
        ("change", "kind"),
        [
            (("Before.\n", "Before. \n"), "narrative_changed"),
            (("- go\n", "- go"), "narrative_changed"),
            (("one\n", "two\n"), "parity_mismatch"),
            (("status=open", "status=blocked"), "parity_mismatch"),
            (("- [ ] a\n  <!-- loopx:todo todo_id=todo_two status=open -->\n", ""), "parity_mismatch"),
            (("- [ ] one\n", "- [ ]  one\n"), "not_idempotent"),
            ((REVISION, "file:s:2"), "not_idempotent"),
            (("role=agent end", "role=user end"), "unsafe_rendering"),
        ],
    )
    def test_a_rendering_that_is_not_right(self, change: tuple[str, str], kind: str) -> None:
        assert self.refusal(change) == kind


class TestLosslessReading:
    """Summaries are bounded for people; what is compared or imported is whole (LX-080 to LX-083)."""

    @pytest.mark.parametrize(
        ("metadata", "field"),
        [
            ("material_change_generation=soon", "material_change_generation"),
            ("validation_timeout_seconds=1.5", "validation_timeout_seconds"),
            ("validation_command_argv=%5B", "validation_command_argv"),
            ("validation_command_argv=%7B%7D", "validation_command_argv"),
        ],
    )
    def test_what_no_record_can_hold_is_named(self, metadata: str, field: str) -> None:
        (todo,) = read_owned(f"## Agent Todo\n- [ ] a\n  <!-- loopx:todo todo_id=todo_one {metadata} -->\n").todos
        with pytest.raises(UnreadableField) as raised:
            decode_todo(todo)

        assert raised.value.field == field

    def test_continuations_and_long_texts_are_whole(self) -> None:
        text = "[P1] " + "长 word " * 400
        (todo,) = read_owned(f"## Agent Todo\n- [ ] {text}\n  and the end\n").todos
        shown = decode_todo(todo)

        assert shown["text"] == f"{text}and the end"
        assert shown["title"] == shown["text"].removeprefix("[P1] ")
        assert len(todo.text) == 500
