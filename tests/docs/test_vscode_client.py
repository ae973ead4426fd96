"""The client for VS Code says what the server says: settings, commands, versions and types."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

import stateward_protocol
from stateward_daemon.configuration import DEFAULT, KEYS, RULES, SWITCHES
from stateward_daemon.lsp.commands import COMMANDS
from stateward_daemon.replay import RESTARTED
from stateward_engine.goals.suppression import LEVELS
from stateward_protocol.schema import schema

ROOT: Final = Path(__file__).parent.parent.parent
CLIENT: Final = ROOT / "editor-clients" / "vscode"
PACKAGE: Final[dict[str, Any]] = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
SETTINGS: Final[dict[str, Any]] = PACKAGE["contributes"]["configuration"]["properties"]
CONTRIBUTED: Final = {command["command"] for command in PACKAGE["contributes"]["commands"]}
SOURCES: Final = "\n".join(file.read_text(encoding="utf-8") for file in sorted((CLIENT / "src").glob("*.ts")))
README: Final = (CLIENT / "README.md").read_text(encoding="utf-8")
# What the extension itself needs to know before there is a server.
OWN: Final = ("agent", "session", "documents", "server.command", "server.socket", "trace.server")


def test_it_has_the_settings_of_the_server_and_those_of_its_connection() -> None:
    assert sorted(SETTINGS) == sorted(f"stateward.{name}" for name in (*KEYS, *OWN))


def test_the_server_is_asked_about_its_own_settings_alone() -> None:
    [listed] = re.findall(r"SERVER_SETTINGS = (\[.*?\])", SOURCES)

    assert sorted(json.loads(listed)) == sorted(KEYS)


def test_settings_default_to_what_the_server_does_without() -> None:
    defaults = {name: SETTINGS[f"stateward.{name}"]["default"] for name in KEYS}

    assert defaults == {**DEFAULT._asdict(), RULES: dict(DEFAULT.rules)}
    assert sorted(SETTINGS[f"stateward.{RULES}"]["additionalProperties"]["enum"]) == sorted(LEVELS)
    assert {SETTINGS[f"stateward.{name}"]["type"] for name in SWITCHES} == {"boolean"}


def test_every_setting_is_described_where_it_is_set_and_in_the_readme() -> None:
    described = [
        name for name, setting in SETTINGS.items() if setting.get("markdownDescription", setting.get("description"))
    ]

    assert described == list(SETTINGS)
    assert [name for name in SETTINGS if f"| `{name}` |" not in README] == []


def test_it_is_explained_under_the_headings_of_the_other_clients() -> None:
    other = (CLIENT.parent / "neovim" / "README.md").read_text(encoding="utf-8")

    assert re.findall("^## .*", README, re.MULTILINE) == re.findall("^## .*", other, re.MULTILINE)


def test_commands_of_the_server_are_left_to_the_server() -> None:
    """VS Code refuses a command that two register, and what the server announces is registered."""
    used = set(re.findall(r'"(stateward\.\w+)"', SOURCES))

    assert CONTRIBUTED.isdisjoint(COMMANDS)
    assert {"stateward.claimTodo", "stateward.completeTodo", "stateward.showReceipt", "stateward.readState"} <= used
    assert used - CONTRIBUTED - {"stateward.state", "stateward.todos", "stateward.running"} <= set(COMMANDS)


def test_every_command_is_registered_and_the_readme_has_those_of_the_palette() -> None:
    hidden = {entry["command"] for entry in PACKAGE["contributes"]["menus"]["commandPalette"]}
    titles = {command["command"]: command["title"] for command in PACKAGE["contributes"]["commands"]}

    assert [name for name in CONTRIBUTED if f'"{name}": ' not in SOURCES] == []
    assert [
        title for name, title in titles.items() if name not in hidden and f"| stateward: {title} |" not in README
    ] == []


def test_it_is_released_with_the_server() -> None:
    """The version is also that of the server which it asks for."""
    lock = json.loads((CLIENT / "package-lock.json").read_text(encoding="utf-8"))

    assert {PACKAGE["version"], lock["version"], lock["packages"][""]["version"]} == {stateward_protocol.__version__}


def test_its_types_are_made_from_the_protocol_as_it_is() -> None:
    """`STATEWARD_GOLDEN=write` writes the schema; a package is built with the types that come of it."""
    file = CLIENT / "protocol.schema.json"
    if os.environ.get("STATEWARD_GOLDEN") == "write":
        file.write_text(json.dumps(schema(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    assert json.loads(file.read_text(encoding="utf-8")) == schema()


def test_it_listens_to_the_notifications_that_there_are() -> None:
    listened = set(re.findall(r'onNotification\("(\w+)"', SOURCES))

    assert listened <= set(schema()["notifications"])
    assert listened
    assert f'RESTARTED = "{RESTARTED}"' in SOURCES


def test_goals_are_named_as_the_daemon_takes_them() -> None:
    [pattern] = re.findall(r"GOAL_ID = /(.*)/;", SOURCES)

    assert schema()["$defs"]["GoalRegisterParams"]["properties"]["goal_id"]["pattern"] == f"{pattern}(?!\\n)"


def test_its_problem_matcher_reads_what_goal_check_prints() -> None:
    """DM-007."""
    [pattern] = PACKAGE["contributes"]["problemPatterns"]
    document = "editor-clients/workspace/ACTIVE_GOAL_STATE.md"
    command = [sys.executable, "-m", "stateward_daemon", "goal", "check", document]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    found = [match for line in printed.splitlines() if (match := re.match(pattern["regexp"], line))]

    assert [
        tuple(match[pattern[part]] for part in ("file", "line", "column", "severity", "code")) for match in found
    ] == [
        (document, "26", "27", "error", "duplicate_todo_ids"),
        (document, "28", "27", "error", "duplicate_todo_ids"),
        (document, "29", "1", "warning", "implicit_todo_ids"),
    ]
    assert all(match[pattern["message"]] for match in found)


@pytest.mark.parametrize("folder", [CLIENT, ROOT / "tests" / "editors" / "vscode"])
def test_lock_files_name_no_place_in_the_network(folder: Path) -> None:
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))

    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
    assert (folder / ".npmrc").read_text(encoding="utf-8") == "omit-lockfile-registry-resolved=true\n"


def test_nothing_is_told_to_anybody_else() -> None:
    """The extension speaks to the daemon: no address of the network is in it, and nothing that reports."""
    assert re.findall(r"https?://|fetch\(|telemetry|createTelemetryLogger", SOURCES) == []
