"""The rows of the table of verbs that are about goals and their documents."""

from __future__ import annotations

from typing import Final

from stateward_daemon.cli.arguments import (
    add_file,
    add_goal_check,
    add_goal_new,
    add_goal_render,
    add_goal_show,
)
from stateward_daemon.cli.goal_arguments import (
    add_agents,
    add_display_option,
    add_goal_option,
    add_goal_register,
    add_handoff_mode,
    add_moved_path,
)
from stateward_daemon.cli.parser import add_json_option, add_reach_options
from stateward_daemon.cli.verb import Verb

ROWS: Final = (
    Verb(
        "goal check",
        "goal_check:check",
        "Check goal documents and print their problems. Exits with 1 on an error or a warning, or when --diff has "
        "something to show. A directory stands for the goal documents below it. Rules are read from stateward.toml "
        'or pyproject.toml. Needs no daemon and no store. Pass "-" to check standard input.',
        "stateward goal check '**/ACTIVE_GOAL_STATE.md'",
        (add_goal_check, add_json_option),
    ),
    Verb(
        "goal show",
        "goal_verbs:show_goal",
        "Show what a goal document says, as agents read it. Needs no daemon and no store.",
        "stateward goal show ACTIVE_GOAL_STATE.md --json",
        (add_file, add_goal_show, add_json_option),
    ),
    Verb(
        "goal render",
        "goal_verbs:render",
        "Print a goal document with canonical todo records in its sections, and all else as it was. Changes no "
        "file, and needs no daemon and no store.",
        "stateward goal render GOAL.md --records all.json --provider-revision r:42",
        (add_file, add_goal_render, add_json_option),
    ),
    Verb(
        "goal new",
        "goal_new:new",
        "Create a goal document, ACTIVE_GOAL_STATE.md if a directory is named, and never overwrite one. Needs no "
        "daemon and no store, unless it is to --register the goal as well.",
        "stateward goal new --goal-id release-2.4 --objective 'Ship release 2.4'",
        (add_goal_new, add_reach_options),
    ),
    Verb(
        "goal register",
        "goal_store_verbs:register",
        "Register a document as that of a goal, so that its todos can be worked with. Not one byte of it is changed.",
        "stateward goal register ACTIVE_GOAL_STATE.md --goal-id release-2.4",
        (add_goal_register, add_goal_option, add_reach_options),
        says_ok=True,
    ),
    Verb(
        "goal configure",
        "goal_store_verbs:configure",
        "Change who may work on a goal, whether agents need leases once it is promoted, or where its document is.",
        "stateward goal configure --goal-id release-2.4 --agents codex,claude",
        (add_goal_option, add_agents, add_handoff_mode, add_moved_path, add_reach_options),
        says_ok=True,
    ),
    Verb(
        "goal list",
        "goal_store_verbs:list_goals",
        "List the registered goals.",
        "stateward goal list",
        (add_display_option, add_reach_options),
        says_ok=True,
    ),
    Verb(
        "goal status",
        "goal_store_verbs:status",
        "Show where the authority of a goal's todos is, and whether its document shows the newest ones.",
        "stateward goal status --goal-id release-2.4",
        (add_goal_option, add_reach_options),
        says_ok=True,
    ),
)
