"""The Neovim client in a real Neovim: problems as typed, hover, and an outside edit that arrives by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from wire import Daemon

HERE = Path(__file__).parent
CLIENT = HERE.parent.parent / "editor-clients" / "neovim"
NEOVIM = Path(sys.executable).with_name("nvim")
ROW = "- [ ] 🌊 核对 port list"
DOCUMENT = f"""\
---
status: active
---
# Goal

## Next Action

- Go on.

## Agent Todo

{ROW}
"""


def test_neovim_shows_problems_as_typed_and_as_others_save(tmp_path: Path) -> None:
    """DM-001, DM-007; Neovim counts in UTF-8."""
    with Daemon(tmp_path) as daemon:
        document = daemon.cwd / "ACTIVE_GOAL_STATE.md"
        document.write_text(DOCUMENT, encoding="utf-8")
        (daemon.cwd / "README.md").write_text("# Not a goal\n", encoding="utf-8")
        environment = {
            **daemon.environment,
            "DOCUMENT": str(document),
            "CLIENT": str(CLIENT),
            "PYTHON": sys.executable,
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }
        command = [str(NEOVIM), "--clean", "--headless", "-c", f"luafile {HERE / 'neovim.lua'}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

    seen = json.loads(done.stdout.strip().splitlines()[-1])
    assert seen["ok"], seen["problem"]
    assert seen["clients_of_another_file"] == 0
    assert seen["encoding"] == "utf-8"
    expected = {"line": 11, "from": 0, "to": len(ROW.encode()), "code": "implicit_todo_ids", "source": "stateward"}
    assert seen["at_first"] == [expected]
    assert "todo_" in seen["hover"]
    assert seen["after_an_outside_edit"] == "implicit_todo_ids"
