"""From options to a call about a goal, and from its answer to what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from stateward_daemon.cli.printing import note, show, show_json
from stateward_daemon.cli.reach import open_client
from stateward_daemon.exits import EXIT_FINDINGS, EXIT_OK
from stateward_protocol.methods import METHODS, Kind

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable


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
        if answer.status != "planned" and not answer.operation_id_given:
            note("note: asked for again, this is another operation; name it with --operation-id to make it one")
        if answer.projection_delivery == "pending":
            note(f"note: {undelivered(answer.projection_outbox)}")
    return status


def undelivered(outbox: Any) -> str:  # noqa: ANN401 - the object of a delivery
    """Return why a document does not show what was committed, and what to do."""
    reason = outbox.get("reason_code", "it was not confirmed") if isinstance(outbox, dict) else "it was not confirmed"
    advice = outbox.get("recommended_action") if isinstance(outbox, dict) else None
    return f"committed, and the document does not show it yet ({reason})" + (f"; {advice}" if advice else "")
