"""The rows of the method table that are about goals, their documents and their authority."""

from __future__ import annotations

from typing import Final

from stateward_protocol import authority_messages as a
from stateward_protocol import goal_messages as g
from stateward_protocol import messages as m
from stateward_protocol.method import Kind, Method
from stateward_protocol.operation_messages import GoalParams
from stateward_protocol.record_messages import GoalRenderParams, GoalRenderResult

DOCUMENT: Final = "/home/ada/project/ACTIVE_GOAL_STATE.md"
GOAL: Final = {"goal_id": "rollback"}

ROWS: Final = (
    Method(
        "goal_new",
        Kind.GOAL,
        g.GoalNewParams,
        g.GoalRegisterResult,
        "Make the document of a goal and register it; a file that is there stays as it is.",
        {
            "goal_id": "rollback",
            "path": DOCUMENT,
            "objective": "Every release can be rolled back in ten minutes",
        },
    ),
    Method(
        "goal_register",
        Kind.GOAL,
        g.GoalRegisterParams,
        g.GoalRegisterResult,
        "Register a document as that of a goal; not one byte of it is changed.",
        {"goal_id": "rollback", "path": DOCUMENT},
    ),
    Method(
        "goal_configure",
        Kind.GOAL,
        g.GoalConfigureParams,
        g.GoalConfigureResult,
        "Change the registered actors, the handoff mode or the place of the document of a goal.",
        {"goal_id": "rollback", "agents": ["codex", "claude"]},
    ),
    Method("goal_list", Kind.READ, m.NoParams, g.GoalListResult, "List the registered goals.", {}),
    Method(
        "goal_projection",
        Kind.DOCUMENT,
        m.DocumentParams,
        dict,
        "Read a goal document into its projection object.",
        {"path": DOCUMENT},
    ),
    Method(
        "goal_diagnostics",
        Kind.DOCUMENT,
        m.DocumentParams,
        m.GoalDiagnosticsResult,
        "Read a goal document into its problems, with a fix where a mechanical repair exists.",
        {"path": DOCUMENT},
    ),
    Method(
        "goal_render",
        Kind.DOCUMENT,
        GoalRenderParams,
        GoalRenderResult,
        "Render canonical records onto a goal document; no file is written.",
        {
            "path": DOCUMENT,
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
    Method(
        "goal_status",
        Kind.DOCUMENT,
        GoalParams,
        a.GoalStatusResult,
        "Ask where the authority of a goal's todos is, and whether its document shows the newest ones.",
        GOAL,
    ),
    Method(
        "authority_shadow_bootstrap",
        Kind.GOAL,
        a.ShadowBootstrapParams,
        a.ShadowResult,
        "Copy the qualified todos of a document into a shadow; the document stays the authority.",
        GOAL,
    ),
    Method(
        "authority_shadow_qualify",
        Kind.DOCUMENT,
        GoalParams,
        a.ShadowQualifyResult,
        "Ask what stands against the promotion of a goal; nothing is changed.",
        GOAL,
    ),
    Method(
        "authority_promote",
        Kind.GOAL,
        a.PromoteParams,
        a.PromoteResult,
        "Make the ledger the authority of a goal's todos, and the document their display. There is no way back.",
        {**GOAL, "handoff_mode": "hard_lease"},
    ),
    Method(
        "authority_rollback",
        Kind.GOAL,
        a.RollbackParams,
        a.ShadowResult,
        "Put a shadow aside before promotion; the document was the authority all the time.",
        GOAL,
    ),
)
