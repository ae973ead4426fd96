"""Our extension in a real VS Code: what a person does, and what a person sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from real_editors import DOCUMENT, GOAL
from vscode_root import BUILD, HERE, vscode, vsix

from wire import Daemon

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SHOTS: Final = BUILD / "vscode-shots"
PATIENCE_S: Final = 900
NAME: Final = "ACTIVE_GOAL_STATE.md"
# What is wrong in the last row stands behind characters that are two units of UTF-16 each.
TEXT: Final = f"""\
{DOCUMENT}
- [ ] Look \N{WATER WAVE}\N{WATER WAVE} at the logs
  <!-- loopx:todo todo_id=todo_look note=\N{WATER WAVE}\u6838\N{WATER WAVE} status=often -->
"""
# The state is that of the one folder.
REFERENCE: Final = "\n## Notes\n\nThe order is $cwd.lazy.plan, as agents keep it.\n"
STATE: Final = {"plan": {"first": "ports", "then": "logs"}, "memory": ["one"], "goal": "port list first"}


class Report(NamedTuple):
    """What was found.

    Attributes:
        editor: VS Code with its version.
        passed: What held, in order.
        figures: Names with their unit, and milliseconds.
        failed: What did not and why, `None` when all held.
    """

    editor: str
    passed: list[str]
    figures: dict[str, int]
    failed: str | None = None


def work(folder: Path) -> Report:
    """Let VS Code work through all checks; its pictures are in `SHOTS`.

    Raises:
        NoVSCode: It is not to be had.
    """
    parts, package = vscode(), vsix()
    SHOTS.mkdir(parents=True, exist_ok=True)
    for picture in SHOTS.glob("*.png"):
        picture.unlink()
    with Daemon(folder) as daemon:
        places = _lay_out(daemon)
        told = {
            **daemon.environment,
            "MODULES": str(parts.modules),
            "CODE_SERVER": str(parts.server),
            "CHROMIUM": str(parts.chromium),
            "LIBRARIES": str(parts.libraries),
            "FONTS": str(parts.fonts),
            "DRIVER": str(_driver(folder, package)),
            "VSIX": str(package),
            "SHOTS": str(SHOTS),
            "WORK": str(folder),
            "FOLDER": str(daemon.cwd),
            "WORKSPACE": str(_workspace(folder, places)),
            "SOCKET": str(daemon.socket),
            "SERVER": json.dumps([sys.executable, "-m", "stateward_daemon", "lsp"]),
            "OLD_SERVER": str(HERE / "vscode" / "old_server.py"),
            "EXPECTED": json.dumps(_problems(daemon, daemon.cwd / NAME)),
            "ELSEWHERE": json.dumps({str(place / NAME): _problems(daemon, place / NAME) for place in places}),
            "LC_ALL": "C.UTF-8",
        }
        try:
            command = [str(parts.node), str(HERE / "vscode" / "work.mjs")]
            done = subprocess.run(command, env=told, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        finally:
            daemon.run("daemon", "stop")
    try:
        return Report(**json.loads(done.stdout.strip().splitlines()[-1]))
    except (IndexError, ValueError, TypeError) as error:
        raise AssertionError(f"VS Code reported nothing:\n{done.stdout}\n{done.stderr}") from error


def _lay_out(daemon: Daemon) -> list[Path]:
    """Write goal documents and state; return the folders of a workspace with several."""
    real = daemon.folder / "real"
    chinese, crlf, linked = (daemon.folder / name for name in ("\u5de5\u4f5c \u533a", "crlf", "linked"))
    for place in (real, chinese, crlf):
        place.mkdir()
    linked.symlink_to(real, target_is_directory=True)
    (daemon.cwd / NAME).write_text(TEXT + REFERENCE, encoding="utf-8")
    for place in (real, chinese):
        (place / NAME).write_text(TEXT, encoding="utf-8")
    (crlf / NAME).write_text(TEXT, encoding="utf-8", newline="\r\n")
    with daemon.agent(session="editor") as agent:
        agent.call("goal_register", {"goal_id": GOAL, "path": str(daemon.cwd / NAME)})
        agent.call("patch_state", {"patch": {"cwd": {"lazy": STATE}}})
    return [chinese, crlf, linked]


def _workspace(folder: Path, places: list[Path]) -> Path:
    """Write the file of a workspace with several folders."""
    file = folder / "several.code-workspace"
    file.write_text(json.dumps({"folders": [{"path": str(place)} for place in places]}), encoding="utf-8")
    return file


def _driver(folder: Path, package: Path) -> Path:
    """Package the extension by which VS Code tells what it knows."""
    file = folder / "driver.vsix"
    vsce = package.parent / "extension" / "node_modules" / "@vscode" / "vsce" / "vsce"
    options = ["--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", str(file)]
    command = ["node", str(vsce), "package", *options]
    subprocess.run(command, cwd=HERE / "vscode" / "driver", check=True, capture_output=True)
    return file


def _problems(daemon: Daemon, document: Path) -> list[Mapping[str, Any]]:
    """Return what the command line finds in a document, with ranges as VS Code has them: in UTF-16."""
    command = daemon.command("goal", "check", "--json", str(document))
    done = subprocess.run(command, env=daemon.environment, capture_output=True, text=True, check=False)
    [file] = json.loads(done.stdout)["files"]
    lines = document.read_text(encoding="utf-8").splitlines()

    def place(at: Mapping[str, int]) -> list[int]:
        return [at["line"], len(lines[at["line"]][: at["character"]].encode("utf-16-le")) // 2]

    return [
        {"code": item["code"], "range": [*place(item["range"]["start"]), *place(item["range"]["end"])]}
        for item in file["items"]
    ]


def line(report: Report) -> str:
    """Return what `make editors` prints."""
    figures = "; ".join(f"{name.removesuffix(' ms')} {value} ms" for name, value in report.figures.items())
    shown = os.path.relpath(SHOTS)
    return f"{report.editor}: {len(report.passed)} checks passed, {figures}, pictures in {shown}"
