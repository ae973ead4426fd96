"""The verbs that move the authority of a goal's todos from its document into the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.cli.goal_calls import answered, call, done
from stateward_daemon.cli.printing import counted

if TYPE_CHECKING:
    from argparse import Namespace


def bootstrap(options: Namespace) -> int:
    """Make a shadow."""
    answer = call(options, "authority_shadow_bootstrap")
    return done(options, answer, f"the shadow has {counted(answer.todo_count, 'todo')}; go on with: {_next(options)}")


def qualify(options: Namespace) -> int:
    """Print what stands against a promotion."""
    answer = call(options, "authority_shadow_qualify")
    lines = [
        f"line {refusal.get('line') or '-'}: {refusal['reason_code']} {refusal.get('todo_id') or ''}".rstrip()
        for refusal in answer.refusals
    ]
    return answered(options, answer, lines or ["nothing stands against a promotion"], ok=answer.qualified)


def promote(options: Namespace) -> int:
    """Promote a goal."""
    answer = call(options, "authority_promote")
    return done(options, answer, f"the ledger is the authority of {counted(answer.todo_count, 'todo')} now")


def rollback(options: Namespace) -> int:
    """Put a shadow aside."""
    answer = call(options, "authority_rollback")
    return done(options, answer, "the shadow is put aside; the document is the authority, as before")


def _next(options: Namespace) -> str:
    return f"stateward authority qualify --goal-id {options.goal_id}"
