"""The verbs about leases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.cli.goal_arguments import owner_of
from stateward_daemon.cli.goal_calls import answered, call, done

if TYPE_CHECKING:
    from argparse import Namespace

    from stateward_protocol.operation_messages import Lease


def acquire(options: Namespace) -> int:
    """Take a lease."""
    return _change(options, "lease_acquire")


def renew(options: Namespace) -> int:
    """Make a lease last longer."""
    return _change(options, "lease_renew")


def transfer(options: Namespace) -> int:
    """Give a lease to another."""
    return _change(options, "lease_transfer")


def release(options: Namespace) -> int:
    """Give a lease back."""
    return _change(options, "lease_release")


def inspect(options: Namespace) -> int:
    """Print who holds a lease and whether it is in force."""
    answer = call(options, "lease_inspect")
    lines = ["there is no lease"] if answer.lease is None else [_words(answer.lease, "is" if answer.active else "was")]
    if answer.lease is not None and not answer.active and answer.lease.status != "released":
        since = f" since {answer.since}" if answer.since else ""
        lines.append(f"it is not in force{since}: {answer.reason}")
    return answered(options, answer, lines)


def _change(options: Namespace, method: str) -> int:
    answer = call(options, method, owner=owner_of(options.owner, options.agent_id, "--owner"))
    return done(options, answer, "there is no lease" if answer.lease is None else _words(answer.lease))


def _words(lease: Lease, verb: str = "is") -> str:
    if lease.status == "released":
        return f"{lease.todo_id} was leased by {lease.owner}, released at {lease.released_at}"
    key = f"version {lease.version} under key {lease.idempotency_key}"
    return f"{lease.todo_id} {verb} leased by {lease.owner}, {key}, until {lease.expires_at}"
