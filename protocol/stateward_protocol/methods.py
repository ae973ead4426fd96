"""The method table: every method of the wire once, with its types, its rules, one line of meaning and one right call.

The daemon dispatches by it, the client library mirrors it, and the protocol page is generated from it.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_protocol import goal_messages as g
from stateward_protocol import messages as m
from stateward_protocol.notices import SubscribeParams, SubscribeResult
from stateward_protocol.record_messages import GoalRenderParams, GoalRenderResult
from stateward_protocol.store_messages import CompactResult, ResetScopeParams, ResetScopeResult

if TYPE_CHECKING:
    from msgspec import Struct

PROTOCOL_VERSION: Final = 1
# The same methods, for LSP clients that keep foreign names apart.
PREFIX: Final = "stateward/"


class Kind(Enum):
    """What a method needs and touches."""

    CONNECTION = "is answered on any connection, attached or not"
    CONTROL = "concerns the daemon itself, and needs `attach`"
    READ = "answers from the captured view, and needs `attach`"
    WRITE = "goes through the writer, and needs `attach`"
    DOCUMENT = "reads a document, and needs `attach`"
    GOAL = "decides about a goal, by way of its document and the writer, and needs `attach`"
    MAINTENANCE = "goes through the writer for the store as a whole, attached or not"


class Method(NamedTuple):
    """One row of the table.

    Attributes:
        name: As sent, without the prefix.
        kind: What it needs and touches.
        params: The struct that its params are decoded into.
        result: The struct of its answer, or `dict` where the shape follows the request.
        summary: What it does, as one sentence.
        example: Params of a right call.
    """

    name: str
    kind: Kind
    params: type[Struct]
    result: type[Struct | dict[str, Any]]
    summary: str
    example: dict[str, Any]

    @property
    def needs_attach(self) -> bool:
        """Whether a connection must be bound to its owners first."""
        return self.kind not in (Kind.CONNECTION, Kind.MAINTENANCE)

    @property
    def writes(self) -> bool:
        """Whether its handler gives a command for the writer."""
        return self.kind in (Kind.WRITE, Kind.MAINTENANCE)


_ATTACH_EXAMPLE: Final = {
    "client": {"name": "my-agent", "version": "1.0"},
    "protocol": PROTOCOL_VERSION,
    "cwd": "/home/ada/project",
    "session": "s1",
}

METHODS: Final[dict[str, Method]] = {
    method.name: method
    for method in (
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
            "Be told when state changes, by the notification `state_changed`.",
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
        Method(
            "goal_new",
            Kind.GOAL,
            g.GoalNewParams,
            g.GoalRegisterResult,
            "Make the document of a goal and register it; a file that is there stays as it is.",
            {
                "goal_id": "rollback",
                "path": "/home/ada/project/ACTIVE_GOAL_STATE.md",
                "objective": "Every release can be rolled back in ten minutes",
            },
        ),
        Method(
            "goal_register",
            Kind.GOAL,
            g.GoalRegisterParams,
            g.GoalRegisterResult,
            "Register a document as that of a goal; not one byte of it is changed.",
            {"goal_id": "rollback", "path": "/home/ada/project/ACTIVE_GOAL_STATE.md"},
        ),
        Method(
            "goal_configure",
            Kind.WRITE,
            g.GoalConfigureParams,
            g.GoalConfigureResult,
            "Change the registered actors or the handoff mode of a goal.",
            {"goal_id": "rollback", "agents": ["codex", "claude"]},
        ),
        Method("goal_list", Kind.READ, m.NoParams, g.GoalListResult, "List the registered goals.", {}),
        Method(
            "goal_projection",
            Kind.DOCUMENT,
            m.DocumentParams,
            dict,
            "Read a goal document into its projection object.",
            {"path": "/home/ada/project/ACTIVE_GOAL_STATE.md"},
        ),
        Method(
            "goal_diagnostics",
            Kind.DOCUMENT,
            m.DocumentParams,
            m.GoalDiagnosticsResult,
            "Read a goal document into its problems, with a fix where a mechanical repair exists.",
            {"path": "/home/ada/project/ACTIVE_GOAL_STATE.md"},
        ),
        Method(
            "goal_render",
            Kind.DOCUMENT,
            GoalRenderParams,
            GoalRenderResult,
            "Render canonical records onto a goal document; no file is written.",
            {
                "path": "/home/ada/project/ACTIVE_GOAL_STATE.md",
                "provider_revision": "file:store-1:42",
                "records": [
                    {
                        "schema_version": "todo_domain_record_v0",
                        "todo_id": "todo_one",
                        "role": "agent",
                        "status": "open",
                        "done": False,
                        "text": "[P1] Draft the rollback rehearsal",
                        "archive_state": "active",
                    }
                ],
            },
        ),
    )
}
