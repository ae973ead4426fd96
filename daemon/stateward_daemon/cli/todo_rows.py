"""The rows of the table of verbs that are about todos, leases and their authority."""

from __future__ import annotations

from typing import Final

from stateward_daemon.cli.goal_arguments import (
    add_expected_version,
    add_goal_option,
    add_handoff_mode,
    add_held_lease,
    add_lease_options,
    add_lease_transfer,
    add_operation_options,
    add_project_markdown,
    add_refresh_state,
    add_todo_add,
    add_todo_archive,
    add_todo_claim,
    add_todo_complete,
    add_todo_list,
    add_todo_option,
    add_todo_receipt,
    add_todo_update,
    add_ttl,
    add_version_if_any,
)
from stateward_daemon.cli.parser import add_reach_options
from stateward_daemon.cli.verb import Verb

_GOAL: Final = (add_goal_option, add_reach_options)
_MUTATION: Final = (add_goal_option, add_operation_options, add_reach_options)
_LEASE: Final = (add_goal_option, add_todo_option, add_held_lease, add_operation_options, add_reach_options)

_ROWS: Final = (
    Verb(
        "todo list",
        "todo_verbs:list_todos",
        "List the todos of a goal in their order, or show one of them exactly.",
        "stateward todo list --goal-id release-2.4 --ready --agent-id codex",
        (add_todo_list, *_GOAL),
    ),
    Verb(
        "todo add",
        "todo_verbs:add",
        "Add a todo to a goal.",
        "stateward todo add --goal-id release-2.4 'Rehearse the rollback' --priority P0",
        (add_todo_add, *_MUTATION),
    ),
    Verb(
        "todo claim",
        "todo_verbs:claim",
        "Claim a todo for an agent, and with a key its lease in the same commit.",
        "stateward todo claim --goal-id release-2.4 --todo-id todo_one --agent-id codex --idempotency-key codex-1",
        (add_todo_option, add_todo_claim, add_lease_options, *_MUTATION),
    ),
    Verb(
        "todo update",
        "todo_verbs:update",
        "Change fields of a todo, all or none.",
        "stateward todo update --goal-id release-2.4 --todo-id todo_one --priority P0 --clear note",
        (add_todo_option, add_todo_update, add_lease_options, *_MUTATION),
    ),
    Verb(
        "todo complete",
        "todo_verbs:complete",
        "Complete a todo, and release its lease in the same commit.",
        "stateward todo complete --goal-id release-2.4 --todo-id todo_one --agent-id codex --evidence 'took 8 minutes'",
        (add_todo_option, add_todo_complete, add_lease_options, *_MUTATION),
    ),
    Verb(
        "todo archive-completed",
        "todo_verbs:archive_completed",
        "Archive finished todos, except the newest ones. Only shows which, unless it is to --execute that.",
        "stateward todo archive-completed --goal-id release-2.4 --max-active-done 5",
        (add_todo_archive, *_MUTATION),
    ),
    Verb(
        "todo receipt",
        "todo_verbs:receipt",
        "Show whether an operation was accepted, as after an answer that was lost.",
        "stateward todo receipt --goal-id release-2.4 --operation-id add-rehearsal",
        (add_todo_receipt, *_GOAL),
    ),
    Verb(
        "todo project-markdown",
        "todo_verbs:project_markdown",
        "Show the todos of a promoted goal in its document. Only tells what would be written, unless it is to "
        "--execute that.",
        "stateward todo project-markdown --goal-id release-2.4 --execute",
        (add_project_markdown, *_GOAL),
    ),
    Verb(
        "lease acquire",
        "lease_verbs:acquire",
        "Take the lease of a todo.",
        "stateward lease acquire --goal-id release-2.4 --todo-id todo_one --owner codex --idempotency-key codex-1",
        (add_version_if_any, add_ttl, *_LEASE),
    ),
    Verb(
        "lease renew",
        "lease_verbs:renew",
        "Make a held lease last longer.",
        "stateward lease renew --goal-id release-2.4 --todo-id todo_one --owner codex --idempotency-key codex-1 "
        "--expected-version 1",
        (add_expected_version, add_ttl, *_LEASE),
    ),
    Verb(
        "lease transfer",
        "lease_verbs:transfer",
        "Give a held lease to another agent, under a new key.",
        "stateward lease transfer --goal-id release-2.4 --todo-id todo_one --owner codex --idempotency-key codex-1 "
        "--expected-version 1 --new-owner claude --new-idempotency-key claude-1",
        (add_lease_transfer, add_expected_version, add_ttl, *_LEASE),
    ),
    Verb(
        "lease release",
        "lease_verbs:release",
        "Give a lease back.",
        "stateward lease release --goal-id release-2.4 --todo-id todo_one --owner codex --idempotency-key codex-1 "
        "--expected-version 1",
        (add_expected_version, *_LEASE),
    ),
    Verb(
        "lease inspect",
        "lease_verbs:inspect",
        "Show who holds the lease of a todo, and whether it is in force.",
        "stateward lease inspect --goal-id release-2.4 --todo-id todo_one",
        (add_todo_option, *_GOAL),
    ),
    Verb(
        "authority bootstrap",
        "authority_verbs:bootstrap",
        "Copy the qualified todos of a document into a shadow. The document stays the authority.",
        "stateward authority bootstrap --goal-id release-2.4",
        _MUTATION,
    ),
    Verb(
        "authority qualify",
        "authority_verbs:qualify",
        "Show what stands against the promotion of a goal. Exits with 1 on anything.",
        "stateward authority qualify --goal-id release-2.4",
        _GOAL,
    ),
    Verb(
        "authority promote",
        "authority_verbs:promote",
        "Make the ledger the authority of a goal's todos, and the document their display. There is no way back.",
        "stateward authority promote --goal-id release-2.4 --handoff-mode hard_lease",
        (add_handoff_mode, *_MUTATION),
    ),
    Verb(
        "authority rollback",
        "authority_verbs:rollback",
        "Put a shadow aside before promotion. The document was the authority all the time.",
        "stateward authority rollback --goal-id release-2.4",
        _MUTATION,
    ),
    Verb(
        "refresh-state",
        "todo_verbs:refresh_state",
        "Record that an agent took stock of a goal, and show where work is missing.",
        "stateward refresh-state --goal-id release-2.4 --agent-id codex --classification in_progress",
        (add_refresh_state, *_MUTATION),
    ),
)

ROWS: Final = tuple(row._replace(says_ok=True) for row in _ROWS)
