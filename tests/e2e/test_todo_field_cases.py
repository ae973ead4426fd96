"""Field cases about todos that people keep in Markdown: what a write may touch, and what it is refused for.

Each test or class is the list of what `expect.md` of its case says MUST be of mutations; what it says of reading is in
`tests/goals/test_field_cases.py`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import pytest
from field_goal import FIELD_CASES, ROW, FieldGoal, case_file, clean, demand_pending

from wire import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from field_goal import GoalOf

    from wire import Daemon


class TestUnclosedFence:
    """02: what nobody can see is not written into, and its place is told. LX-072."""

    def test_a_rendering_fails_closed(self, goal_of: GoalOf) -> None:
        goal = goal_of(clean({"todo_curve": "[P1] Curve"}, {"todo_cones": "[P1] Cones"}))
        goal.promote()
        goal.save(case_file("02"))

        report = goal.project()
        answer = goal.call("todo_update", todo_id="todo_cones", note="orange ones")

        assert (report["status"], report["retry_business_mutation"]) == ("pending", False)
        assert demand_pending(answer, "todo_projection_render_rejected")["kind"] == "no_todo_region"
        assert goal.content == case_file("02")
        assert goal.todos()["todo_cones"]["note"] == "orange ones"

    def test_no_row_is_added_where_nobody_would_see_it(self, goal_of: GoalOf) -> None:
        goal = goal_of(case_file("02"))

        refused = goal.refusal("todo_add", role="agent", text="Move the cones")

        assert (refused["category"], refused["kind"], refused["line"]) == ("unsafe_document", "unclosed_fence", 12)
        assert goal.content == case_file("02")

    def test_the_editor_is_shown_the_fence(self, goal_of: GoalOf) -> None:
        assert ("unclosed_fence", 11) in goal_of(case_file("02")).told_at()


def test_03_a_completion_leaves_the_template_in_the_fence_alone(goal_of: GoalOf) -> None:
    goal = goal_of(case_file("03"))

    goal.call("todo_complete", todo_id="todo_pr_body", evidence="PR 12")

    removed, added = goal.lines_that_differ(case_file("03"))
    assert len(removed) == len(added) == 2
    assert added[0] == removed[0].replace(b"- [ ]", b"- [x]")
    assert added[1].startswith(b"  <!-- loopx:todo todo_id=todo_pr_body status=done ")
    assert goal.content.count(b"- [ ]") == case_file("03").count(b"- [ ]") - 1


class TestDuplicateIds:
    """08: an id that several rows have names none of them."""

    @pytest.mark.parametrize(("todo_id", "lines"), [("todo_yarn", [10, 17]), ("todo_warp", [15, 24])])
    @pytest.mark.parametrize("method", ["todo_complete", "todo_update", "todo_claim", "lease_acquire", "todo_list"])
    def test_it_is_refused_with_both_places(self, goal_of: GoalOf, method: str, todo_id: str, lines: list[int]) -> None:
        goal = goal_of(case_file("08"))
        members = {
            "todo_update": {"note": "n"},
            "todo_claim": {"claimed_by": "agent-a"},
            "lease_acquire": {"owner": "agent-a", "idempotency_key": "k"},
        }

        refused = goal.refusal(method, todo_id=todo_id, **members.get(method, {}))

        assert (refused["reason_code"], refused["lines"]) == ("duplicate_todo_id", lines)
        assert goal.content == case_file("08")

    def test_all_rows_are_listed(self, goal_of: GoalOf) -> None:
        listed = goal_of(case_file("08")).call("todo_list")["todos"]

        assert [(todo["role"], todo["todo_id"]) for todo in listed] == [
            ("user", "todo_yarn"),
            ("agent", "todo_warp"),
            ("agent", "todo_yarn"),
            ("agent", "todo_heddle"),
        ]

    def test_each_occurrence_points_to_the_other(self, goal_of: GoalOf) -> None:
        goal = goal_of(case_file("08"))
        found = {
            (problem["range"]["start"]["line"], related["range"]["start"]["line"])
            for problem in goal.problems()
            if problem["code"] == "duplicate_todo_ids"
            for related in problem["related"]
        }

        assert found == {(10, 17), (17, 10), (15, 24), (24, 15)}

    def test_a_rendering_fails_closed(self, goal_of: GoalOf) -> None:
        goal = goal_of(clean({"todo_yarn": "[P1] Yarn"}, {"todo_warp": "[P1] Warp"}))
        goal.promote()
        goal.save(case_file("08"))

        assert goal.project()["status"] == "pending"
        assert goal.content == case_file("08")

    @pytest.mark.parametrize("promoted", [False, True])
    @pytest.mark.parametrize("where", ["active", "archive"])
    def test_no_id_is_given_out_twice(self, goal_of: GoalOf, promoted: bool, where: str) -> None:
        """The id that would follow from the operation stands in the file, in the archive, or in the store."""
        taken = "todo_802b4a6caac933b785c989e1"
        row = ROW.format(todo_id=taken, text="[P1] Was there first").replace("status=open", "status=open role=agent")
        goal = goal_of(
            clean(agent={taken: "[P1] Was there first"})
            if where == "active"
            else clean(agent={"todo_other": "[P1] Other"}) + f"\n## Completed Work Archive\n\n{row}"
        )
        if promoted:
            goal.promote()

        outcome = goal.refusal("todo_add", role="agent", text="Another", operation_id="op-add-1")

        assert outcome["reason_code"] == "duplicate_todo_id"


class TestGeneratedIds:
    """09: a generated id that moved names nothing; one that is acted on becomes explicit in the same write."""

    @pytest.fixture
    def goal(self, goal_of: GoalOf) -> FieldGoal:
        return goal_of(case_file("09", "before"))

    def test_a_stale_one_is_not_found_and_the_candidates_are_named(self, goal: FieldGoal) -> None:
        first, second = goal.todos()
        goal.save(case_file("09", "after"))

        for method, todo_id, members in (
            ("todo_claim", first, {"claimed_by": "agent-a"}),
            ("todo_complete", second, {}),
        ):
            refused = goal.refusal(method, todo_id=todo_id, **members)
            assert refused["reason_code"] == "todo_not_found"
            assert [*refused["candidates"]] == [*goal.todos()]
        assert goal.content == case_file("09", "after")

    def test_a_valid_one_is_written_down_and_answered(self, goal: FieldGoal) -> None:
        first, second = goal.todos()

        answer = goal.call("todo_claim", todo_id=first, claimed_by="agent-a", operation_id="claim-1")

        given = answer["todo_id"]
        _, added = goal.lines_that_differ(case_file("09", "before"))
        assert len(added) == 1
        assert f" todo_id={given} ".encode() in added[0]
        assert goal.todos()[given]["text"] == "Sort the screws."
        assert second in goal.todos()


def test_10_equal_words_are_different_todos(goal_of: GoalOf) -> None:
    goal = goal_of(case_file("10"))

    goal.call("todo_complete", todo_id="todo_esc_three", agent_id="lead")
    removed, added = goal.lines_that_differ(case_file("10"))
    goal.call("todo_add", role="agent", text="[P1] Escalation: shelf 3 failed twice.", operation_id="k-new-1")

    assert len(removed) == len(added) == 1
    assert b"todo_id=todo_esc_three status=done" in added[0]
    todos = goal.todos()
    assert len(todos) == 4
    assert {todo["text"] for todo in todos.values()} == {"[P1] Escalation: shelf 3 failed twice."}
    assert [todo["status"] for todo in todos.values()] == ["done", "open", "done", "open"]
    assert not [problem for problem in goal.problems() if problem["severity"] == "error"]


class TestLongText:
    """11: sources are whole, summaries are bounded and say so, and one that comes back shortens nothing."""

    LENGTHS: Final = {"todo_len_500": 500, "todo_len_501": 501, "todo_len_1600": 1600}

    @pytest.fixture(params=["markdown", "ledger"])
    def goal(self, goal_of: GoalOf, request: pytest.FixtureRequest) -> FieldGoal:
        goal = goal_of(case_file("11"))
        if request.param == "ledger":
            goal.promote()
        return goal

    def test_a_summary_says_that_it_is_one(self, goal: FieldGoal) -> None:
        for todo_id, length in self.LENGTHS.items():
            listed = goal.todos()[todo_id]
            exact = goal.call("todo_list", todo_id=todo_id)
            assert (listed["text_length"], listed["text_truncated"]) == (length, length > 500)
            assert len(exact["full_text"]) == length
            assert len(listed["text"]) == min(length, 500)
            assert listed["text"][:499] == exact["full_text"][:499]
            assert listed["text"].endswith("…") == (length > 500)

    def test_a_wrapped_text_is_one_line(self, goal: FieldGoal) -> None:
        exact = goal.call("todo_list", todo_id="todo_wrapped")

        assert exact["full_text"] == "[P1] 第一行文字 第二行\uff0c接着写下去 第三行 last obligation"
        assert exact["todo"]["title"] == "第一行文字 第二行\uff0c接着写下去 第三行 last obligation"

    @pytest.mark.parametrize("todo_id", ["todo_len_501", "todo_len_1600"])
    def test_a_summary_that_comes_back_is_refused(self, goal: FieldGoal, todo_id: str) -> None:
        before = goal.content

        refused = goal.refusal("todo_update", todo_id=todo_id, text=goal.todos()[todo_id]["text"])

        assert "text_is_bounded_summary" in json.dumps(refused)
        assert goal.content == before
        assert goal.todos()[todo_id]["text_length"] == self.LENGTHS[todo_id]

    def test_a_rendering_reads_the_same_and_a_second_one_changes_no_byte(self, goal_of: GoalOf) -> None:
        goal = goal_of(case_file("11"))
        sources = {todo_id: goal.call("todo_list", todo_id=todo_id)["full_text"] for todo_id in goal.todos()}
        goal.promote()
        shown = goal.content

        assert goal.project()["status"] == "current"
        assert goal.content == shown
        assert {todo_id: goal.call("todo_list", todo_id=todo_id)["full_text"] for todo_id in sources} == sources
        for text in sources.values():
            assert text in shown.decode()


class TestLineEndings:
    """12: a completion touches its own row, in the endings that are there."""

    @pytest.mark.parametrize("file", ["mixed", "all-crlf"])
    def test_a_completion_keeps_every_other_byte(self, goal_of: GoalOf, file: str) -> None:
        before = case_file("12", file)
        goal = goal_of(before)
        start = before.index(b"- [ ] [P1] Print the boards.")
        end = before.index(b"-->", start) + 3

        goal.call("todo_complete", todo_id="todo_boards")

        after = goal.content
        assert after.startswith(before[:start])
        assert after.endswith(before[end:])
        ending = b"\r\n" if file == "all-crlf" else b"\n"
        assert after[start:].startswith(b"- [x] [P1] Print the boards." + ending + b"  <!-- loopx:todo ")

    def test_rows_come_in_the_endings_of_their_section(self, goal_of: GoalOf) -> None:
        goal = goal_of(case_file("12", "all-crlf"))
        goal.call("todo_add", role="agent", text="Hang the boards")
        assert re.search(rb"(?<!\r)\n", goal.content) is None

        goal.promote()
        goal.call("todo_complete", todo_id="todo_boards")

        assert goal.display == {"state": "current"}
        assert re.search(rb"(?<!\r)\n", goal.content) is None


class TestNotUtf8:
    """15: bytes that are no UTF-8 stay what they are, whatever the locale says they were. LX-148."""

    CLEAN: Final = clean(agent={"todo_post": "[P1] Post it"})

    @pytest.mark.parametrize("locale", [{"LANG": "zh_CN.GBK", "LC_ALL": "zh_CN.GBK"}, {"LC_ALL": "C"}])
    def test_in_each_locale(
        self, start: Callable[[], Daemon], monkeypatch: pytest.MonkeyPatch, locale: dict[str, str]
    ) -> None:
        for name, value in locale.items():
            monkeypatch.setenv(name, value)
        with FieldGoal(start(), self.CLEAN) as goal:
            goal.save(case_file("15"))
            with pytest.raises(UnicodeDecodeError) as bad:
                case_file("15").decode()
            with pytest.raises(Refused) as projection:
                goal.wire.call("goal_projection", {"path": str(goal.path)})
            listing = goal.refusal("todo_list")
            addition = goal.refusal("todo_add", role="agent", text="Print the notice.")

            for told in (projection.value.data, listing, addition):
                assert (told["kind"], told["byte_offset"]) == ("not_utf8", bad.value.start)
                assert "\ufffd" not in str(told)
            assert goal.content == case_file("15")

    def test_with_an_authority_the_add_is_committed_and_readable(self, goal_of: GoalOf) -> None:
        goal = goal_of(self.CLEAN)
        goal.promote()
        goal.save(case_file("15"))

        added = goal.call("todo_add", role="agent", text="Print the notice.", operation_id="k1")

        report = demand_pending(added, "todo_projection_target_unavailable")
        assert "UTF-8" in json.dumps(report)
        assert added["todo_id"] in goal.todos()
        assert goal.content == case_file("15")
        # Others are served as before.
        goal.wire.call("patch_state", {"patch": {"cwd": {"tactics": {"next": "on"}}}})
        assert goal.wire.call("read_state", {"path": "cwd.tactics.next"}) == {"value": "on"}


class TestNestedRows:
    """18: nesting is kept, or the write is refused; it is neither flattened nor reordered."""

    def test_a_completion_changes_its_row_alone(self, goal_of: GoalOf) -> None:
        goal = goal_of(case_file("18"))

        goal.call("todo_complete", todo_id="todo_filter", agent_id="agent-a")

        removed, added = goal.lines_that_differ(case_file("18"))
        assert added[0] == removed[0].replace(b"- [ ]", b"- [x]") == b"- [x] [P1] Build the filter.\n"
        assert len(added) == len(removed) == 2
        assert b"todo_id=todo_filter status=done" in added[1]

    def test_a_rendering_does_not_flatten_it(self, goal_of: GoalOf) -> None:
        todos = dict.fromkeys(("todo_filter", "todo_pipes", "todo_glue", "todo_tab"), "[P1] Build")
        goal = goal_of(clean(agent=todos))
        goal.promote()
        goal.save(case_file("18"))

        assert goal.project()["status"] == "pending"
        assert goal.content == case_file("18")

    def test_nor_does_a_promotion(self, goal_of: GoalOf) -> None:
        goal = goal_of(case_file("18"))

        refused = goal.refusal("authority_shadow_bootstrap")

        assert refused["reason_code"] == "authority_not_qualified"
        assert "nested_todo" in refused["refusals"]


class TestUnknownMetadata:
    """21: what we do not know, somebody else does."""

    def test_an_update_keeps_every_other_key_in_its_order(self, goal_of: GoalOf) -> None:
        goal = goal_of(case_file("21"))

        goal.call("todo_update", todo_id="todo_d13d20d71100", priority="P1")

        removed, added = goal.lines_that_differ(case_file("21"))
        assert added[0] == removed[0].replace(b"[P2]", b"[P1]")
        tokens = [
            [token for token in line.split() if not token.startswith(b"updated_at=")] for line in (removed[1], added[1])
        ]
        assert tokens[0] == tokens[1]
        assert b"task_repositories=printer%2Cweb" in goal.content
        assert (
            b"<!-- loopx:next-action schema=loopx_next_action_binding_v0 todo_id=todo_d13d20d71100 -->" in goal.content
        )

    def test_an_import_names_the_fields_and_their_todos(self, goal_of: GoalOf) -> None:
        """LX-012: refused rather than dropped."""
        goal = goal_of(case_file("21"))

        for method in ("authority_shadow_bootstrap", "authority_promote"):
            assert goal.refusal(method)["reason_code"] == "authority_not_qualified"
        report = goal.call("authority_shadow_qualify")

        unknown = [each for each in report["refusals"] if each["reason_code"] == "unknown_metadata_key"]
        assert {each["field"] for each in unknown} >= {
            "required_role",
            "requires_acceptance",
            "acceptor_agent",
            "task_repositories",
        }
        assert {each["todo_id"] for each in unknown} == {"todo_c02d0a865d71", "todo_e621d1501ff0", "todo_d13d20d71100"}
        assert goal.call("goal_status")["promoted"] is False
        assert goal.content == case_file("21")


class TestMalformedArguments:
    """31 n, o: one answer that says how to mend the call; nothing is changed and the connection stays."""

    STEPS: Final = {
        step["id"]: step["raw"]["params"]
        for step in json.loads(next(FIELD_CASES.glob("31-*/requests.json")).read_text("utf-8"))["steps"]
        if step["id"] in ("n", "o")
    }
    # What our methods call them.
    OURS: Final = {"ttl_s": "ttl_seconds"}

    @pytest.mark.parametrize("promoted", [False, True])
    @pytest.mark.parametrize(
        ("method", "params", "member", "got"),
        [
            ("todo_claim", STEPS["n"], "claimed_by", "null"),
            ("lease_acquire", {**STEPS["o"], "idempotency_key": "k"}, "ttl_seconds", "60"),
        ],
    )
    def test_it_is_answered_once_and_changes_nothing(
        self, goal_of: GoalOf, *, promoted: bool, method: str, params: dict[str, Any], member: str, got: str
    ) -> None:
        goal = goal_of(clean(agent={"todo_exists": "[P1] It does"}))
        if promoted:
            goal.promote()
        before = (goal.call("goal_status"), goal.call("todo_list"), goal.content)

        refused = goal.refusal(method, **{self.OURS.get(name, name): value for name, value in params.items()})

        assert (refused["category"], refused["path"]) == ("invalid_request", f"$.params.{member}")
        assert refused["got"] == got
        assert refused["wanted"]
        assert member in json.loads(refused["example"])
        assert (goal.call("goal_status"), goal.call("todo_list"), goal.content) == before
        assert goal.call("lease_inspect", todo_id="todo_exists")["lease"] is None


@pytest.mark.parametrize("promoted", [False, True])
def test_34_half_a_character_is_refused_at_the_door(goal_of: GoalOf, promoted: bool) -> None:
    """34.4, and the NUL that a todo must not hold; whole characters are kept, and nothing crashes later."""
    goal = goal_of(clean(agent={"todo_first": "[P1] First"}))
    if promoted:
        goal.promote()
    before = (goal.call("todo_list"), goal.content)
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "todo_add",
            "params": {"goal_id": goal.goal_id, "role": "agent", "text": "half \ud83d"},
        }
    )
    goal.wire.send_body(body.encode())
    answer = goal.wire.receive()

    assert (answer["id"], answer["error"]["data"]["path"]) == (4, "$.params.text")
    assert "text" in goal.refusal("todo_add", role="agent", text="a\0b")["path"]
    assert (goal.call("todo_list"), goal.content) == before
    goal.call("todo_add", role="agent", text="whole 🍸")
    assert "whole 🍸" in goal.content.decode()
