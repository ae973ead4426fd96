"""Helix, which runs no scripts: keys are pressed in a terminal, and its screen is read."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from debian_root import helix
from figures import Figures
from real_editors import CLIENTS, ROW, Report, desk, environment
from terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wire import Daemon

CLIENT: Final = CLIENTS / "helix"
DOCUMENT: Final = "ACTIVE_GOAL_STATE.md"
# Beside it Helix counts problems.
MARK: Final = "\N{BLACK CIRCLE}"
STARTS: Final = 3


def pasted(text: str) -> str:
    """Return the keys of a paste: what comes faster than anybody types Helix 25.01 tells its servers out of order."""
    return f"\x1b[200~{text}\x1b[201~"


# What has to hold, the keys that are pressed for it, and what is on the screen then.
BEFORE_LOSS: Final = (
    ("problems are shown where they are", (("", f"{ROW}\n       ~~~~"),)),
    ("a problem is told where the cursor is", (("]d", "this row has no id of its own"),)),
    ("hover tells about the row and what is wrong there", ((" k", "- status: open"), ("\x1b", "NOR"))),
    (
        "a quick fix is applied, and its problem goes",
        ((" a", "Give the row its id"), ("\r", "<!-- loopx:todo todo_id=todo_"), (":w\r", "written")),
    ),
    (
        "a todo is claimed by command",
        (("12gg", "12:1"), (" a", f"Claim: {ROW[6:]}"), ("\r", "NOR"), (":reload\r", "claimed_by=")),
    ),
    (
        "what is typed is told before it is saved",
        (("O", "INS"), (pasted("- [ ] more"), "- [ ] more"), ("\x1b", f"{MARK} 1")),
    ),
)
AFTER_LOSS: Final = (
    (
        "a killed daemon is replaced, and nobody has to do anything",
        (("o", "INS"), (pasted("- [ ] and more"), "- [ ] and more"), ("\x1b", f"{MARK} 2")),
    ),
)
LEFT_ALONE: Final = "another Markdown file is left alone"
CHECKS: Final = (LEFT_ALONE, *(name for name, _ in (*BEFORE_LOSS, *AFTER_LOSS)))


@contextlib.contextmanager
def _opened(daemon: Daemon, name: str, *, bare: bool = False) -> Iterator[Terminal]:
    """Run Helix with a document, set up as the README of the client says, or without the client."""
    program = helix()
    folder = daemon.folder / "config" / "helix"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if not bare:
        shutil.copy(CLIENT / "languages.toml", folder)
    found = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    told = {**environment(daemon, "helix"), **program.environment, "PATH": found}
    with Terminal([*program.command, name], told, daemon.cwd) as terminal:
        yield terminal


def work(folder: Path) -> Report:
    """Let Helix work through all its checks.

    Raises:
        NoEmacs: It is not there.
    """
    passed: list[str] = []
    report = Report(helix().run("--version").stdout.strip(), passed)
    with desk(folder) as daemon:
        try:
            with _opened(daemon, "README.md") as terminal:
                terminal.until("Not a goal")
                with daemon.agent() as agent:
                    kinds = [one["kind"] for one in agent.call("sessions")["connections"]]
            if "editor" in kinds:
                return report._replace(failed=f"{LEFT_ALONE}: {kinds}")
            passed.append(LEFT_ALONE)
            began = time.monotonic()
            with _opened(daemon, DOCUMENT) as terminal:
                for check in BEFORE_LOSS:
                    _do(terminal, check, passed)
                    if len(passed) == 2:
                        report = report._replace(first_diagnostic_ms=round(1000 * (time.monotonic() - began)))
                daemon.kill()
                for check in AFTER_LOSS:
                    _do(terminal, check, passed)
        except TimeoutError as error:
            return report._replace(failed=f"{CHECKS[len(passed)]}: {error}")
    return report


def _do(terminal: Terminal, check: tuple[str, tuple[tuple[str, str], ...]], passed: list[str]) -> None:
    name, steps = check
    for keys, words in steps:
        terminal.type(keys)
        terminal.until(words)
    passed.append(name)


def picture(folder: Path) -> str:
    """Return what a person sees of the example workspace: its problems, and what is told about one."""
    with desk(folder) as daemon:
        document = Path(shutil.copy(CLIENTS / "workspace" / "ACTIVE_GOAL_STATE.md", daemon.cwd))
        with _opened(daemon, document.name) as terminal:
            terminal.until(f"{MARK} 2")
            terminal.type("]d")
            return terminal.until("stands on 2 rows")


def measure(folder: Path) -> Figures:
    """Measure Helix.

    Each figure has the half second in which its screen has to be still, and each start the two seconds for which Helix
    waits for answers of the terminal, which gives none.
    """
    with desk(folder) as daemon:
        starts = [[_start_ms(daemon, bare=bare) for bare in (True, False)] for _ in range(STARTS)]
        with _opened(daemon, DOCUMENT) as terminal:
            terminal.until(f"{MARK} 1")
            terminal.type("12gg")
            terminal.until("12:1")
            began = time.monotonic()
            daemon.kill()
            for keys, words in (("o", "INS"), (pasted("- [ ] more"), "- [ ] more"), ("\x1b", f"{MARK} 2")):
                terminal.type(keys)
                shown = terminal.until(words)
            back = 1000 * (time.monotonic() - began)
    said = shown.splitlines()[-1].strip()
    bare, warm = zip(*starts, strict=True)
    return Figures([*bare], [*warm], [back], [] if "NOR" in said else [said])


def _start_ms(daemon: Daemon, *, bare: bool) -> float:
    began = time.monotonic()
    with _opened(daemon, DOCUMENT, bare=bare) as terminal:
        terminal.until("NOR" if bare else f"{MARK} 1")
        return 1000 * (time.monotonic() - began)
