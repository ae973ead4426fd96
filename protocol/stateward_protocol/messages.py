"""Params and results of every method, as typed structs: a wrong call is refused while it is decoded.

Evolution: new fields have defaults, types do not change, and clients ignore fields that they do not know. The daemon
refuses unknown members of writes, because a member that is ignored there is an instruction that is lost.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

# A session id is printed, logged and typed by people, so it is a word without surprises.
SessionId: TypeAlias = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9._:-]{1,128}$(?!\n)", description="letters, digits and . _ : - (at most 128)")
]
Owner: TypeAlias = Literal["global", "cwd", "session"]
StreamKind: TypeAlias = Literal["global", "cwd", "session", "goal", "display"]
Mode: TypeAlias = Literal["active", "passive", "off"]
Projection: TypeAlias = Literal["value", "keys", "patch"]
Severity: TypeAlias = Literal["error", "warning", "info"]
IdempotencyKey: TypeAlias = Annotated[str, Meta(min_length=1, max_length=128)]
Patch: TypeAlias = Annotated[
    Any, Meta(description="object of scopes, each an object of planes, each an object of keys")
]
ScopeStates: TypeAlias = Annotated[Any, Meta(description="object of scopes, each an object of planes")]
# Any JSON value: the engine checks what it holds, so the wire need not know its rules.
JsonValue: TypeAlias = Any


class Params(Struct, frozen=True, kw_only=True):
    """Params of a method that changes nothing; unknown members are ignored."""


class StrictParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Params whose unknown members are refused."""


