"""The arguments of the verbs about goals, todos, leases and their authority.

An option stands under the name of its param, and beside it the names that people know it by.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_daemon.cli.arguments import count
from stateward_daemon.exits import UsageFault

if TYPE_CHECKING:
    from stateward_daemon.cli.parser import VerbParser

HANDOFF_MODES: Final = ("soft_claim", "hard_lease")
ROLES: Final = ("user", "agent")
STATUSES: Final = ("open", "blocked", "deferred", "done")


class _Field(NamedTuple):
    """An option for one field of a todo.

    Attributes:
        name: The field.
        meaning: What it says of the todo.
        metavar: What stands behind the option; nothing for a flag.
        how: `one` value, `many` with the option repeated, a `count`, a `flag`, or `json`, be it `many_json`.
    """

    name: str
    meaning: str
    metavar: str = "TEXT"
    how: str = "one"


_PLANNED: Final = (
    _Field("status", "Its status: open, blocked, deferred and the like.", "STATUS"),
    _Field("priority", "P0, the most urgent, to P4.", "P0..P4"),
    _Field("task_class", "What class of work it is.", "CLASS"),
    _Field("action_kind", "What kind of action it asks for.", "KIND"),
    _Field("task_domain", "The domain that it belongs to.", "DOMAIN"),
    _Field("task_repository", "The repository that it is about.", "REPOSITORY"),
    _Field("continuation_policy", "What follows its completion.", "POLICY"),
    _Field("required_write_scopes", "A path pattern that it writes to; repeat it for more.", "PATTERN", "many"),
    _Field("required_capabilities", "A capability that it needs; repeat it for more.", "NAME", "many"),
    _Field("target_capabilities", "A capability that it brings about; repeat it for more.", "NAME", "many"),
    _Field("decision_scope", "What the user decides on, as kind:granularity:key or JSON.", "SCOPE", "json"),
    _Field("required_decision_scopes", "A decision that it needs first; repeat it for more.", "SCOPE", "many_json"),
    _Field("bound_agent", "The only agent that it is for.", "AGENT"),
    _Field("goal_bound", "It is for the goal as a whole.", "", "flag"),
    _Field("blocks_agent", "The agent that waits for it.", "AGENT"),
    _Field("excluded_agents", "An agent that may not take it; repeat it for more.", "AGENT", "many"),
    _Field("global_gate", "Everything waits for it.", "", "flag"),
    _Field("unblocks_todo_id", "The todo that waits for it.", "ID"),
    _Field("resume_when", "What it waits for, as in todo_done:ID.", "CONDITION"),
    _Field("target_key", "What a monitor looks at.", "KEY"),
    _Field("cadence", "How often a monitor looks.", "CADENCE"),
    _Field("next_due_at", "When it is due, in RFC 3339.", "TIME"),
    _Field("expires_at", "When it is of no use any more, in RFC 3339.", "TIME"),
    _Field("watch_only", "It is watched and not worked on.", "TEXT"),
)
_UPDATED: Final = (
    _Field("capability_binding_ref", "What its capabilities are bound to.", "REF"),
    _Field("explore_result_node_refs", "An explored node that it comes from; repeat it for more.", "REF", "many"),
    _Field("reason", "Why it is as it is."),
    _Field("last_checked_at", "When a monitor last looked, in RFC 3339.", "TIME"),
    _Field("result_hash", "What the monitor found, as its digest.", "HASH"),
    _Field("consecutive_no_change", "How often in a row it found nothing new.", "COUNT"),
    _Field("material_change", "What it found that matters."),
    _Field("material_change_generation", "Counts what it found that matters.", "COUNT", "count"),
    _Field("max_no_change_before_replan", "After how much of nothing new to plan anew.", "COUNT"),
    _Field("monitor_effect_id", "Identity of what the monitor did.", "ID"),
    _Field("resume_monitor_generation", "The generation of the monitor that it resumes at.", "COUNT", "count"),
    _Field("replan_obligation_id", "Why it was planned anew.", "ID"),
    _Field("superseded_by", "The todo that takes its place.", "ID"),
    _Field("handoff_note", "What the next one needs to know, as text or JSON.", "TEXT|JSON", "json"),
)
_NOTE: Final = _Field("note", "A note on it.")
_EVIDENCE: Final = _Field("evidence", "What shows that it is done.")
_SUCCESSORS: Final = _Field("successor_todo_ids", "A todo that comes after it; repeat it for more.", "ID", "many")
_CLAIMED_BY: Final = _Field("claimed_by", "Who works on it.", "AGENT")
_VALIDATION: Final = (
    _Field("validation_command", "How its completion is checked: a command line.", "COMMAND"),
    _Field("validation_command_argv", "The same, word by word; repeat it for each.", "WORD", "many"),
    _Field("validation_label", "What the check is called."),
    _Field("validation_timeout_seconds", "How long the check may take.", "SECONDS", "count"),
)
# Without any of them an update asks for nothing.
UPDATABLE: Final = (
    *("text", "clear"),
    *(field.name for field in (*_PLANNED, _NOTE, _EVIDENCE, _SUCCESSORS, *_UPDATED)),
)
# Of options that are repeated, the names for one of many.
_SINGULAR: Final = {
    "required_write_scopes": "--required-write-scope",
    "required_capabilities": "--required-capability",
    "target_capabilities": "--target-capability",
    "required_decision_scopes": "--required-decision-scope",
    "excluded_agents": "--excluded-agent",
    "explore_result_node_refs": "--explore-result-node-ref",
    "successor_todo_ids": "--successor-todo-id",
}


def _add_fields(parser: VerbParser, *fields: _Field) -> None:
    for field in fields:
        named: dict[str, Any] = {"help": field.meaning, "dest": field.name}
        match field.how:
            case "flag":
                named |= {"action": "store_true", "default": None}
            case "many":
                named |= {"action": "append", "metavar": field.metavar}
            case "many_json":
                named |= {"action": "append", "metavar": field.metavar, "type": text_or_json}
            case "json":
                named |= {"metavar": field.metavar, "type": text_or_json}
            case "count":
                named |= {"metavar": field.metavar, "type": count}
            case _:
                named |= {"metavar": field.metavar}
        names = [f"--{field.name.replace('_', '-')}"]
        parser.add_argument(*([_SINGULAR[field.name]] if field.name in _SINGULAR else []), *names, **named)


def text_or_json(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return what a text says: an object or an array where it is one as JSON, else itself.

    Raises:
        ArgumentTypeError: It begins as JSON does and is none.
    """
    if not text.startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise argparse.ArgumentTypeError("what begins with a bracket is JSON, and this is not") from None


