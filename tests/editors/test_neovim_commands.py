"""The commands of the client in a real Neovim, and the documents that it serves."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Final

import pytest
from real_editors import DOCUMENT, EDITORS, HERE, environment

from wire import Daemon

PATIENCE_S: Final = 300
COMMANDS: Final = (
    "the document of a goal is served whatever its name is, and no other",
    "a goal that was registered meanwhile is asked of the server that runs",
    "words and paths are completed",
    "keys are browsed a level at a time",
    "the browser follows the state",
    "a value is opened beside the keys",
    "a todo is claimed, completed, and its receipt is shown",
    "a restart serves every document anew",
    "who is leaving is asked nothing",
    "health tells of program, daemon and documents",
    "a program that is too old is told in one line",
    "a program that is missing is told in one line, once",
    "the help has its tags",
)


def worked(script: str, daemon: Daemon, **told: str) -> Any:
    """Return what a script reports that works in a real Neovim."""
    command = [*EDITORS["neovim"].program().command, "--clean", "--headless", "-S", str(HERE / script)]
    environs = {**environment(daemon, "neovim"), "STEPS": str(HERE), **told}
    done = subprocess.run(command, env=environs, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError) as error:
        raise AssertionError(f"Neovim reported nothing:\n{done.stdout}\n{done.stderr}") from error


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What held of the commands; they are worked through in one go, as a person does."""
    with Daemon(tmp_path_factory.mktemp("commands")) as daemon:
        (daemon.cwd / ".git").mkdir()
        (daemon.cwd / "another").mkdir()
        for name in ("ACTIVE_GOAL_STATE.md", "another/ACTIVE_GOAL_STATE.md", "later.md", "\u8ba1\u5212 plan.md"):
            (daemon.cwd / name).write_text(DOCUMENT, encoding="utf-8")
        (daemon.cwd / "README.md").write_text("# Not a goal\n", encoding="utf-8")
        plan = daemon.cwd / "\u8ba1\u5212 plan.md"
        with daemon.agent() as agent:
            agent.call("patch_state", {"patch": {"cwd": {"lazy": {"plan": {"next": "go carefully"}}}}})
            for goal_id, path in {"release": daemon.cwd / "ACTIVE_GOAL_STATE.md", "plan": plan}.items():
                agent.call("goal_register", {"goal_id": goal_id, "path": str(path)})
        return worked("neovim_commands.lua", daemon, PLAN=str(plan))


@pytest.mark.parametrize("name", COMMANDS)
def test_neovim(commands: Any, name: str) -> None:
    """DM-007, DM-008."""
    assert name in commands["passed"], commands.get("failed")


def test_every_check_of_the_commands_is_listed(commands: Any) -> None:
    assert commands["passed"] == list(COMMANDS), commands.get("failed")
