"""The verbs about todos."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stateward_daemon.cli.differences import difference
from stateward_daemon.cli.goal_arguments import UPDATABLE, owner_of
from stateward_daemon.cli.goal_calls import answered, call, delivery_notes, done, held, lease_of, problem_notes
from stateward_daemon.cli.printing import counted
from stateward_daemon.cli.shell_words import in_shell
from stateward_daemon.exits import UsageFault

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

# The whole text has them.
_SHOWN_WHOLE: Final = frozenset({"text", "text_length", "text_truncated", "title"})


def list_todos(options: Namespace) -> int:
    """Print todos one per line, or one of them with all that is known of it."""
    answer = call(options, "todo_list")
    return answered(options, answer, _many(answer) if options.todo_id is None else _one(answer))


def add(options: Namespace) -> int:
    """Add a todo and print its id."""
    if (options.words is None) == (options.text is None):
        raise UsageFault("what is to be done? give the text once, as in: stateward todo add 'Rehearse the rollback'")
    answer = call(options, "todo_add", text=options.text if options.words is None else options.words)
    return done(options, answer, f"added {answer.todo_id}")


def claim(options: Namespace) -> int:
    """Claim a todo and print who has it."""
    claimed_by = owner_of(options.claimed_by, options.agent_id, "--claimed-by")
    answer = call(options, "todo_claim", claimed_by=claimed_by, lease=lease_of(options))
    lease = answer.lease
    told = [f"{answer.todo_id} is claimed by {answer.claimed_by}{f', {held(lease)}' if lease else ''}"]
    if lease and options.idempotency_key not in (None, lease.idempotency_key):
        told.append(f"  the lease was theirs already, under key {lease.idempotency_key}: that key goes on with it")
    return done(options, answer, "\n".join(told))


def update(options: Namespace) -> int:
    """Change fields of a todo."""
    if all(getattr(options, name) is None for name in UPDATABLE):
        raise UsageFault(
            "nothing is asked; say what to change, as in: stateward todo update --todo-id ID --priority P0"
        )
    answer = call(options, "todo_update", lease=lease_of(options))
    return done(options, answer, f"updated {answer.todo_id}")


def complete(options: Namespace) -> int:
    """Complete a todo and print what comes next."""
    answer = call(options, "todo_complete", lease=lease_of(options))
    then = {"no_followup": "nothing comes after it", "active_goal": "the goal goes on"}
    ids = ", ".join(successor["todo_id"] for successor in answer.generated_successors)
    follows = then.get(answer.completion_continuation) or (f"{ids} comes next" if ids else "its successor comes next")
    return done(options, answer, f"completed {answer.todo_id}; {follows}")


def archive_completed(options: Namespace) -> int:
    """Archive finished todos, or print which would be."""
    answer = call(options, "todo_archive_completed")
    moved = f"archived {counted(answer.moved_count, 'todo')}; {answer.active_done_after} finished ones stay"
    return done(options, answer, "\n".join([moved, *(f"  {todo_id}" for todo_id in answer.moved_todo_ids)]))


def receipt(options: Namespace) -> int:
    """Print whether an operation was accepted."""
    answer = call(options, "todo_receipt")
    lines = [f"accepted at {kept.at}, revision {kept.provider_revision}" for kept in answer.receipts]
    return answered(options, answer, lines or ["no operation of that id was accepted"], ok=answer.status == "found")


def project_markdown(options: Namespace) -> int:
    """Show the todos in the document, or print what would be written."""
    answer = call(options, "project_markdown")
    status = answer.get("status")
    ok = status != "pending"
    told = [f"{status}, revision {answer.get('provider_revision')}"] if ok else []
    if "markdown" in answer:
        told += _differences(answer)
    return answered(options, answer, [*told, *delivery_notes(answer), *problem_notes(answer)], ok=ok)


def refresh_state(options: Namespace) -> int:
    """Record a turn and print what is missing."""
    answer = call(options, "refresh_state")
    diagnosis = answer.diagnosis
    missing = f"; work is missing: {in_shell(diagnosis['recommended_action'])}" if diagnosis["missing_work"] else ""
    return done(options, answer, f"recorded{missing}")


def _differences(answer: dict[str, Any]) -> Iterator[str]:
    """Yield what would be written into the document as it is now."""
    path = Path(answer["state_file"])
    try:
        before = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        # It is made.
        before = ""
    # Whatever prints it escapes it.
    text = difference(path.name, before, answer["markdown"], exact=True)
    yield text.removesuffix("\n") if text else "the document says this already"


# -- people ----------------------------------------------------------------------------------------------------------


def _many(answer: dict[str, Any]) -> Iterator[str]:
    todos = answer["todos"]
    width = max((len(todo["todo_id"]) for todo in todos), default=0)
    for todo in todos:
        claimed = f"  ({todo['claimed_by']})" if todo.get("claimed_by") else ""
        yield f"{todo['status']:<8}  {todo['role']:<5}  {todo['todo_id']:<{width}}  {todo['text']}{claimed}"
    left = answer["todo_count"] - answer["returned_count"]
    yield counted(answer["returned_count"], "todo") + (f", and {left} more" if left else "")


def _one(answer: dict[str, Any]) -> Iterator[str]:
    yield answer["full_text"]
    for name, value in answer["todo"].items():
        if name not in _SHOWN_WHOLE:
            yield f"  {name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
