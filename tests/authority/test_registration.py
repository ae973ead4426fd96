"""Which documents are goals: registered once, compared when registered again, configured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from stateward_engine.authority.commands import ConfigureGoal, NoteDelivery, RegisterGoal
from stateward_engine.authority.decide import decide
from stateward_engine.authority.goal import all_goals, display_of, find_goal, identity_of
from stateward_engine.errors import CorruptStore, Refused
from stateward_engine.goals.document import read_document
from stateward_engine.goals.narrative import registered_content
from stateward_engine.goals.template import new_document
from stateward_engine.state.draft import Draft
from stateward_engine.state.transition import Transition, from_entry
from stateward_engine.state.view import Damage, View

if TYPE_CHECKING:
    from stateward_engine.authority.commands import GoalCommand

NOON = "2026-12-01T12:00:00.000000Z"
DOCUMENT = new_document("looms", "Weave ten metres\n<!-- a day -->", "2026-12-01T12:00:00Z")


def registration(goal_id: str = "looms", path: str = "/home/ada/looms.md", **members: Any) -> RegisterGoal:
    content = registered_content(read_document(members.pop("text", DOCUMENT)))
    return RegisterGoal(goal_id, path, content, members.pop("agents", None), members.pop("store_id", "5704e1d5"))


def after(view: View, *commands: GoalCommand) -> View:
    """The view after commands that change something, which a replay of their entries must lead to as well."""
    for command in commands:
        transition = decide(view, command, NOON)
        assert isinstance(transition, Transition)
        committed, replayed = Draft(view), Draft(view)
        committed.apply(transition, at=NOON, sequence=view.sequence + 1)
        replayed.apply(from_entry(transition.to_entry(NOON)), at=NOON, sequence=view.sequence + 1)
        view = committed.finish()
        assert replayed.finish() == view
    return view


def answer(view: View, command: GoalCommand) -> Any:
    return decide(view, command, NOON).receipt


def refusal(view: View, command: GoalCommand) -> Refused:
    with pytest.raises(Refused) as caught:
        decide(view, command, NOON)
    return caught.value


class TestRegistration:
    """Source: authority.md section 2. Rows LX-045, LX-049, LX-070."""

    def test_the_first_one_makes_an_unpromoted_goal(self) -> None:
        view = after(View(), registration(agents=("bo", "cy")))

        goal = find_goal(view, "looms")
        assert (goal.path, goal.agents, goal.promoted) == ("/home/ada/looms.md", ["bo", "cy"], False)
        assert (goal.handoff_mode, goal.source_authority) == ("soft_claim", "markdown_active_state")
        assert goal.records == goal.leases == goal.receipts == {}

    def test_the_same_again_changes_nothing(self) -> None:
        view = after(View(), registration())

        assert answer(view, registration()) == {"goal_id": "looms", "path": "/home/ada/looms.md", "created": False}

    @pytest.mark.parametrize(
        ("text", "differs"),
        [
            (DOCUMENT.replace("> Weave ten", "> Weave nine"), ["objective"]),
            (DOCUMENT.replace("## Next Action", "Mind the warp.\n\n## Next Action"), ["narrative_sha256"]),
            (DOCUMENT.replace("status: active", "status: paused"), ["metadata"]),
        ],
    )
    def test_other_content_conflicts_and_says_what_differs(self, text: str, differs: list[str]) -> None:
        assert text != DOCUMENT
        found = refusal(after(View(), registration()), registration(text=text))

        assert found.facts["reason_code"] == "goal_registration_conflict"
        assert found.facts["differing"] == differs

    def test_the_legacy_form_of_an_objective_is_the_same_objective(self) -> None:
        quoted = "> Weave ten metres\n> &lt;!-- a day --&gt;\n"
        assert quoted in DOCUMENT
        plain = DOCUMENT.replace(quoted, "- Weave ten\nmetres <!-- a day -->\n")
        view = after(View(), registration())

        assert answer(view, registration(text=plain))["created"] is False

    def test_todos_and_the_time_of_writing_are_no_part_of_what_is_compared(self) -> None:
        later = DOCUMENT.replace("2026-12-01T12:00:00Z", "2026-12-02T12:00:00Z")
        later = later.replace("## Agent Todo\n", "## Agent Todo\n\n- [ ] Warp the loom\n")
        view = after(View(), registration())

        assert answer(view, registration(text=later))["created"] is False

    def test_one_document_is_of_one_goal_and_one_goal_of_one_document(self) -> None:
        view = after(View(), registration())

        assert refusal(view, registration("other")).facts["goal_id"] == "looms"
        assert refusal(view, registration(path="/home/ada/other.md")).facts["differing"] == ["path"]

    def test_all_goals_of_a_store_have_revisions_of_that_store(self) -> None:
        view = after(View(), registration(), registration("yarn", "/home/ada/yarn.md", store_id="another"))

        assert [goal.provider_revision for goal in all_goals(view)] == ["file:5704e1d5:1", "file:5704e1d5:1"]

    def test_what_is_not_registered_is_refused_with_what_is(self) -> None:
        with pytest.raises(Refused) as caught:
            find_goal(after(View(), registration()), "loom")

        assert caught.value.facts["reason_code"] == "goal_not_registered"
        assert caught.value.facts["wanted"] == ["looms"]

    def test_a_damaged_goal_is_neither_lost_nor_registered_anew(self) -> None:
        view = View(damaged={identity_of("looms"): Damage("streams/goal/x.json", "its bytes do not fit its digest")})

        for call in (lambda: find_goal(view, "looms"), lambda: decide(view, registration(), NOON)):
            with pytest.raises(CorruptStore) as caught:
                call()
            assert caught.value.facts["example"] == "stateward reset-scope goal --goal-id looms"


class TestConfiguration:
    """Source: authority.md section 2."""

    def test_what_is_given_changes_and_the_rest_stays(self) -> None:
        view = after(View(), registration(agents=("bo",)), ConfigureGoal("looms", handoff_mode="hard_lease"))

        goal = find_goal(view, "looms")
        assert (goal.agents, goal.configured_mode, goal.cursor) == (["bo"], "hard_lease", 2)
        # Before promotion todos are handed out by claims.
        assert (goal.handoff_mode, goal.needs_leases) == ("soft_claim", False)

    def test_a_document_that_was_moved_is_known_at_its_new_place(self) -> None:
        content = registered_content(read_document(DOCUMENT.replace("Weave ten", "Weave nine")))
        moved = ConfigureGoal("looms", path="/home/ada/new/looms.md", content=content)
        view = after(View(), registration(), moved)

        again = registration(path="/home/ada/new/looms.md", text=DOCUMENT.replace("Weave ten", "Weave nine"))
        assert answer(view, again)["created"] is False
        assert answer(view, moved)["path"] == "/home/ada/new/looms.md"

    def test_it_is_not_moved_onto_the_document_of_another_goal(self) -> None:
        view = after(View(), registration(), registration("yarn", "/home/ada/yarn.md"))

        assert refusal(view, ConfigureGoal("looms", path="/home/ada/yarn.md")).facts["goal_id"] == "yarn"

    def test_an_empty_list_of_agents_admits_everybody_again(self) -> None:
        view = after(View(), registration(agents=("bo",)), ConfigureGoal("looms", agents=()))

        assert find_goal(view, "looms").agents == []

    def test_what_is_so_already_is_no_change(self) -> None:
        view = after(View(), registration(agents=("bo",)))

        found = answer(view, ConfigureGoal("looms", agents=("bo",), handoff_mode="soft_claim"))
        path = "/home/ada/looms.md"
        assert found == {"goal_id": "looms", "agents": ["bo"], "handoff_mode": "soft_claim", "path": path}


class TestNotes:
    """What is known of a display is no part of the goal. Rows LX-085, LX-089."""

    def test_a_delivery_moves_no_revision(self) -> None:
        view = after(View(), registration())
        noted = after(view, NoteDelivery("looms", "file:5704e1d5:1", {"agent": "ab", "archive": "cd"}))

        assert find_goal(noted, "looms").provider_revision == find_goal(view, "looms").provider_revision
        assert noted.scope(display_of("looms")).planes["sections"] == {"agent": "ab", "archive": "cd"}

    def test_sections_that_are_gone_are_forgotten(self) -> None:
        notes = [
            NoteDelivery("looms", "file:5704e1d5:1", {"agent": "ab", "archive": "cd"}),
            NoteDelivery("looms", "file:5704e1d5:2", {"agent": "ef"}),
        ]
        view = after(View(), registration(), *notes)

        assert view.scope(display_of("looms")).planes["sections"] == {"agent": "ef"}
        assert answer(view, notes[-1]) == {}
