"""Real editors at work on the goal documents of a daemon of their own."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from debian_root import vim_with_ale
from emacs_root import Program, emacs, newer_emacs
from terminal import Terminal

from wire import Daemon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE: Final = Path(__file__).parent
CLIENTS: Final = HERE.parent.parent / "editor-clients"
PATIENCE_S: Final = 240
GOAL: Final = "release"
# Its columns differ in UTF-8, UTF-16 and UTF-32.
ROW: Final = "- [ ] \N{WATER WAVE} \u6838\u5bf9 port list"
DOCUMENT: Final = f"""\
---
status: active
---
# Release \N{WATER WAVE}

## Next Action

- Go on.

## Agent Todo

{ROW}
- [ ] [P1] Rehearse the rollback \N{WATER WAVE}
  <!-- loopx:todo todo_id=todo_rehearse -->
"""
STATE: Final = {"memory": ["one", {"two": 2}], "rules": {"deploy": "never on a Friday"}}


class Report(NamedTuple):
    """What an editor found.

    Attributes:
        editor: Its name and version.
        passed: What held, in order.
        failed: What did not and why, `None` when all held.
        first_diagnostic_ms: From opening the document to its first problem, with the start of the bridge.
        announces_hints: Whether the server told this editor of inlay hints.
    """

    editor: str
    passed: list[str]
    failed: str | None = None
    first_diagnostic_ms: int | None = None
    announces_hints: bool = False


class RealEditor(NamedTuple):
    """How an editor is run.

    Attributes:
        program: Finds it.
        headless: Options for `checks`, the script that works through all checks.
        checks: Its name.
        shown: Options for `picture`, the script that sets the editor up as the client's README does.
        picture: Its name.
        keys: What has to be on the screen, and the keys that are pressed then.
        told: What is on the screen in the end.
    """

    program: Callable[[], Program]
    headless: tuple[str, ...]
    checks: str
    shown: tuple[str, ...]
    picture: str
    keys: tuple[tuple[str, str], ...]
    told: str


EDITORS: Final = {
    "neovim": RealEditor(
        lambda: Program([str(Path(sys.executable).with_name("nvim"))], {}),
        ("--clean", "--headless", "-S"),
        "neovim.lua",
        ("-u",),
        "show.lua",
        (("3 open", "]d"), ("3 open", "K")),
        "status: open",
    ),
    **{
        name: RealEditor(
            program,
            ("-q", "--batch", "--load"),
            "emacs.el",
            ("-q", "-nw", "--load"),
            "show.el",
            (("Flymake[2", "\x03\x0e"),),
            "todo_rollback",
        )
        for name, program in {"emacs": emacs, "emacs-backports": newer_emacs}.items()
    },
    "vim": RealEditor(
        vim_with_ale,
        ("--not-a-term", "-u", "NONE", "-S"),
        "vim.vim",
        ("-u",),
        "show.vim",
        (("this row has no id", ":ALENext\r"),),
        "todo_rollback stands on 2 rows",
    ),
}


def client_of(name: str) -> Path:
    """Return the folder of the client that an editor of `EDITORS` has, in whatever version it is."""
    return CLIENTS / name.partition("-")[0]


@contextlib.contextmanager
def desk(folder: Path) -> Iterator[Daemon]:
    """Lay goal documents out in the project of a daemon; neither it nor one that took its place is left behind."""
    with Daemon(folder) as daemon:
        path = daemon.cwd / "ACTIVE_GOAL_STATE.md"
        path.write_text(DOCUMENT, encoding="utf-8")
        (daemon.cwd / "README.md").write_text("# Not a goal\n", encoding="utf-8")
        (daemon.folder / "crlf").mkdir()
        (daemon.folder / "crlf" / path.name).write_text(DOCUMENT, encoding="utf-8", newline="\r\n")
        with daemon.agent() as agent:
            agent.call("goal_register", {"goal_id": GOAL, "path": str(path)})
            agent.call("patch_state", {"patch": {"cwd": {"lazy": STATE}}})
        try:
            yield daemon
        finally:
            daemon.run("daemon", "stop")


def environment(daemon: Daemon, name: str) -> dict[str, str]:
    """Return what the script of an editor is told."""
    return {
        **daemon.environment,
        "FOLDER": str(daemon.cwd),
        "CRLF": str(daemon.folder / "crlf" / "ACTIVE_GOAL_STATE.md"),
        "CLIENT": str(client_of(name)),
        "PYTHON": sys.executable,
        "PROGRAM": str(Path(sys.executable).with_name("stateward")),
        "DAEMON_PID": str(daemon.pid),
        "ROW": str(DOCUMENT.splitlines().index(ROW)),
        "ROW_BYTES": str(len(ROW.encode())),
        "LC_ALL": "C.UTF-8",
        **{f"XDG_{kind}_HOME": str(daemon.folder / kind.lower()) for kind in ("STATE", "CACHE", "CONFIG", "DATA")},
    }


def work(name: str, folder: Path) -> Report:
    """Let an editor work through all its checks.

    Raises:
        NoEmacs: It is not there.
    """
    editor = EDITORS[name]
    program = editor.program()
    with desk(folder) as daemon:
        command = [*program.command, *editor.headless, str(HERE / editor.checks)]
        told = {**environment(daemon, name), **program.environment}
        done = subprocess.run(command, env=told, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    try:
        return Report(**json.loads(done.stdout.strip().splitlines()[-1]))
    except (IndexError, ValueError, TypeError) as error:
        raise AssertionError(f"{command[0]} reported nothing:\n{done.stdout}\n{done.stderr}") from error


def picture(name: str, folder: Path) -> str:
    """Return what a person sees of the example workspace: its problems, and what is told about the first.

    Raises:
        NoEmacs: The editor is not there.
    """
    editor = EDITORS[name]
    program = editor.program()
    with desk(folder) as daemon:
        document = shutil.copy(CLIENTS / "workspace" / "ACTIVE_GOAL_STATE.md", daemon.cwd)
        command = [*program.command, *editor.shown, str(HERE / editor.picture), Path(document).name]
        with Terminal(command, {**environment(daemon, name), **program.environment}, daemon.cwd) as terminal:
            for words, keys in editor.keys:
                terminal.until(words)
                terminal.type(keys)
            return terminal.until(editor.told)
