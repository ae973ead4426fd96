"""Promotion: bootstrap, qualify, promote or roll back; once, on purpose and without loss.

Rows LX-009 to LX-012, LX-052, LX-053, LX-093, LX-094, LX-151, LX-153 and LX-155 of the features.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from authority.markdown import HEAD, asked, unpromoted_goal
from authority.planted import GOAL, LATER, goal_of, refusal, run
from stateward_engine.authority import commands as c
from stateward_engine.authority.promotion import demand_qualified, qualification
from stateward_engine.errors import Refused
from stateward_engine.goals.document import read_bytes, read_document
from stateward_engine.goals.qualification import qualify
from stateward_engine.goals.render import render
from stateward_engine.goals.source_decoder import decode_todo

if TYPE_CHECKING:
    from stateward_engine.goals.qualification import Report
    from stateward_engine.goals.todos import Todo
    from stateward_engine.state.view import View

CASES = Path(__file__).parents[1] / "conformance" / "field_cases"
SOUND = (
    "# Looms\n\n## User Todo\n\n- [x] [P0] Choose\n  <!-- loopx:todo todo_id=todo_zzz -->\n"
    "- [ ] [P0] Sign\n  <!-- loopx:todo todo_id=todo_aaa last_actor_agent_id=ada -->\n\n"
    "## Agent Todo\n\n- [ ] [P1] Wind\n  bobbins\n  <!-- loopx:todo todo_id=todo_mmm validation_command=make -->\n\n"
    "## Completed Work Archive\n\n- [x] Spin\n  <!-- loopx:todo todo_id=todo_old role=agent -->\n"
)


def report_on(text: str) -> Report:
    return qualify(read_document(text))


def bootstrap(report: Report, operation_id: str = "boot-1") -> c.BootstrapShadow:
    return c.BootstrapShadow(
        goal_id=GOAL,
        operation_id=operation_id,
        records=report.records,
        declarations=report.declarations,
        source_sha256=report.source_sha256,
    )


def promote(report: Report, **members: Any) -> Any:
    return asked(c.PromoteGoal, **{"operation_id": "go-1", "source_sha256": report.source_sha256, **members})


def rolled_back(operation_id: str = "back-1") -> Any:
    return asked(c.RollbackShadow, operation_id=operation_id)


def shadowed(report: Report, view: View | None = None) -> View:
    return run(view or unpromoted_goal(), bootstrap(report))[1]


def reason(view: View, command: Any) -> Any:
    return refusal(view, command).facts["reason_code"]


# -- the way there -------------------------------------------------------------------------------------------------


def test_a_shadow_decides_nothing() -> None:
    """LX-052: the document stays the authority until promotion."""
    report = report_on(SOUND)
    answer, view = run(unpromoted_goal(), bootstrap(report))
    goal = goal_of(view)
    assert (answer["shadow_state"], answer["todo_count"], answer["status"]) == ("ready", 4, "applied")
    assert (goal.promoted, goal.records, goal.source_authority) == (False, {}, "markdown_active_state")
    assert qualification(goal, report)["qualified"]


def test_promotion_is_one_entry_with_records_mode_and_declarations() -> None:
    """LX-009, LX-010: ids and order are kept by an imported index that only orders."""
    report = report_on(SOUND)
    before = shadowed(report)
    answer, view = run(before, promote(report, handoff_mode="hard_lease"), LATER)
    goal = goal_of(view)
    assert (goal.promoted, goal.handoff_mode, goal.cursor) == (True, "hard_lease", goal_of(before).cursor + 1)
    assert (answer["status"], answer["handoff_mode"], answer["todo_count"]) == ("applied", "hard_lease", 4)
    assert {todo_id: record["index"] for todo_id, record in goal.records.items()} == {
        "todo_zzz": 1,
        "todo_aaa": 2,
        "todo_mmm": 1,
        "todo_old": 1,
    }
    assert goal.records["todo_aaa"]["last_actor_agent_id"] == "ada"
    assert goal.declarations == {"todo_mmm": {"validation_command": "make"}}
    assert goal.plane("shadow").keys() == {"state", "source_sha256", "at"}


def test_a_promoted_goal_renders_onto_its_document_in_the_same_order() -> None:
    """LX-010: equal priorities keep their order; LX-053: what is no todo stays."""
    report = report_on(SOUND)
    _, view = run(shadowed(report), promote(report))
    goal = goal_of(view)
    rendered = render(SOUND, goal.records.values(), goal.provider_revision, goal.declarations).markdown
    ids = [[todo.todo_id for todo in read_document(text).todos] for text in (SOUND, rendered)]
    assert ids[0] == ids[1]


def test_promotion_happens_once_and_there_is_no_way_back() -> None:
    """LX-093, LX-094, LX-155: rollback is asymmetric, and a repeat is the first answer."""
    report = report_on(SOUND)
    first, view = run(shadowed(report), promote(report))
    again, same = run(view, promote(report))
    assert (again["status"], again["original_receipt"]) == ("replayed", first["original_receipt"])
    assert same is view
    late = (promote(report, operation_id="go-2"), rolled_back(), bootstrap(report, "boot-2"))
    assert {reason(view, command) for command in late} == {"authority_promoted"}
    with pytest.raises(Refused):
        qualification(goal_of(view), report)


def test_a_rollback_quarantines_the_shadow_until_another_is_made() -> None:
    """LX-093: before promotion."""
    report = report_on(SOUND)
    assert reason(unpromoted_goal(), rolled_back()) == "authority_shadow_missing"
    answer, view = run(shadowed(report), rolled_back())
    assert answer["shadow_state"] == "quarantined"
    assert reason(view, promote(report)) == "authority_shadow_quarantined"
    assert run(view, rolled_back("back-2"))[0]["status"] == "no_change"
    (told,) = qualification(goal_of(view), report)["refusals"]
    assert told == {"reason_code": "authority_shadow_quarantined", "line": None, "todo_id": None}
    _, anew = run(view, bootstrap(report, "boot-2"))
    assert run(anew, promote(report))[0]["status"] == "applied"


def test_only_what_was_shadowed_is_promoted() -> None:
    """LX-011: nothing is migrated by itself."""
    report, other = report_on(SOUND), report_on(SOUND.replace("Sign", "Sign it"))
    assert reason(unpromoted_goal(), promote(report)) == "authority_shadow_missing"
    assert reason(shadowed(report), promote(other)) == "authority_shadow_source_changed"
    _, view = run(shadowed(report), bootstrap(other, "boot-2"))
    _, view = run(view, promote(other))
    assert goal_of(view).records["todo_aaa"]["text"] == "[P0] Sign it"


def test_a_second_shadow_replaces_the_first_one_whole() -> None:
    less = SOUND.replace(" last_actor_agent_id=ada", "").replace(" validation_command=make", "")
    one, other = report_on(SOUND), report_on(less[: less.index("## Completed")])
    _, view = run(shadowed(one), bootstrap(other, "boot-2"))
    shadow = goal_of(view).plane("shadow")
    assert (shadow["records"], shadow["declarations"]) == (other.records, {})
    assert run(view, bootstrap(other, "boot-3"))[0]["status"] == "no_change"


def test_the_handoff_mode_waits_for_leases() -> None:
    report = report_on(SOUND)
    lease = {"status": "active", "expires_at": "2026-12-01T13:00:00Z", "owner": "ada", "version": 1}
    view = shadowed(report, unpromoted_goal(leases={"todo_mmm": lease}))
    assert reason(view, promote(report, handoff_mode="hard_lease")) == "todo_lease_conflict"
    assert run(view, promote(report))[0]["status"] == "applied"


# -- what does not qualify -------------------------------------------------------------------------------------------

ROW = "- [ ] a\n  <!-- loopx:todo todo_id=todo_one"
UNQUALIFIED = {
    "nothing to promote": ("# Looms\n\n## Agent Todo\n", "missing_todo_sections", 3, None),
    "a generated id": (f"{HEAD}- [ ] a\n", "implicit_todo_ids", 5, None),
    "an id twice": (f"{HEAD}{ROW} -->\n{ROW} -->\n", "duplicate_todo_ids", 8, None),
    "an id that is archived": (
        f"{HEAD}{ROW} -->\n\n## Completed Work Archive\n\n{ROW} role=agent -->\n",
        "duplicate_todo_ids",
        6,
        None,
    ),
    "an unknown key": (f"{HEAD}{ROW} colour=red -->\n", "unknown_metadata_key", 6, "colour"),
    "a repeated key": (f"{HEAD}{ROW} note=a note=b -->\n", "repeated_metadata_key", 6, "note"),
    "an invalid value": (f"{HEAD}{ROW} status=maybe -->\n", "invalid_metadata_value", 6, "status"),
    "a number that is none": (
        f"{HEAD}{ROW} material_change_generation=many -->\n",
        "invalid_metadata_value",
        5,
        "material_change_generation",
    ),
    "an unfinished merge": (f"{HEAD}<<<<<<< a\n{ROW} -->\n>>>>>>> b\n", "conflict_marker", 5, None),
    "a nested row": (f"{HEAD}{ROW} -->\n  - [ ] b\n", "nested_todo", 7, None),
    "prose between rows": (f"{HEAD}{ROW} -->\nprose\n- [ ] b\n", "regions_read_differently", 8, None),
    "two sections of a role": (
        f"{HEAD}{ROW} -->\n\n## Codex Todo\n\n- [ ] b\n",
        "several_regions_of_one_role",
        8,
        None,
    ),
    "an archived row that says not whose it was": (
        f"{HEAD}{ROW} -->\n\n## Completed Work Archive\n\n- [x] b\n  <!-- loopx:todo todo_id=todo_two -->\n",
        "missing_required_field",
        10,
        "role",
    ),
    "a broken document": ("---\nstatus: active\n", "unterminated_frontmatter", 1, None),
}


@pytest.mark.parametrize("case", UNQUALIFIED)
def test_what_would_be_lost_or_guessed_is_refused_with_its_line(case: str) -> None:
    """LX-012: an unknown field is refused, not dropped."""
    text, reason_code, line, field = UNQUALIFIED[case]
    report = report_on(text)
    assert (reason_code, line, field) in {
        (found["reason_code"], found["line"], found.get("field")) for found in report.refusals
    }
    with pytest.raises(Refused) as caught:
        demand_qualified(report)
    assert caught.value.facts["reason_code"] == "authority_not_qualified"
    assert reason_code in str(caught.value.facts["refusals"])


def test_case_21_names_the_unknown_fields_and_their_todos() -> None:
    """Field case 21: the import is refused with the list of field names and todo ids."""
    report = qualify(read_bytes((CASES / "21-real-shape-unknown-metadata" / "input.md").read_bytes()))
    unknown = {
        (found["field"], found["todo_id"])
        for found in report.refusals
        if found["reason_code"] == "unknown_metadata_key"
    }
    fields = {"required_role", "requires_acceptance", "acceptor_agent", "task_repositories"}
    assert {field for field, _ in unknown} == fields
    assert ("task_repositories", "todo_d13d20d71100") in unknown


def test_case_24_rows_behind_narrative_keep_a_document_from_promotion() -> None:
    """Field case 24: a row that the renderer does not own, and the legacy readers do, would be left behind."""
    report = qualify(read_bytes((CASES / "24-render-keeps-following-narrative" / "input.md").read_bytes()))
    assert "regions_read_differently" in {found["reason_code"] for found in report.refusals}


# -- laws ----------------------------------------------------------------------------------------------------------


WORDS = st.sampled_from(["a", "[P1] b", "[P1-now] c", "d\n  goes on", "[x](y)", "e <b>"])
TOKENS = st.sampled_from(
    ["", "status=blocked", "note=a%20b claimed_by=ada", "no_followup=false", "validation_label=x", "decision_scope=a"]
)
GAPS = st.sampled_from(["", "", "", "\n", "prose\n"])


@st.composite
def goals(draw: st.DrawFn) -> str:
    """Return a document of which about half qualify."""
    text, number = "# Looms\n", 0
    headings = draw(st.permutations(["## User Todo", "## Agent Todo", "## Completed Work Archive", "## Next Action"]))
    for heading in headings:
        text += f"\n{heading}\n\n"
        for _ in range(draw(st.integers(0, 3))):
            box, words, tokens = draw(st.sampled_from(" x-")), draw(WORDS), draw(TOKENS)
            whose = " role=user" if heading.endswith("Archive") else ""
            text += (
                f"- [{box}] {words}\n  <!-- loopx:todo todo_id=todo_{9 - number}00 {tokens}{whose} -->\n{draw(GAPS)}"
            )
            number += 1
    return text


@settings(max_examples=200, derandomize=True, deadline=None)
@given(goals())
def test_what_qualifies_is_promoted_without_loss(text: str) -> None:
    """Law: the records of a document that qualifies are all of its rows, and render onto it in their order."""
    document = read_document(text)
    report = qualify(document)
    assume(not report.refusals)
    rendered = read_document(render(text, report.records.values(), "r:1", report.declarations).markdown)
    for role in ("user", "agent", "archive"):
        before, after = (
            [shown(todo) for todo in each.todos if todo.region.role == role] for each in (document, rendered)
        )
        assert before == after
    assert len(report.records) == len(document.todos)


def shown(todo: Todo) -> dict[str, Any]:
    return {key: value for key, value in decode_todo(todo).items() if key != "source_section"}
