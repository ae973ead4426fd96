"""From options to a call about a goal, and from its answer to what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from stateward_daemon.cli.printing import counted, note, problem_lines, show, show_json
from stateward_daemon.cli.reach import open_client
from stateward_daemon.cli.shell_words import in_shell
from stateward_daemon.exits import EXIT_FINDINGS, EXIT_OK
from stateward_protocol.messages import DiagnosticItem
from stateward_protocol.methods import METHODS, Kind

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Mapping

    from stateward_protocol.operation_messages import Lease

# Enough to find the place.
_LINES_SHOWN: Final = 5


def call(options: Namespace, method: str, **named: Any) -> Any:  # noqa: ANN401 - the struct of the method's row
    """Return the answer of a method, whose params are the options of those names.

    Args:
        options: The options of the verb.
        method: The method behind it.
        named: Params that are made of options, or have other names than they.

    Raises:
        WireError: The call is refused, or nobody could be asked.
    """
    row = METHODS[method]
    params = {name: getattr(options, name, None) for name in row.params.__struct_fields__} | named
    with open_client(options, changes=row.kind in (Kind.GOAL, Kind.WRITE)) as client:
        return getattr(client, method)(**{name: value for name, value in params.items() if value is not None})


def lease_of(options: Namespace) -> dict[str, Any] | None:
    """Return the lease that the options of a mutation name, `None` without a key."""
    if options.idempotency_key is None:
        return None
    names = ("idempotency_key", "expected_version", "ttl_seconds")
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


def held(lease: Lease) -> str:
    """Return until when a lease is held and what proves it, as words."""
    return f"with its lease until {lease.expires_at}, version {lease.version} under key {lease.idempotency_key}"


def answered(options: Namespace, answer: Any, lines: Iterable[str], *, ok: bool = True) -> int:  # noqa: ANN401 - as above
    """Print an answer, as JSON with whether it is `ok` or for people, and return the exit status."""
    if options.json:
        show_json({"ok": ok, **msgspec.to_builtins(answer)})
    else:
        for line in lines:
            show(line)
    return EXIT_OK if ok else EXIT_FINDINGS


def done(options: Namespace, answer: Any, said: str) -> int:  # noqa: ANN401 - the struct of a mutation
    """Print what a mutation came to: in words, its revision, and whether its display is still to come."""
    word = {"no_change": "no change: ", "planned": "would be: ", "replayed": "as before: "}.get(answer.status, "")
    status = answered(options, answer, [f"{word}{said}", f"  revision {answer.provider_revision}"])
    if not options.json:
        for told in (*delivery_notes(answer.projection_outbox), *problem_notes(msgspec.to_builtins(answer))):
            note(f"note: {told}")
    return status


def delivery_notes(outbox: Any) -> Iterator[str]:  # noqa: ANN401 - the report of a delivery, where there is one
    """Yield what is to be known of a delivery beside that it was made: why it was not, and what is lost."""
    if not isinstance(outbox, dict):
        return
    if outbox.get("status") == "pending":
        reason = ", ".join([outbox.get("reason_code", "it was not confirmed"), *places(outbox.get("lines"))])
        advice = outbox.get("recommended_action")
        told = f"committed, and the document does not show it yet ({reason})"
        yield f"{told}; {in_shell(advice)}" if advice else told
    if outbox.get("recovery_scope"):
        yield (
            "the document was gone and is made again, with its todo sections alone; "
            "restore the rest from a copy, or write it anew"
        )


def problem_notes(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the document that a call has changed, if anything is."""
    if count := answer.get("problem_count"):
        items = msgspec.convert(answer["problems"], list[DiagnosticItem])
        yield "\n".join([f"the document has {counted(count, 'problem')} now", *problem_lines(items, count)])


def places(lines: Any) -> Iterator[str]:  # noqa: ANN401 - numbers of lines from 1, where they are known
    """Yield where to look, nothing where nobody knows."""
    if lines:
        shown = ", ".join(map(str, lines[:_LINES_SHOWN]))
        left = f" and {len(lines) - _LINES_SHOWN} more" if len(lines) > _LINES_SHOWN else ""
        yield f"line{'' if len(lines) == 1 else 's'} {shown}{left}"