# -- what several verbs have -----------------------------------------------------------------------------------------


def add_goal_option(parser: VerbParser) -> None:
    """Add which goal is meant."""
    default = parser.from_environment("goal_id", "STATEWARD_GOAL")
    parser.add_argument(
        "--goal-id",
        "--goal",
        metavar="ID",
        default=default,
        required=default is None,
        help="The goal.  [default: STATEWARD_GOAL]",
    )


def add_todo_option(parser: VerbParser) -> None:
    """Add which todo is meant."""
    parser.add_argument("--todo-id", "--todo", metavar="ID", required=True, help="The todo.")


def add_operation_options(parser: VerbParser) -> None:
    """Add what every mutation of a goal takes."""
    parser.add_argument(
        "--operation-id",
        metavar="ID",
        help="Make a repeat safe: the same id and members change nothing twice.  [default: a random one]",
    )
    parser.add_argument("--agent-id", "--agent", metavar="AGENT", help="Who acts.  [default: the user]")
    parser.add_argument(
        "--expected-provider-revision",
        "--provider-revision",
        metavar="REVISION",
        help="Refuse if the goal is past this revision.",
    )
    parser.add_argument("--dry-run", action="store_true", default=None, help="Decide, and change nothing.")


def add_lease_options(parser: VerbParser) -> None:
    """Add the lease that a mutation wants or proves."""
    parser.add_argument("--idempotency-key", metavar="KEY", help="The key of the lease.  [default: without a lease]")
    parser.add_argument(
        "--expected-version", metavar="COUNT", type=count, help="The version of the lease; 0 is none yet."
    )
    parser.add_argument(
        "--ttl-seconds", "--ttl", metavar="SECONDS", type=count, help="How long a new lease lasts.  [at first: 2700]"
    )


