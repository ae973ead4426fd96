"""The verbs that move the authority of a goal's todos from its document into the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_daemon.cli.goal_calls import answered, call, done
from stateward_daemon.cli.printing import counted
from stateward_daemon.cli.reach import open_client
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

# Nothing that is wrong with the document.
_SHADOWS: Final = {
    "authority_shadow_missing": "no shadow was made of the document yet",
    "authority_shadow_quarantined": "the shadow was put aside",
    "authority_shadow_source_changed": "the document changed since the shadow was made of it",
}


def bootstrap(options: Namespace) -> int:
    """Make a shadow."""
    answer = call(options, "authority_shadow_bootstrap")
    return done(options, answer, f"the shadow has {counted(answer.todo_count, 'todo')}; go on with: {_next(options)}")


def qualify(options: Namespace) -> int:
    """Print what stands against a promotion."""
    answer = call(options, "authority_shadow_qualify")
    messages = _messages(options) if answer.refusals and not options.json else []
    lines = [line for refusal in answer.refusals for line in _told(options, refusal, messages)]
    return answered(options, answer, lines or ["nothing stands against a promotion"], ok=answer.qualified)


def promote(options: Namespace) -> int:
    """Promote a goal."""
    answer = call(options, "authority_promote")
    return done(options, answer, f"the ledger is the authority of {counted(answer.todo_count, 'todo')} now")


def rollback(options: Namespace) -> int:
    """Put a shadow aside."""
    answer = call(options, "authority_rollback")
    return done(options, answer, "the shadow is put aside; the document is the authority, as before")


def _messages(options: Namespace) -> list[tuple[str, int, str]]:
    """Return what editors are told about the document: a code, a line from 1, and how to mend it."""
    with open_client(options) as client:
        try:
            items = client.goal_diagnostics(path=client.goal_status(options.goal_id).path).items
        except WireError:
            # The document is gone or cannot be read, and that is a refusal with words of its own.
            return []
    return [(item.code, item.range.start.line + 1, item.message) for item in items]


def _told(options: Namespace, refusal: dict[str, Any], messages: list[tuple[str, int, str]]) -> Iterator[str]:
    """Yield one reason against a promotion: where, which rule, and what to do."""
    code, line = refusal["reason_code"], refusal.get("line")
    if code in _SHADOWS:
        yield f"{code}: {_SHADOWS[code]}; run: stateward authority bootstrap --goal-id {options.goal_id}"
        return
    about = ", ".join(str(refusal[name]) for name in ("todo_id", "field") if refusal.get(name))
    yield (f"line {line}: " if line else "") + code + (f" ({about})" if about else "")
    found = [message for *place, message in messages if place == [code, line or 1]]
    # One line may have several keys that are wrong.
    named = [message for message in found if str(refusal.get("field")) in message]
    yield from (f"  {message}" for message in (named or found)[:1])


def _next(options: Namespace) -> str:
    return f"stateward authority qualify --goal-id {options.goal_id}"
