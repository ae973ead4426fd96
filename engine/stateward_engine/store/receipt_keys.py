"""What may be appended to a ledger once: the idempotency keys and operation ids of entries, as digests.

Decisions see to it that none is used twice. An engine that many processes share holds a second guard over it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from stateward_engine.state.view import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stateward_engine.state.view import View


class ReceiptName(NamedTuple):
    """One of them.

    Attributes:
        key: 32 bytes that stand for it.
        goal: 32 bytes that stand for the goal which keeps it for good; `None` where it is kept for a while.
    """

    key: bytes
    goal: bytes | None


class _Entry(msgspec.Struct):
    """The members of an entry that say what it may be called."""

    cwd: str | None = None
    session: str | None = None
    key: str | None = None
    goal: str | None = None
    reset: bool = False
    patches: msgspec.Raw = msgspec.Raw(b"{}")


class _GoalPatch(msgspec.Struct, frozen=True):
    receipts: dict[str, Any] = {}


class _GoalPatches(msgspec.Struct, frozen=True):
    goal: _GoalPatch = _GoalPatch()


_ENTRY = msgspec.json.Decoder(_Entry)
_PATCHES = msgspec.json.Decoder(_GoalPatches)


def names_of(entries: Sequence[bytes]) -> tuple[list[ReceiptName], list[bytes]]:
    """Return what the entries of a group may be called, and which goals they give up with all their names."""
    found: list[ReceiptName] = []
    given_up: list[bytes] = []
    for data in entries:
        entry = _ENTRY.decode(data)
        found += _names(entry)
        if entry.reset and entry.goal is not None:
            given_up.append(_digest(entry.goal))
    return found, given_up


def names_in(view: View) -> list[tuple[ReceiptName, int]]:
    """Return what a view knows by such names, each with the ledger sequence of its entry, or 0 where it is kept."""
    keyed = [
        (ReceiptName(_digest(key.cwd, key.session, key.key), None), kept.sequence)
        for key, kept in view.receipts.items()
    ]
    operations = [
        (ReceiptName(_digest("operation", operation_id), _digest(identity.goal)), 0)
        for identity, stream in view.scopes.items()
        if identity.kind == "goal"
        for operation_id in cast("Mapping[str, object]", stream.planes.get("receipts", NOTHING))
    ]
    return keyed + operations


def _names(entry: _Entry) -> Iterator[ReceiptName]:
    if entry.goal is not None:
        for operation_id in _PATCHES.decode(entry.patches).goal.receipts:
            yield ReceiptName(_digest("operation", operation_id), _digest(entry.goal))
    elif entry.key is not None:
        yield ReceiptName(_digest(entry.cwd, entry.session, entry.key), None)


def _digest(*words: str | None) -> bytes:
    return hashlib.sha256(msgspec.json.encode(words)).digest()