# -- goals -----------------------------------------------------------------------------------------------------------


def add_goal_register(parser: VerbParser) -> None:
    """Add the document and who works on it."""
    parser.add_argument("path", metavar="FILE")
    add_agents(parser)


def add_display_option(parser: VerbParser) -> None:
    """Add whether to look at the documents."""
    parser.add_argument("--display", action="store_true", help="Look at the documents, too: whether they are current.")


def add_agents(parser: VerbParser) -> None:
    """Add the registered actors."""
    parser.add_argument(
        "--agents",
        metavar="AGENTS",
        type=_agents,
        help='Who may work on the goal, separated by commas; "" admits everybody.',
    )


def add_handoff_mode(parser: VerbParser) -> None:
    """Add how todos are handed out."""
    parser.add_argument(
        "--handoff-mode",
        metavar="soft_claim|hard_lease",
        choices=HANDOFF_MODES,
        help="Whether agents need a lease to work on a todo.",
    )


def add_moved_path(parser: VerbParser) -> None:
    """Add where a document is that was moved."""
    parser.add_argument(
        "--path", metavar="FILE", type=os.path.abspath, help="Where the document is, now that it was moved."
    )


def _agents(text: str) -> list[str]:
    return [agent.strip() for agent in text.split(",") if agent.strip()]


# -- todos -----------------------------------------------------------------------------------------------------------


def add_todo_list(parser: VerbParser) -> None:
    """Add which todos to list."""
    parser.add_argument("--todo-id", "--todo", metavar="ID", help="Read this one exactly, with its whole text.")
    parser.add_argument(
        "--role",
        metavar="user|agent|archive",
        choices=(*ROLES, "archive"),
        help="Those of the user, of the agents, or of the archive.",
    )
    parser.add_argument("--status", metavar="|".join(STATUSES), choices=STATUSES, help="Those of a status.")
    parser.add_argument("--agent-id", "--agent", metavar="AGENT", help="For whom they are listed.")
    parser.add_argument("--ready", action="store_true", default=None, help="Those that can be worked on now.")
    parser.add_argument("--limit", metavar="COUNT", type=count, help="At most so many.  [default: all]")


def add_todo_add(parser: VerbParser) -> None:
    """Add the todo to add."""
    parser.add_argument("words", metavar="[TEXT]", nargs="?")
    parser.add_argument("--text", metavar="TEXT", help="Its text, if it does not stand alone.")
    parser.add_argument(
        "--role", metavar="user|agent", choices=ROLES, default="agent", help="Whose it is.  [default: agent]"
    )
    _add_fields(parser, *_PLANNED, _NOTE, _CLAIMED_BY, *_VALIDATION)


def add_todo_claim(parser: VerbParser) -> None:
    """Add who claims."""
    parser.add_argument("--claimed-by", metavar="AGENT", help="Who claims it.  [default: --agent-id]")


def add_todo_update(parser: VerbParser) -> None:
    """Add what to change."""
    parser.add_argument("--text", metavar="TEXT", help="Its text.")
    parser.add_argument(
        "--clear", metavar="FIELD", action="append", help="Remove a field, by its name; repeat it for more."
    )
    _add_fields(parser, *_PLANNED, _NOTE, _EVIDENCE, _SUCCESSORS, *_UPDATED)


