"""The checkpoint of one stream: a pure codec on bytes. `FORMAT.md` shows it.

A checkpoint is one JSON object on one line. Its last member is the SHA-256 of every byte before that member, so that a
person can check it with `head -c` and `sha256sum`.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

import msgspec

from stateward_engine.state.history import rewound
from stateward_engine.state.patch import apply
from stateward_engine.state.view import GOAL_PLANES, PLANES, Change, Identity, KeptReceipt, Planes, ReceiptKey, Scope
from stateward_engine.state.whole_state import begun, exported

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stateward_engine.json_value import Json

CHECKPOINT_FORMAT: Final = 1
CHECKPOINT_SUFFIX: Final = ".json"
_DIGEST_MEMBER: Final = b',"sha256":"'
_DIGEST_END: Final = b'"}\n'
_TRAILER_BYTES: Final = len(_DIGEST_MEMBER) + 2 * hashlib.sha256().digest_size + len(_DIGEST_END)


class Stream(NamedTuple):
    """All that one stream keeps.

    Attributes:
        identity: Whose it is.
        scope: Its state with its kept past; `scope.touched` is the ledger sequence that it covers.
        changed_at: Of a session, when it was last changed (RFC 3339, UTC); `None` for other scopes.
        receipts: The kept answers of keyed mutations that have their home here, oldest first.
    """

    identity: Identity
    scope: Scope
    changed_at: str | None
    receipts: Mapping[ReceiptKey, KeptReceipt]


class DamagedStream(ValueError):
    """Bytes that are not the checkpoint they should be; the message is the reason, without a quoted byte."""


class _Owner(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    cwd: str | None
    session: str | None
    goal: str | None = None


class _Change(msgspec.Struct, forbid_unknown_fields=True):
    sequence: int
    patch: dict[str, Any]


class _Receipt(msgspec.Struct, forbid_unknown_fields=True):
    sequence: int
    cwd: str | None
    session: str | None
    key: str
    digest: str
    receipt: dict[str, Any]


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    """The members of a checkpoint, in the order of the file."""

    format: Literal[1]
    kind: str
    identity: _Owner
    sequence: int
    revision: int
    since: int
    changed_at: str | None
    base: msgspec.Raw
    tail: list[_Change]
    receipts: list[_Receipt]
    # Written by hand: it is about the bytes before it.
    sha256: str | msgspec.UnsetType = msgspec.UNSET


class _Format(msgspec.Struct):
    format: int


def encode(stream: Stream) -> tuple[bytes, str]:
    """Return the bytes of a stream's checkpoint, and the digest that stands in them.

    Source: store.md section 2.
    """
    identity, scope = stream.identity, stream.scope
    base = Scope(rewound(scope), declarations=scope.declarations)
    document = _Document(
        format=CHECKPOINT_FORMAT,
        kind=identity.kind,
        identity=_Owner(identity.cwd, identity.session, identity.goal),
        sequence=scope.touched,
        revision=scope.revision,
        since=scope.since,
        changed_at=stream.changed_at,
        base=msgspec.Raw(msgspec.json.encode(exported(base))),
        tail=[_Change(change.sequence, cast("dict[str, Any]", change.patch)) for change in scope.changes],
        receipts=[
            _Receipt(kept.sequence, key.cwd, key.session, key.key, kept.digest, cast("dict[str, Any]", kept.receipt))
            for key, kept in stream.receipts.items()
        ],
    )
    body = msgspec.json.encode(document)[: -len(b"}")]
    digest = hashlib.sha256(body).hexdigest()
    return body + _trailer(digest), digest


def decode(data: bytes, identity: Identity) -> tuple[Stream, str]:
    """Return the stream of a checkpoint and its digest.

    Args:
        data: The whole content of the file.
        identity: Whose it has to be.

    Raises:
        DamagedStream: Other bytes than were written, another version, another stream, or a content that no store
            writes: nulls, planes of the wrong kind, changes that cannot be replayed.

    Source: store.md sections 2 and 4.
    """
    try:
        return _decode(data, identity)
    except DamagedStream:
        # A file of another version may look wrong in any way, and deserves the better advice.
        _demand_version(data)
        raise


def _decode(data: bytes, identity: Identity) -> tuple[Stream, str]:
    # A window: checkpoints may have many megabytes, and each copy takes longer than the digest.
    digest = hashlib.sha256(memoryview(data)[:-_TRAILER_BYTES]).hexdigest()
    if data[-_TRAILER_BYTES:] != _trailer(digest):
        raise DamagedStream("its bytes do not fit its digest")
    try:
        document = msgspec.json.decode(data, type=_Document)
        base = msgspec.json.decode(document.base, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DamagedStream("its members are not those of a checkpoint") from error
    owner = document.identity
    if (document.kind, owner) != (identity.kind, _Owner(identity.cwd, identity.session, identity.goal)):
        raise DamagedStream("it belongs to another directory, session, scope or goal")
    _check_base(base, document.base, PLANES if identity.goal is None else GOAL_PLANES)
    receipts = {
        ReceiptKey(kept.cwd, kept.session, kept.key): KeptReceipt(kept.digest, kept.receipt, kept.sequence, identity)
        for kept in document.receipts
    }
    return Stream(identity, _replayed(document, base), document.changed_at, receipts), digest


def _trailer(digest: str) -> bytes:
    """Return how a checkpoint ends: the digest of all that is before."""
    return b"".join((_DIGEST_MEMBER, digest.encode(), _DIGEST_END))


def _demand_version(text: bytes) -> None:
    """Refuse an object that says it has another format; what is no object is for others to refuse."""
    try:
        found = msgspec.json.decode(text, type=_Format).format
    except (msgspec.MsgspecError, RecursionError):
        return
    if found != CHECKPOINT_FORMAT:
        raise DamagedStream(f"it has format {found}, which this version does not know; use the version that wrote it")


def _check_base(base: dict[str, Json], text: msgspec.Raw, planes: Iterable[str]) -> None:
    """Refuse planes that no store writes. A valid digest says that we wrote them, not that we were right."""
    for name, plane in base.items():
        if name not in (*planes, "roots"):
            raise DamagedStream("its base has a plane that is not part of the model")
        if not isinstance(plane, str if name == "response" else dict):
            raise DamagedStream(f"its {name} is of the wrong kind")
    # The search spares nearly every checkpoint the walk over all values.
    if b"null" in bytes(text) and any(_has_null(base[name]) for name in planes if name in base):
        raise DamagedStream("its base holds a null")


def _has_null(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    if isinstance(value, list):
        return any(map(_has_null, value))
    return value is None


def _replayed(document: _Document, base: Planes) -> Scope:
    """Return the scope that the kept changes lead to. Nothing is decided again."""
    boundaries = [document.since, *(kept.sequence for kept in document.tail), document.sequence + 1]
    if any(later <= earlier for earlier, later in pairwise(boundaries)):
        raise DamagedStream("its changes do not follow each other")
    changes: list[Change] = []
    try:
        scope = begun(base, revision=document.revision, since=document.since)
        planes = scope.planes
        for kept in document.tail:
            changes.append(Change(kept.sequence, kept.patch, planes))
            planes = apply(planes, kept.patch)
    except Exception as error:
        raise DamagedStream("its changes cannot be replayed") from error
    if any(later == earlier for earlier, later in pairwise([*(change.before for change in changes), planes])):
        raise DamagedStream("it has a change that changes nothing")
    return Scope(planes, document.revision, document.since, document.sequence, tuple(changes), scope.declarations)


def file_name(identity: Identity) -> str:
    """Return the name of a stream's file in the directory of its kind: the SHA-256 of its owner, `.json`.

    >>> file_name(Identity("global"))
    '95cb9b4f84ceff132cc7a875d8c192bf4997016a939ee64141c1fd628c0e8738.json'
    """
    owner = [identity.cwd, identity.session] if identity.goal is None else [identity.goal]
    return hashlib.sha256(msgspec.json.encode(owner)).hexdigest() + CHECKPOINT_SUFFIX
