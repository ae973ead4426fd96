"""State in a real Neovim: from a reference to its value and on from there, keys by a command, and what changes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from wire import Daemon

HERE = Path(__file__).parent
CLIENT = HERE.parent.parent / "editor-clients" / "neovim"
NEOVIM = Path(sys.executable).with_name("nvim")
DOCUMENT = (
    "---\nstatus: active\n---\n# Goal\n\n## Next Action\n\n- 🌊 See $cwd.lazy.notes\n\n## Agent Todo\n\n"
    "- [ ] Go\n  <!-- loopx:todo todo_id=todo_going -->\n"
)
LAZY = {"notes": {"$ref": "cwd.lazy.plan"}, "plan": {"next": "go"}}


def patch(daemon: Daemon, lazy: object) -> None:
    with daemon.agent() as agent:
        agent.call("patch_state", {"patch": {"cwd": {"lazy": lazy}}})


def register(daemon: Daemon, document: Path) -> None:
    with daemon.agent() as agent:
        agent.call("goal_register", {"goal_id": "release", "path": str(document)})


def claim(daemon: Daemon) -> None:
    with daemon.agent() as agent:
        agent.call(
            "todo_claim",
            {"goal_id": "release", "todo_id": "todo_going", "claimed_by": "codex", "operation_id": "claim-1"},
        )


def test_neovim_shows_values_where_they_are_asked_for(tmp_path: Path) -> None:
    """DM-008."""
    with Daemon(tmp_path) as daemon:
        document = daemon.cwd / "ACTIVE_GOAL_STATE.md"
        document.write_text(DOCUMENT, encoding="utf-8")
        (tmp_path / ".git").mkdir()
        (daemon.cwd / "stateward.toml").touch()
        patch(daemon, LAZY)
        register(daemon, document)
        environment = {
            **daemon.environment,
            "DOCUMENT": str(document),
            "CLIENT": str(CLIENT),
            "PYTHON": sys.executable,
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }
        command = [str(NEOVIM), "--clean", "--headless", "-c", f"luafile {HERE / 'neovim_state.lua'}"]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as neovim:
            assert neovim.stdout is not None
            said = []
            for line in neovim.stdout:
                said += [line] if line.strip() else []
                if line == "change\n":
                    patch(daemon, {"plan": {"next": "stop"}})
                elif line == "claim\n":
                    claim(daemon)

    seen = json.loads(said[-1])
    assert seen["ok"], seen["problem"]
    assert seen["meant_again"], "the outline and completion are gone with the text that was read anew"
    assert seen["root"] == str(daemon.cwd)
    assert json.loads(seen["plane"]) == LAZY
    assert (seen["filetype"], seen["modifiable"]) == ("json", False)
    assert seen["followed"].strip() == '"plan": {'
    assert seen["changed"]
    assert json.loads(seen["keys"])["keys"] == {"notes": "object", "plan": "object"}
    assert json.loads(seen["value"]) == {"next": "stop"}
    assert json.loads(seen["projection"])["next_action"]["first"] == "🌊 See $cwd.lazy.notes"
