"""Laws of unpromoted goals, searched for counterexamples: what a document decides is what the ledger would decide."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from authority.markdown import asked, edit, unpromoted_goal
from authority.planted import GOAL, NOON, goal_of, run
from authority.test_promotion import goals
from goals.test_fix_laws import documents
from stateward_engine.authority import commands as c
from stateward_engine.authority.markdown_todos import records_of
from stateward_engine.errors import RequestError
from stateward_engine.goals.document import read_document
from stateward_engine.goals.qualification import qualify

pytestmark = pytest.mark.property
law = settings(max_examples=150, derandomize=True, deadline=None)

ACTORS = st.sampled_from([None, "ada", "bo"])
NEXT = st.sampled_from([None, {"role": "user", "text": "Then this"}])
FIELDS = st.sampled_from(
    [
        {"note": "two words"},
        {"priority": "P3"},
        {"text": "other words"},
        {"status": "blocked", "excluded_agents": ["bo"]},
        {"required_write_scopes": ["src/**"]},
        {"goal_bound": True},
        {"status": "done"},
    ]
)


@st.composite
def commands(draw: st.DrawFn, todo_ids: list[str]) -> Any:
    actor = draw(ACTORS)
    todo_id = draw(st.sampled_from([*todo_ids, "todo_nobody"]))
    kind = draw(st.sampled_from([c.AddTodo, c.ClaimTodo, c.UpdateTodo, c.CompleteTodo, c.ArchiveCompleted]))
    lease = draw(st.sampled_from([None, c.LeaseClaim("key-1", 0)]))
    members: Any = {
        c.AddTodo: {"role": draw(st.sampled_from(["user", "agent"])), "text": "New [P9] one", "fields": draw(FIELDS)},
        c.ClaimTodo: {"todo_id": todo_id, "claimed_by": actor or "bo", "lease": lease},
        c.UpdateTodo: {"todo_id": todo_id, "fields": draw(FIELDS), "clear": ("claimed_by",)},
        c.CompleteTodo: {"todo_id": todo_id, "next": draw(NEXT), "fields": {"evidence": "seen"}},
        c.ArchiveCompleted: {"max_active_done": draw(st.integers(0, 1))},
    }[kind]
    return asked(kind, agent_id=actor, **members)


def promoted(text: str) -> Any:
    """Return the view after the promotion of the goal of a document that qualifies, `None` of another."""
    report = qualify(read_document(text))
    if report.refusals:
        return None
    shadow: dict[str, Any] = {"records": report.records, "declarations": report.declarations}
    digest = report.source_sha256
    _, view = run(
        unpromoted_goal(), c.BootstrapShadow(goal_id=GOAL, operation_id="boot", source_sha256=digest, **shadow)
    )
    return run(view, c.PromoteGoal(goal_id=GOAL, operation_id="go", source_sha256=digest))[1]


def outcome(ask: Any) -> Any:
    """Return what a call comes to, or the reason of its refusal."""
    try:
        return ask()
    except RequestError as refusal:
        return refusal.facts.get("reason_code")


COMMON = ("provider_revision", "cursor", "source_authority", "original_receipt")


@law
@given(goals(), st.data())
def test_a_document_decides_as_the_ledger_does(text: str, data: st.DataObject) -> None:
    """Law: same answer or same reason, and afterwards the same todos."""
    view = promoted(text)
    assume(view is not None)
    command = data.draw(commands(list(goal_of(view).records)))
    one, other = outcome(lambda: edit(text, command)), outcome(lambda: run(view, command, NOON))
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    assert own(one.answer) == own(other[0])
    mine = {record["todo_id"]: shown(record) for record in records_of(read_document(one.text))}
    theirs = {todo_id: shown(record) for todo_id, record in goal_of(other[1]).records.items()}
    assert mine == theirs
    assert goal_of(one.view).leases == goal_of(other[1]).leases


def own(answer: Any) -> Any:
    return {name: value for name, value in answer.items() if name not in COMMON}


def shown(record: Any) -> dict[str, Any]:
    """What both can say of a todo: a document numbers its rows, and infers what it does not say."""
    unseen = ("index", "source_section", "schema_version", "task_class", "created_by", "last_actor_agent_id")
    return {name: value for name, value in record.items() if name not in unseen and value != []}


@law
@given(documents, st.data())
def test_an_edit_says_what_its_answer_says_and_leaves_all_else(text: str, data: st.DataObject) -> None:
    """Law: of any document; what is refused leaves no trace, and no line goes but those of the rows that are named."""
    document = read_document(text)
    assume(document.refusal is None)
    command = data.draw(commands([todo.todo_id for todo in document.todos]))
    done = outcome(lambda: edit(text, command))
    if isinstance(done, str | None):
        return
    after = read_document(done.text)
    named = {*done.answer.get("moved_todo_ids", ()), done.answer.get("todo_id"), getattr(command, "todo_id", None)}
    named |= {todo["todo_id"] for todo in done.answer.get("generated_successors", ())}
    others = [
        [
            (todo.full_text, todo.status, todo.fields)
            for todo in each.todos
            if todo.id_line and todo.todo_id not in named
        ]
        for each in (document, after)
    ]
    assert others[0] == others[1]
    if todo := done.answer.get("todo"):
        (row,) = [record for record in records_of(after) if record["todo_id"] == todo["todo_id"]]
        assert shown(row).items() >= shown(todo).items()
    assert edit(done.text, command, done.view).answer["status"] in ("replayed", "no_change")
