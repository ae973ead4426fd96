"""Laws of what is decided about the todos of a promoted goal, searched for counterexamples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.planted import GOAL, goal_of, promoted_goal, record, run
from state.drawn import search
from stateward_engine.authority.additions import native_todo_id
from stateward_engine.authority.commands import AddTodo, ArchiveCompleted, CompleteTodo, LeaseClaim, UpdateTodo
from stateward_engine.authority.given import ADDABLE, CLEARABLE, COMPLETING, EDITABLE
from stateward_engine.authority.listing import list_todos, summary_of
from stateward_engine.errors import Refused
from stateward_engine.goals.contract import RECORD_FIELDS, Shape
from stateward_engine.goals.fields import FIELDS, Choice
from stateward_engine.goals.render import render
from stateward_engine.json_value import canonical

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from stateward_engine.authority.commands import Operation
    from stateward_engine.authority.goal import HandoffMode
    from stateward_engine.state.view import View

pytestmark = pytest.mark.property

DOCUMENT: Final = "Intro.\n\n## User Todo\n\n## Agent Todo\n\n## Next Action\n\n- go\n"
AGENTS: Final = ("bo", "cy")
ACTORS: Final = (None, None, "bo", "bo", "bo", "cy", "cy", "zoe")
LEASE: Final = {
    "schema_version": "task_lease_v0",
    "goal_id": GOAL,
    "todo_id": "todo_warp",
    "owner": "bo",
    "idempotency_key": "la",
    "version": 1,
    "lease_epoch": 1,
    "status": "active",
    "write_scopes": [],
    "acquire_ttl_seconds": 3600,
    "acquired_at": "2026-12-01T11:00:00Z",
    "updated_at": "2026-12-01T11:00:00Z",
    "expires_at": "2026-12-01T12:05:00Z",
}
RECORDS: Final = [
    record(required_write_scopes=["src/**"]),
    record("todo_done", status="done", completed_at="2026-11-30T00:00:00Z", updated_at="2026-11-30T00:00:00Z"),
    record("todo_gate", role="user", task_class="user_gate", blocks_agent="bo"),
    record("todo_moon", schema_version="todo_item_v0", source_section="Agent Todo", index=4, claimed_by="cy"),
    record("todo_weft"),
    record("todo_spin", claimed_by="bo", resume_when="todo_done:todo_weft"),
    record("todo_gone", status="done", archive_state="archive"),
]
PLANTED: Final = [each["todo_id"] for each in RECORDS]

# -- what is drawn ---------------------------------------------------------------------------------------------------

words = st.sampled_from(
    ["bo", "Cy", "net_work", "src", "todo_warp", "todo_Gate", "todo_spin", "todo_done", "two words", "a,b", "", "x\0"]
)
labels = st.sampled_from(["", "", "[P2] ", "[p0]", "[P1-urgent] ", "[P9] ", "[P3] [P4] "])
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.integers(0, 19).flatmap(
    lambda odd: (
        st.builds("{}x{}".format, labels, st.text(characters, max_size=12))
        if odd
        else st.sampled_from(["[P1]", "", "x\0"])
    )
)
scopes: SearchStrategy[Any] = st.sampled_from(
    [
        "direction:goal:blue",
        {"kind": "direction", "granularity": "goal", "scope_key": "blue"},
        {"schema_version": "decision_scope_v0", "kind": "other", "granularity": "lane", "scope_key": "*"},
        {"kind": "Direction", "granularity": "goal", "scope_key": "blue"},
        {"kind": "direction"},
        "nowhere",
    ]
)
notes: SearchStrategy[Any] = st.sampled_from([{"a": 1}, {"a": {"b": [1]}}, {"c": None}, "plain", [1, [2]]])
conditions = st.sampled_from(
    ["todo_done:todo_warp", "todo_done:todo_gate", "resume_at:2026-07-01T08:00:00.5+08:00", "pr_merged:#7", "moon:1"]
)


def values_of(name: str) -> SearchStrategy[Any]:
    """Return what callers send for a field: what it takes, what it nearly takes, and anything."""
    reader = FIELDS.get(name)
    own: SearchStrategy[Any]
    match RECORD_FIELDS[name]:
        case Shape.FLAG:
            own = st.booleans()
        case Shape.COUNT:
            own = st.sampled_from([0, 7, -1, 10**18])
        case Shape.NAMES:
            own = st.lists(words, max_size=3)
        case Shape.SCOPE:
            own = scopes
        case Shape.SCOPES:
            own = st.lists(scopes, max_size=3)
        case Shape.ANYTHING:
            own = notes
        case _ if isinstance(reader, Choice):
            own = st.sampled_from([*reader.members, reader.members[0].upper(), "primary_review"])
        case _ if name == "priority":
            own = st.sampled_from(["P0", "p4", "P5"])
        case _ if name == "resume_when":
            own = conditions
        case _:
            own = words | texts
    return st.integers(0, 19).flatmap(lambda odd: own if odd else st.sampled_from([None, 3, "x", [], {}]))


def fields_of(names: Any) -> SearchStrategy[dict[str, Any]]:
    several = st.lists(st.sampled_from(sorted(names)), min_size=1, max_size=3, unique=True)
    return several.flatmap(lambda chosen: st.fixed_dictionaries({name: values_of(name) for name in chosen}))


successors = st.none() | st.fixed_dictionaries({"role": st.sampled_from(["agent", "user", "x"]), "text": texts})


@st.composite
def commands(draw: st.DrawFn, known: list[str], number: int) -> Operation:
    """Return a command about one of the todos that are known, which may be refused."""
    shared: dict[str, Any] = {
        "goal_id": GOAL,
        "operation_id": f"op-{number}",
        "agent_id": draw(st.sampled_from(ACTORS)),
    }
    todo_id = draw(st.sampled_from(known))
    proof = LeaseClaim("la", 1 if draw(st.integers(0, 9)) else 2)
    lease = proof if todo_id == "todo_warp" or not draw(st.integers(0, 9)) else None
    match draw(st.integers(0, 5)):
        case 0 | 1:
            declaration = draw(st.sampled_from([None, None, {"validation_command": "make"}, {"else": 1}]))
            role = draw(st.sampled_from(["agent", "user"]))
            fields = draw(fields_of(ADDABLE))
            return AddTodo(**shared, role=role, text=draw(texts), fields=fields, declaration=declaration)
        case 2 | 3:
            clear = tuple(draw(st.sets(st.sampled_from(sorted(CLEARABLE)), max_size=2)))
            return UpdateTodo(**shared, todo_id=todo_id, fields=draw(fields_of(EDITABLE)), clear=clear, lease=lease)
        case 4:
            fields, following = draw(fields_of(COMPLETING)), draw(successors)
            return CompleteTodo(**shared, todo_id=todo_id, fields=fields, next=following, lease=lease)
        case _:
            return ArchiveCompleted(**shared, max_active_done=draw(st.integers(0, 2)))


def planted(data: st.DataObject) -> View:
    modes: list[HandoffMode] = ["soft_claim", "soft_claim", "hard_lease"]
    mode = data.draw(st.sampled_from(modes))
    return promoted_goal(RECORDS, agents=AGENTS, handoff_mode=mode, leases={"todo_warp": LEASE})


def minute(number: int) -> str:
    return f"2026-12-01T12:{number:02}:00Z"


# -- laws ------------------------------------------------------------------------------------------------------------


@search(80)
@given(data=st.data())
def test_whatever_is_accepted_can_be_shown_and_read_back(data: st.DataObject) -> None:
    """A document shows the records of every revision, and gives each of them back. Rows LX-047, LX-061 and LX-063.

    Nothing that was published changes; an id that is there stays there, and a new todo has a new one (LX-008); each
    todo that changed says when.
    """
    view = planted(data)
    for number in range(6):
        before = goal_of(view)
        printed = canonical(view.scopes[next(iter(view.scopes))].planes)
        command = data.draw(commands(list(before.records), number))
        try:
            answer, view = run(view, command, minute(number))
        except Refused:
            assert canonical(before.stream.planes) == printed
            continue
        after = goal_of(view)
        assert canonical(before.stream.planes) == printed
        render(DOCUMENT, after.records.values(), after.provider_revision, after.declarations)
        new = after.records.keys() - before.records.keys()
        assert before.records.keys() <= after.records.keys()
        assert new <= {native_todo_id(command.operation_id)}
        changed = [each for each in after.records.values() if each != before.records.get(each["todo_id"])]
        assert bool(changed) == answer["changed"] == (after.cursor == before.cursor + 1)
        assert {each["updated_at"] for each in changed} <= {after.now(minute(number))}
        summary = summary_of(after.records.values())
        listed = list_todos(after.records.values(), now=minute(number))["todo_count"]
        assert listed == summary["user"]["total_count"] + summary["agent"]["total_count"]


@search(60)
@given(data=st.data())
def test_a_replay_is_the_first_answer_and_no_second_change(data: st.DataObject) -> None:
    """Whatever came in between. Source: authority.md section 1; field case 30."""
    view = planted(data)
    first: list[tuple[Operation, Any]] = []
    for number in range(4):
        command = data.draw(commands(list(goal_of(view).records), number))
        try:
            answer, view = run(view, command, minute(number))
        except Refused:
            continue
        if answer["changed"]:
            first.append((command, answer))

    for command, answer in first:
        again, after = run(view, command, minute(30))
        assert after is view
        assert again == {**answer, "status": "replayed", "changed": False}


@search(60)
@given(data=st.data())
def test_a_dry_run_is_what_the_run_would_be(data: st.DataObject) -> None:
    view = planted(data)
    command = data.draw(commands(PLANTED, 1))
    fields = {name: getattr(command, name) for name in type(command).__dataclass_fields__}
    dry = type(command)(**{**fields, "dry_run": True})
    own = {"status", "changed", "provider_revision", "cursor", "original_receipt"}
    try:
        answer, _ = run(view, command)
    except Refused as refused:
        facts = refused.facts
    else:
        facts = {}
    if facts:
        with pytest.raises(Refused) as caught:
            run(view, dry)
        assert caught.value.facts == facts
        return
    planned, after = run(view, dry)

    assert (planned["status"], after is view) == ("planned", True)
    assert {name: value for name, value in planned.items() if name not in own} == {
        name: value for name, value in answer.items() if name not in own
    }


@search(60)
@given(data=st.data())
def test_a_completion_leaves_no_lease_behind(data: st.DataObject) -> None:
    """Todo, lease and receipt are one commit (LX-121)."""
    view = planted(data)
    proof = LeaseClaim("la", 1)
    fields = data.draw(fields_of(COMPLETING))
    command = CompleteTodo(
        goal_id=GOAL, operation_id="c1", todo_id="todo_warp", agent_id="bo", lease=proof, fields=fields
    )
    try:
        answer, view = run(view, command)
    except Refused:
        assert goal_of(view).leases["todo_warp"] == LEASE
        return

    goal = goal_of(view)
    assert goal.records["todo_warp"]["status"] == "done"
    assert goal.leases["todo_warp"] == answer["lease"]
    assert answer["lease"]["status"] == "released"
    assert goal.receipts["c1"]["answer"]["completion_receipt_id"] == answer["completion_receipt_id"]
