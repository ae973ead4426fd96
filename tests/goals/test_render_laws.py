"""Laws of rendering, searched for counterexamples.

`STATEWARD_GOAL_DOCUMENTS` is how many documents are searched, 200 unless it says otherwise.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goals.rendering import SECTIONS, record, rendered
from stateward_engine.errors import RenderRejected
from stateward_engine.goals.compact import compact
from stateward_engine.goals.digests import value_sha256
from stateward_engine.goals.document import read_document
from stateward_engine.goals.owned import read_owned
from stateward_engine.goals.source_decoder import decode_todo

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

pytestmark = pytest.mark.property
DOCUMENTS_MAX = int(os.environ.get("STATEWARD_GOAL_DOCUMENTS", "200"))
RENDERINGS = 20
LARGE_CHARACTERS = 5_000_000
law = settings(max_examples=DOCUMENTS_MAX, derandomize=True, deadline=None)
# Records need fewer examples than documents, and documents of that size take long.
law_of_records = settings(law, max_examples=max(50, DOCUMENTS_MAX // 4))
law_of_large = settings(law, max_examples=max(1, DOCUMENTS_MAX // 400))

# -- records ---------------------------------------------------------------------------------------------------------

characters = st.characters(exclude_categories=["Cs"])
texts = (
    st.text(characters, min_size=1, max_size=40).map(compact).filter(lambda text: text and "<!-- loopx:" not in text)
)
labels = st.sampled_from(["", "", "[P0] ", "[p4] ", "[P1-urgent] ", "[P2]", "[P5] ", "[x] "])
# A few words rather than all that would do: drawing them would take longer than rendering.
names = st.sampled_from(["ada", "kiro", "net_work", "z9_", "build", "a0a0a0a0a0a0"])
ids = names.map("todo_{}".format)
flags = st.booleans()
generations = st.integers(0, 10**18 - 1)
scopes = st.builds(
    lambda kind, granularity, key, version: {"kind": kind, "granularity": granularity, "scope_key": key} | version,
    st.sampled_from(["private_read", "direction", "other"]),
    st.sampled_from(["action", "goal", "global"]),
    st.sampled_from(["*", "a", "window:2", "src/*"]),
    st.sampled_from([{}, {"schema_version": "decision_scope_v0"}]),
)


def lists(members: SearchStrategy[Any], key: Any = None) -> SearchStrategy[Any]:
    return st.lists(members, max_size=3, unique_by=key)


def identity(scope: dict[str, Any]) -> tuple[str, str, str]:
    return scope["kind"], scope["granularity"], scope["scope_key"]


outcomes = st.builds(
    lambda outcome, scope, source: {"outcome": outcome, "decision_scope": scope, "source_todo_id": source},
    st.sampled_from(["approve", "reject", "cancel"]),
    scopes,
    ids,
)
TEXT_MEMBERS = (
    *("target_key", "monitor_effect_id", "cadence", "next_due_at", "expires_at", "watch_only", "result_hash"),
    *("last_checked_at", "consecutive_no_change", "material_change", "max_no_change_before_replan", "note"),
    *("evidence", "reason", "completed_at", "completion_turn_key", "updated_at", "handoff_note"),
)
MEMBERS: dict[str, SearchStrategy[Any]] = {
    "task_class": st.sampled_from(["advancement_task", "continuous_monitor", "user_gate"]),
    "action_kind": names,
    "task_domain": names,
    "capability_binding_ref": names.map("ns:{}".format),
    "task_repository": st.just("git:example.org/ada/project"),
    "continuation_policy": st.just("independent_handoff"),
    "required_write_scopes": lists(st.sampled_from(["src/**", "docs/a.md", "预算/*", "a+b%20c"]), str),
    "required_capabilities": lists(names, str),
    "target_capabilities": lists(names, str),
    "explore_result_node_refs": lists(names, str),
    "decision_scope": scopes,
    "required_decision_scopes": lists(scopes, identity),
    "decision_outcome": st.just("approve"),
    "decision_scope_outcomes": lists(outcomes, lambda outcome: identity(outcome["decision_scope"])),
    "claimed_by": names.map("agent-{}".format),
    "created_by": names,
    "last_actor_agent_id": names,
    "bound_agent": names,
    "goal_bound": flags,
    "blocks_agent": names,
    "excluded_agents": lists(names.map("x-{}".format), str).map(sorted),
    "global_gate": flags,
    "unblocks_todo_id": ids,
    "resume_when": ids.map("todo_done:{}".format),
    "resume_monitor_generation": generations,
    "resume_condition": st.just({"kind": "todo_done"}),
    "resume_ready": flags,
    "no_followup": flags,
    "successor_todo_ids": lists(ids, str),
    "completion_continuation": st.just("successor"),
    "completion_recovery": st.just("same_turn_terminal_closeout"),
    "completion_receipt_id": texts,
    "completion_result": st.just({"ok": True}),
    "replan_obligation_id": st.just("replan-0123456789abcdef"),
    **dict.fromkeys(TEXT_MEMBERS, texts),
    "material_change_generation": generations,
    "superseded_by": ids,
}
statuses = st.sampled_from([("open", False), ("blocked", False), ("done", True), ("deferred", True)])
places = st.sampled_from([{}, {}, {"schema_version": "todo_item_v0", "source_section": "Agent Todo"}])


@st.composite
def drawn_records(draw: Any) -> list[dict[str, Any]]:
    records = []
    for todo_id in draw(st.lists(ids, max_size=5, unique=True)):
        status, done = draw(statuses)
        place = draw(places)
        index = {"index": draw(st.integers(0, 9))} if place and draw(flags) else {}
        keys = draw(st.sets(st.sampled_from(sorted(MEMBERS)), max_size=6))
        records.append(
            record(
                todo_id=todo_id,
                role=draw(st.sampled_from(["user", "agent"])),
                archive_state=draw(st.sampled_from(["active", "active", "archive"])),
                text=compact(draw(labels) + draw(texts)),
                status=status,
                done=done,
                **{key: draw(MEMBERS[key]) for key in sorted(keys)},
                **place,
                **index,
            )
        )
    return records


record_lists = drawn_records()

# -- documents -------------------------------------------------------------------------------------------------------

HEADINGS = {
    "user": ("User Todo", "OWNER READING QUEUE", "User Todo / Owner Review Reading Queue"),
    "agent": ("Agent Todo", "  codex todo ", "Project Agent Todo"),
    "archive": ("Completed Work Archive",),
}
ROWS = ("- [ ] old", "  - no row", "* [x] [P1] older", "- [-] last", "  <!-- loopx:todo note=x -->", "", "  more words")
BLOCKS = (
    ("Title", "-----"),
    ("Title", "======="),
    ("# First", "", "## Second", "### Third", " ## Indented", "## Owner"),
    ("````md", "```", "## Agent Todo", "- [ ] example", "```", "<!-- loopx:todo-region-v0 role=agent end -->", "````"),
    ("~~~", "## User Todo", "~~~~"),
    ("<!-- a comment", "## User Todo", "- [ ] hidden", "-->"),
    ("- bullet", "- [ ] a row that nobody owns", "  <!-- loopx:todo todo_id=todo_free -->"),
    ("trailing  ", "\ttab", "", "", "one\u2028two\x0bthree\x85four \ufeff"),
    ("| a | b |", "|---|---|", "no <<<<<<< of Git", "<!-- one line -->"),
)
# Cuts out sections by their markers alone: what is left is narrative, whoever rendered it.
SECTION = re.compile(
    r"## [^\r\n]*(?:\r\n|\n)<!-- loopx:todo-region-v0 role=(\w+) begin -->.*?"
    r"<!-- loopx:todo-region-v0 role=\1 end -->(?:\r\n|\n)",
    re.DOTALL,
)


@st.composite
def narratives(draw: Any, ends: SearchStrategy[str]) -> str:
    """Draw text that begins with prose, so that it never continues the region before it."""
    lines = ["Prose.", *(line for block in draw(st.lists(st.sampled_from(BLOCKS), max_size=4)) for line in block)]
    return "".join(line + draw(ends) for line in lines)


@st.composite
def regions(draw: Any, role: str, ends: SearchStrategy[str]) -> str:
    lines = [f"## {draw(st.sampled_from(HEADINGS[role]))}"]
    rows = draw(st.lists(st.sampled_from(ROWS[:1] + ROWS[2:]), max_size=5))
    if draw(flags):
        # Continuations are foreign to a marked region.
        rows = [row for row in rows if row != ROWS[-1]]
        edges = [f"<!-- loopx:todo-region-v0 role={role} {edge} -->" for edge in ("begin", "end")]
        lines += [edges[0], *rows, edges[1]]
    else:
        # An indented line continues a task alone.
        lines += ["- [ ] task", *(row for row in rows if row), ""]
    return "".join(line + draw(ends) for line in lines)


@st.composite
def documents(draw: Any) -> tuple[str, str]:
    """Draw a document, and what of it is narrative."""
    ends = draw(st.sampled_from([st.just("\n"), st.just("\r\n"), st.just("\r"), st.sampled_from(["\n", "\r\n", "\r"])]))
    start = draw(st.sampled_from(["", "", "\ufeff"]))
    if draw(flags):
        start += "".join(line + draw(ends) for line in ("---", "status: active", "note: '## Agent Todo'", "---"))
    roles = draw(st.lists(st.sampled_from(sorted(HEADINGS)), min_size=1, max_size=3, unique=True))
    text = kept = start + draw(st.just("") | narratives(ends))
    for role in roles:
        text += draw(regions(role, ends))
        after = draw(narratives(ends))
        text, kept = text + after, kept + after
    # Without a last line end, or with a fence that never closes.
    tail = draw(st.sampled_from(["", "the end", "```\n## Agent Todo\n- [ ] example", "\n\n\n"]))
    return text + tail, kept + tail


def check_bytes(document: tuple[str, str], lists_of_records: list[list[dict[str, Any]]]) -> None:
    """Render one list after another onto a document, and look at every byte that is not ours."""
    markdown, narrative = document
    for number in range(RENDERINGS):
        records = lists_of_records[number % len(lists_of_records)]
        rendering = rendered(markdown, records, f"file:s:{number}")
        assert SECTION.sub("", rendering.markdown).encode() == narrative.encode()
        assert rendering.changed
        markdown = rendering.markdown
    assert not rendered(markdown, records, f"file:s:{number}").changed


class TestBytes:
    """What is outside of the sections stays as it is, byte for byte (LX-059, LX-060, LX-065, LX-079)."""

    @law
    @given(documents(), st.lists(record_lists, min_size=1, max_size=3))
    def test_narrative_stays_through_many_renderings(
        self, document: tuple[str, str], lists_of_records: list[list[dict[str, Any]]]
    ) -> None:
        check_bytes(document, lists_of_records)

    @pytest.mark.parametrize("line", ["x" * 79 + "\n", "行" * 20_000 + "\r\n"])
    @law_of_large
    @given(document=documents(), records=record_lists)
    def test_a_large_narrative_stays(self, line: str, document: tuple[str, str], records: list[dict[str, Any]]) -> None:
        text, kept = document
        filler = "Prose.\n" + line * (LARGE_CHARACTERS // len(line)) + "\n"
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        text, kept = text.removeprefix(mark), kept.removeprefix(mark)
        check_bytes((mark + filler + text, mark + filler + kept), [records])


# What readers say of metadata that they take otherwise than it is written.
MISREAD = {
    *("implicit_todo_ids", "duplicate_todo_ids", "invalid_todo_id", "invalid_metadata_value", "normalised_value"),
    *("unknown_metadata_key", "repeated_metadata_key", "stray_metadata_text", "marker_status_conflict"),
    *("not_a_todo_marker", "empty_todo_text", "metadata_not_indented", "metadata_wrapped", "nested_todo"),
}


class TestParity:
    """What is rendered reads as its records (LX-061, LX-063, LX-077, LX-080, LX-088, LX-118, LX-136)."""

    @law_of_records
    @given(record_lists)
    def test_records_are_read_back(self, records: list[dict[str, Any]]) -> None:
        rendering = rendered(SECTIONS, records)
        shown = {one["todo_id"]: one for one in map(decode_todo, read_owned(rendering.markdown).todos)}

        assert shown.keys() == {one["todo_id"] for one in records}
        for one in records:
            for key in ("role", "status", "done", "text", "archive_state"):
                assert shown[one["todo_id"]][key] == one[key]
            for key in MEMBERS.keys() & one.keys() & shown[one["todo_id"]].keys():
                assert without_schema(shown[one["todo_id"]][key]) == without_schema(one[key])

    @law_of_records
    @given(record_lists)
    def test_readers_agree_with_the_lossless_one(self, records: list[dict[str, Any]]) -> None:
        document = read_document(rendered(f"---\nstatus: active\n---\n{SECTIONS}", records).markdown)

        assert document.refusal is None
        assert not MISREAD & {problem.code for problem in document.problems}
        assert {todo.todo_id for todo in document.todos} == {one["todo_id"] for one in records}

    @law_of_records
    @given(record_lists)
    def test_order_of_the_list_means_nothing(self, records: list[dict[str, Any]]) -> None:
        assert rendered(SECTIONS, records) == rendered(SECTIONS, records[::-1])

    @law_of_records
    @given(record_lists)
    def test_digests_are_of_what_is_stored(self, records: list[dict[str, Any]]) -> None:
        rendering = rendered(SECTIONS, [one | {"evidence": one.get("evidence")} for one in records])
        for role, digest in rendering.section_record_sha256.items():
            of_role = [
                one for one in records if role == ("archive" if one["archive_state"] == "archive" else one["role"])
            ]
            ordered = sorted(of_role, key=lambda one: (one.get("index", 2**31 - 1), one["todo_id"]))
            assert digest == value_sha256(ordered)


def without_schema(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_schema(member) for key, member in value.items() if key != "schema_version"}
    return [without_schema(member) for member in value] if isinstance(value, list) else value


MARKERS = (
    "<!-- loopx:todo-region-v0 role=agent end -->",
    "<!--",
    "-->",
    "```",
    "## Agent Todo",
    "- [ ] x",
    "[P1] ",
    "\n",
)
hostile = st.lists(st.sampled_from(MARKERS) | st.text(max_size=8), min_size=1, max_size=6).map("".join)


class TestHostileText:
    """Whatever is admitted renders and reads back; nothing gets out of its row."""

    @law
    @given(st.lists(st.tuples(hostile, hostile), min_size=10, max_size=10))
    def test_a_text_is_refused_or_read_back(self, texts_and_notes: list[tuple[str, str]]) -> None:
        for text, note in texts_and_notes:
            try:
                markdown = rendered(SECTIONS, [record(text=text, note=note)]).markdown
            except RenderRejected:
                assert "<!-- loopx:" in text or compact(text) != text or not text or compact(note) != note or not note
                continue
            assert "<!-- loopx:" not in text
            (todo,) = read_owned(markdown).todos
            assert (todo.full_text, todo.fields["note"]) == (text, note)
            assert SECTION.sub("", markdown) == "## Next Action\n\n- go\n"
