"""Refusals as the command line shows them: JSON for programs; for people, words of a shell and what helps to mend."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, Any, Final

from stateward.printable import printable
from stateward_daemon.cli.printing import columns, note, show_json
from stateward_daemon.cli.shell_words import example_command, in_shell, option_of

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stateward_daemon.cli.verb import Verb
    from stateward_protocol.errors import WireError

# For programs, and of no help to a reader who has the message.
_NOT_FOR_PEOPLE: Final = frozenset({"category", "retryable", "at", "recovery"})
# Programs get in parts what the message says of a todo and its lease.
_OF_LEASE: Final = frozenset(
    {
        *("todo_id", "todo_status", "handoff_mode", "lease_owner"),
        *("claimed_at", "acquired_at", "released_at", "expires_at", "expired_at"),
    }
)
# Somebody else has the todo, and nothing that was given could change that.
_HELD: Final = frozenset({"claim_owner_mismatch", "todo_lease_conflict", "lease_owner_mismatch"})


def print_refusal(error: WireError, verb: Verb, options: Namespace | None = None, *, as_json: bool) -> None:
    """Print an error answer: as JSON on standard output, or for people on standard error.

    Args:
        error: The answer.
        verb: The verb that got it.
        options: What it was called with, as far as that could be read.
        as_json: Whether it is for a program.
    """
    if as_json:
        told = {"error": {"category": error.category, "message": error.message, **error.data}}
        show_json({"ok": False, "status": "failed", **told} if verb.says_ok else told)
    else:
        note("\n".join(_refusal_lines(error, verb, options)))


def _refusal_lines(error: WireError, verb: Verb, options: Namespace | None) -> Iterator[str]:
    message, facts = _for_people(error, verb, options)
    drawn = _drawn_path(error)
    if drawn:
        del facts["path"]
        # The message has just said it.
        facts.pop("wanted", None)
    yield f"stateward: {printable(message)}"
    yield from drawn
    example = example_command(verb, facts.pop("example", None), options)
    for name, fact in facts.items():
        yield from _fact_lines(name, fact, verb)
    if example is not None:
        yield f"  example: {example}"


def _for_people(error: WireError, verb: Verb, options: Namespace | None) -> tuple[str, dict[str, Any]]:
    """Return the message in the words of a shell, and the facts that it leaves open."""
    message, facts = in_shell(error.message, verb), dict(error.data)
    if facts.get("reason_code") in _HELD:
        until = facts.get("expires_at")
        message += f" (its lease lasts until {until})" if until and str(until) not in message else ""
        return message, {"reason_code": facts["reason_code"]}
    hidden = _NOT_FOR_PEOPLE | _OF_LEASE if verb.says_ok else _NOT_FOR_PEOPLE
    facts = {name: fact for name, fact in facts.items() if name not in hidden}
    option = option_of(str(facts.get("path")), verb.parser().spelled())
    if option is None:
        return message, facts
    is_grammar = error.category == "invalid_request"
    facts = _with_option(facts, option, verb, options if is_grammar or "got" in facts else None)
    if is_grammar:
        # Types speak of null, which nobody can type.
        message = message.replace(", or null", "")
        message = message if option in message else f"{option}: {message}"
        facts.pop("wanted", None)
    if option in message:
        del facts["option"]
    return message, facts


def _with_option(facts: dict[str, Any], option: str, verb: Verb, options: Namespace | None) -> dict[str, Any]:
    """Return facts with the option in place of the member, what was given it, and by whom if not by who typed."""
    parser = verb.parser()
    member = next(name for name, spelling in parser.spelled().items() if spelling == option)
    given = getattr(options, member, None)
    told = {("option" if name == "path" else name): fact for name, fact in facts.items()} | {"option": option}
    if isinstance(given, str) and told.get("got") in (None, given):
        variable = parser.variables.get(member, "")
        source = f" (from {variable})" if given == os.environ.get(variable) else ""
        told["got"] = f"{shlex.quote(given)}{source}"
    return told


def _fact_lines(name: str, fact: object, verb: Verb) -> Iterator[str]:
    if name == "invalid" and isinstance(fact, dict):
        # Of one alone the message has just said it.
        wrong = fact.items() if len(fact) > 1 else ()
        yield from (f"  {printable(in_shell(f'{member}: {message}', verb))}" for member, message in wrong)
        return
    text = fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False)
    first, *others = (in_shell(text, verb) if name in ("recommended_action", "hint") else text).split("\n")
    yield f"  {printable(name)}: {first}"
    yield from (f"    {line}" for line in others)


def _drawn_path(error: WireError) -> list[str]:
    """Return the path of a malformed one with a caret under its first bad character."""
    path, at = error.data.get("path"), error.data.get("at")
    if error.category != "malformed_path" or not isinstance(path, str) or not isinstance(at, int):
        return []
    before = printable(path[:at])
    return [f"  {printable(path)}", f"  {' ' * columns(before)}^"]