class Result(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """What a method answers."""


class NoParams(Params, frozen=True):
    """No params; members are ignored."""


# -- the connection --------------------------------------------------------------------------------------------------


class ClientInfo(Struct, frozen=True, kw_only=True):
    """Who is calling, for `sessions` and the log, which show the first 128 characters of each."""

    name: Annotated[str, Meta(min_length=1, description="at least one character")]
    version: str = ""


class AttachParams(Params, frozen=True):
    """Bind a connection to the owners it works with.

    `cwd` is an absolute path of an existing directory; the daemon's own directory and environment are never used.
    `session` is the id of a session in that directory, and needs `cwd`.
    `wanted` defaults to `global`, plus `cwd` and `session` where they are given.
    `mode` belongs to the connection: with `off` it can neither read nor change state; the other methods stay.
    In `passive` the baseline leaves out answers, and `respond` is refused; reads and patches are the same in both.
    """

    client: ClientInfo
    protocol: int
    cwd: str | None = None
    session: SessionId | None = None
    wanted: list[Owner] | UnsetType = UNSET
    mode: Mode = "active"


class DaemonInfo(Result, frozen=True):
    """Which daemon answers. `provider` is the kind of its ledger."""

    version: str
    pid: int
    store: str
    provider: str


class Limits(Result, frozen=True):
    """Bounds that a client meets; the protocol page has a table of them with their units."""

    max_message_bytes: int
    max_entry_bytes: int
    queue_length_max: int
    max_path_length: int = 0
    max_paths: int = 0


class KnownSession(Result, frozen=True):
    """A session that changed something in this cwd, and when it last did (RFC 3339, UTC)."""

    id: str
    changed_at: str


class AttachResult(Result, frozen=True):
    """What the connection is bound to. `stale_since` is as in `writer` of `status`."""

    protocol: int
    daemon: DaemonInfo
    cwd: str | None
    session: str | None
    wanted: list[Owner]
    mode: Mode
    history_limit: int
    limits: Limits
    sessions: list[KnownSession]
    stale_since: str | UnsetType = UNSET


class PingResult(Result, frozen=True):
    """The daemon is there."""

    ok: bool = True


class WriterHealth(Result, frozen=True):
    """Whether mutations are taken, and why not.

    `stale_since` is when the database was last reached (RFC 3339, UTC) that is out of reach now: what others have
    committed since is not seen. It is absent otherwise.
    """

    ok: bool
    reason: str | None = None
    stale_since: str | UnsetType = UNSET


class DamagedScope(Result, frozen=True):
    """A stream that cannot be trusted: what names it, its file relative to the store, and what is wrong there."""

    kind: StreamKind
    cwd: str | None
    session: str | None
    file: str
    reason: str
    goal_id: str | None = None


class StatusResult(Result, frozen=True):
    """Versions, places, load and health of the daemon.

    `uptime_s` is in seconds, `store_bytes` is how much the next start replays, `sequence` the last durable ledger
    sequence. The scopes in `damaged` are refused, and all others served.
    """

    version: str
    protocol: int
    pid: int
    store: str
    socket: str
    log: str
    provider: str
    uptime_s: int
    connections: int
    queue_length: int
    sequence: int
    store_bytes: int
    writer: WriterHealth
    damaged: list[DamagedScope] = []


class Connection(Result, frozen=True):
    """One live connection. `kind` is what it bound itself as."""

    id: int
    kind: Literal["agent", "editor", "unattached"]
    client: str
    version: str
    pid: int
    cwd: str | None
    session: str | None
    wanted: list[Owner]


class SessionsResult(Result, frozen=True):
    """All live connections, oldest first."""

    connections: list[Connection]


class ShutdownResult(Result, frozen=True):
    """The daemon has stopped listening; it ends when what is queued is on disk."""

    pid: int


# -- state -----------------------------------------------------------------------------------------------------------


class ReadStateParams(StrictParams, frozen=True):
    """Exactly one of `path` and `paths`, and how to project what is there."""

    path: str | UnsetType = UNSET
    paths: Annotated[list[str], Meta(min_length=1)] | UnsetType = UNSET
    projection: Projection = "value"


class PatchStateParams(StrictParams, frozen=True):
    """A recursive patch: objects merge, null deletes a member, anything else replaces.

    `idempotency_key` makes a repeat safe: the same key and patch get the first answer. `if_revision` is the `revision`
    of `state_status`: the patch is refused when a wanted scope has moved on.
    """

    patch: Patch
    idempotency_key: IdempotencyKey | None = None
    if_revision: str | None = None


class StateUpdates(Result, frozen=True):
    """What a writer cannot know from its own patch; absent members have nothing to tell.

    `cascaded` are the paths that the deletion of intents cleared. `effective` are places of the hot effective view,
    each with its `path` of keys and array positions and its `value`, or `deleted`. `lazy_navigation` is as in
    `baseline`.
    """

    cascaded: list[str] | UnsetType = UNSET
    effective: list[dict[str, JsonValue]] | UnsetType = UNSET
    lazy_navigation: dict[str, JsonValue] | UnsetType = UNSET


class PatchReceipt(Result, frozen=True):
    """Which scopes really changed, in precedence order, and what else there is to know."""

    changed: list[Owner]
    state_updates: StateUpdates | UnsetType = UNSET


class ChangedResult(Result, frozen=True):
    """Which scopes really changed."""

    changed: list[Owner]


class ScopeHealth(Result, frozen=True):
    """Whether a scope can be served."""

    ok: bool
    reason: str | None = None


class StateStatusResult(Result, frozen=True):
    """Revisions of the wanted scopes, as one opaque word for `if_revision`."""

    revision: str
    boundaries: int
    scopes: dict[str, ScopeHealth]
    writer: WriterHealth


class BaselineResult(Result, frozen=True):
    """What a run starts with: hot state, where lazy state is, and the newest records, oldest first.

    A record's `offset` is the number that reads its boundary, as in `cwd[2]`.
    """

    state: dict[str, JsonValue]
    lazy_navigation: dict[str, JsonValue]
    recent_transitions: list[dict[str, JsonValue]] | UnsetType = UNSET


class RespondParams(StrictParams, frozen=True):
    """The answer to keep as the session's `response`; an empty one removes it."""

    text: str


class SetModeParams(StrictParams, frozen=True):
    """The mode of this connection from now on."""

    mode: Mode


class SetModeResult(Result, frozen=True):
    """The mode that this connection is in."""

    mode: Mode


class ForkSessionParams(StrictParams, frozen=True):
    """A known session of this cwd, and the id of the one to begin with its state."""

    parent: SessionId
    child: SessionId


class ConfigureParams(StrictParams, frozen=True):
    """`history_limit` is how many transitions stay addressable: one durable setting of the store."""

    # A read at an offset walks the kept records, and each record costs memory for as long as it is kept.
    history_limit: Annotated[int, Meta(ge=0, le=100)]


class ConfigureResult(Result, frozen=True):
    """The setting that is now durable."""

    history_limit: int


class ExportResult(Result, frozen=True):
    """The stored planes of each wanted scope; a scope that was never changed is an empty object."""

    scopes: dict[str, JsonValue]


class ImportStateParams(StrictParams, frozen=True):
    """Whole states for scopes that nothing ever changed; `scopes` is what `export_state` answers."""

    scopes: ScopeStates


# -- goal documents --------------------------------------------------------------------------------------------------


class DocumentParams(Params, frozen=True):
    """Which document: the file at the absolute `path`, or `text` as an editor holds it unsaved.

    Without either it is that of the registered goal `goal_id`; beside one of them, `goal_id` is only repeated in the
    answer, as `source_ref` is.
    """

    path: str | None = None
    text: str | None = None
    goal_id: str | None = None
    source_ref: str = "ACTIVE_GOAL_STATE.md"


class Position(Result, frozen=True):
    """A place in a document: line from 0, character in code points from 0."""

    line: int
    character: int


class Range(Result, frozen=True):
    """From `start` up to and without `end`."""

    start: Position
    end: Position


class Related(Result, frozen=True):
    """Another place that has to do with a problem."""

    range: Range
    message: str


class TextEdit(Result, frozen=True):
    """The characters of a range, replaced by a text; an empty range inserts."""

    range: Range
    text: str


class Fix(Result, frozen=True):
    """A mechanical repair: all of its edits, or none. A `safe` one may be made unasked."""

    title: str
    safe: bool
    edits: list[TextEdit]


class DiagnosticItem(Result, frozen=True):
    """One problem of a document; `fix` is there when a mechanical repair exists."""

    range: Range
    severity: Severity
    code: str
    message: str
    related: list[Related]
    fix: Fix | UnsetType = UNSET


class GoalDiagnosticsResult(Result, frozen=True):
    """Problems of a document, in its order.

    `projection_diagnostics` is null when the document is refused; then an item of severity `error` says why.
    """

    projection_diagnostics: dict[str, JsonValue] | None
    items: list[DiagnosticItem]
