"""The rows of the method table that are about connections, state and the store as a whole."""

from __future__ import annotations

from typing import Final

from stateward_protocol import messages as m
from stateward_protocol.method import Kind, Method
from stateward_protocol.notices import SubscribeParams, SubscribeResult
from stateward_protocol.store_messages import CompactResult, ResetScopeParams, ResetScopeResult
from stateward_protocol.virtual_messages import StateDocumentParams, StateDocumentResult

PROTOCOL_VERSION: Final = 1

_ATTACH_EXAMPLE: Final = {
    "client": {"name": "my-agent", "version": "1.0"},
    "protocol": PROTOCOL_VERSION,
    "cwd": "/home/ada/project",
    "session": "s1",
}

ROWS: Final = (
    Method(
        "attach",
        Kind.CONNECTION,
        m.AttachParams,
        m.AttachResult,
        "Bind this connection to the owners that it works with.",
        _ATTACH_EXAMPLE,
    ),
    Method("ping", Kind.CONNECTION, m.NoParams, m.PingResult, "Ask whether the daemon is there.", {}),
    Method(
        "status",
        Kind.CONNECTION,
        m.NoParams,
        m.StatusResult,
        "Ask for versions, places, load and health of the daemon.",
        {},
    ),
    Method("sessions", Kind.CONTROL, m.NoParams, m.SessionsResult, "List the live connections.", {}),
    Method(
        "shutdown_daemon",
        Kind.CONTROL,
        m.NoParams,
        m.ShutdownResult,
        "Stop listening, finish what is queued, then end the daemon.",
        {},
    ),
    Method(
        "read_state",
        Kind.READ,
        m.ReadStateParams,
        dict,
        "Read one path or a batch, exactly or not at all.",
        {"path": "effective.lazy.memory[0]", "projection": "value"},
    ),
    Method(
        "patch_state",
        Kind.WRITE,
        m.PatchStateParams,
        m.PatchReceipt,
        "Merge a patch into the state, and answer once it is durable.",
        {"patch": {"cwd": {"tactics": {"next": "run the tests"}}}},
    ),
    Method(
        "baseline",
        Kind.READ,
        m.NoParams,
        m.BaselineResult,
        "Take what a run starts with: hot state, and where lazy state is.",
        {},
    ),
    Method(
        "respond",
        Kind.WRITE,
        m.RespondParams,
        m.ChangedResult,
        "Keep an answer as the session's response, in mode active.",
        {"text": "the tests pass"},
    ),
    Method(
        "set_mode",
        Kind.READ,
        m.SetModeParams,
        m.SetModeResult,
        "Change the mode of this connection.",
        {"mode": "passive"},
    ),
    Method(
        "fork_session",
        Kind.WRITE,
        m.ForkSessionParams,
        m.ChangedResult,
        "Begin a session with the current state of another one.",
        {"parent": "s1", "child": "s2"},
    ),
    Method(
        "state_document",
        Kind.DOCUMENT,
        StateDocumentParams,
        StateDocumentResult,
        "Take a value of the state, or a projection, as the text that editors show.",
        {"uri": "stateward:/cwd/lazy.json"},
    ),
    Method(
        "state_status",
        Kind.READ,
        m.NoParams,
        m.StateStatusResult,
        "Ask for revisions and health of the wanted scopes.",
        {},
    ),
    Method(
        "subscribe",
        Kind.READ,
        SubscribeParams,
        SubscribeResult,
        "Be told when state, todos or the problems of goals change, by notifications.",
        {"topics": ["state"]},
    ),
    Method(
        "unsubscribe",
        Kind.READ,
        SubscribeParams,
        SubscribeResult,
        "Be told no more.",
        {"topics": ["state"]},
    ),
    Method(
        "configure",
        Kind.WRITE,
        m.ConfigureParams,
        m.ConfigureResult,
        "Change the durable setting of the store.",
        {"history_limit": 7},
    ),
    Method(
        "export_state",
        Kind.READ,
        m.NoParams,
        m.ExportResult,
        "Take the stored states of the wanted scopes.",
        {},
    ),
    Method(
        "import_state",
        Kind.WRITE,
        m.ImportStateParams,
        m.ChangedResult,
        "Put whole states into scopes that nothing ever changed.",
        {"scopes": {"cwd": {"tactics": {"next": "run the tests"}}}},
    ),
    Method(
        "reset_scope",
        Kind.MAINTENANCE,
        ResetScopeParams,
        ResetScopeResult,
        "Give up all that a scope holds, damaged or not; it begins anew and empty.",
        {"scope": "cwd", "cwd": "/home/ada/project"},
    ),
    Method(
        "compact",
        Kind.MAINTENANCE,
        m.NoParams,
        CompactResult,
        "Write what changed into checkpoints and begin a new journal, so that the next start is short.",
        {},
    ),
)