def add_todo_complete(parser: VerbParser) -> None:
    """Add what shows that it is done, and what comes next."""
    _add_fields(parser, _EVIDENCE, _NOTE, _SUCCESSORS)
    parser.add_argument("--no-followup", action="store_true", default=None, help="Nothing comes after it.")
    parser.add_argument(
        "--next", metavar="TEXT|JSON", type=_next_todo, help="Add this todo of an agent, or JSON of one, after it."
    )
    parser.add_argument("--decision-outcome", metavar="approve|reject|cancel", help="How the user decided, of a gate.")
    parser.add_argument("--completion-turn-key", "--turn-key", metavar="KEY", help="The turn that completed it.")
    _add_fields(parser, *_VALIDATION)


def _next_todo(text: str) -> dict[str, Any]:
    given = text_or_json(text)
    if isinstance(given, dict):
        return given
    return {"role": "agent", "text": text}


def add_todo_archive(parser: VerbParser) -> None:
    """Add how many stay."""
    parser.add_argument(
        "--role", metavar="user|agent", choices=ROLES, default="agent", help="Whose todos.  [default: agent]"
    )
    parser.add_argument(
        "--max-active-done", metavar="COUNT", type=count, help="Keep so many of the newest.  [default: 10]"
    )
    add_execute(parser)


def add_execute(parser: VerbParser) -> None:
    """Add whether it is meant."""
    parser.add_argument("--execute", action="store_true", default=None, help="Do it.  [default: only show it]")


def add_todo_receipt(parser: VerbParser) -> None:
    """Add which operation."""
    parser.add_argument("--operation-id", metavar="ID", required=True, help="The operation.")


def add_project_markdown(parser: VerbParser) -> None:
    """Add which revision to show."""
    parser.add_argument(
        "--provider-revision", metavar="REVISION", help="This revision and no other.  [default: the newest]"
    )
    add_execute(parser)


def add_refresh_state(parser: VerbParser) -> None:
    """Add what was found."""
    parser.add_argument("--classification", metavar="WORD", help="What the actor found.")
    parser.add_argument("--next-action", metavar="TEXT", help="What comes next.")
    parser.add_argument("--turn-key", metavar="KEY", help="Make a repeat of the turn one.")


# -- leases ----------------------------------------------------------------------------------------------------------


def add_held_lease(parser: VerbParser) -> None:
    """Add whose lease, and which."""
    parser.add_argument("--owner", metavar="AGENT", help="Whose lease.  [default: --agent-id]")
    parser.add_argument("--idempotency-key", metavar="KEY", required=True, help="The key of the lease.")


def add_ttl(parser: VerbParser) -> None:
    """Add how long a lease lasts."""
    parser.add_argument(
        "--ttl-seconds", "--ttl", metavar="SECONDS", type=count, help="How long it lasts, 1 to 86400.  [at first: 2700]"
    )


def add_expected_version(parser: VerbParser) -> None:
    """Add the version that a lease has to have."""
    parser.add_argument(
        "--expected-version", metavar="COUNT", type=count, required=True, help="The version that the lease has."
    )


def add_version_if_any(parser: VerbParser) -> None:
    """Add the version that a lease may have to have."""
    parser.add_argument(
        "--expected-version", metavar="COUNT", type=count, help="Refuse another version; 0 is none yet."
    )


def add_lease_transfer(parser: VerbParser) -> None:
    """Add who gets it."""
    parser.add_argument("--new-owner", metavar="AGENT", required=True, help="Who gets it.")
    parser.add_argument("--new-idempotency-key", metavar="KEY", required=True, help="Under which new key.")


def owner_of(owner: str | None, agent_id: str | None, option: str) -> str:
    """Return who is meant: the one that an option names, else the actor.

    Raises:
        UsageFault: Neither is given.
    """
    who = agent_id if owner is None else owner
    if who is None:
        raise UsageFault(f"who? name the agent with {option}, or with --agent-id")
    return who
