"""What the client of an editor costs, and what a person notices of a daemon that is killed.

A script of the editor opens the document $DOCUMENT and prints a line of JSON:

- where $FIGURE is `bare`, an empty object once the document is open, without a client;
- where it is `start`, an empty object once the first problem is shown;
- where it is `kill`, after some kills of the daemon, `back_ms`, from each to the problem of a row that was typed then,
  and `said`, a list of what the editor told its person meanwhile.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from real_editors import EDITORS, HERE, PATIENCE_S, desk, environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wire import Daemon

STARTS: Final = 7


class Figures(NamedTuple):
    """What was measured of an editor, in milliseconds.

    Attributes:
        bare_ms: From its start to the open document, without the client.
        start_ms: From its start to the first problem, with a daemon that runs.
        back_ms: From a kill of the daemon to the problem of a row that was typed after it.
        said: What the person was told then.
    """

    bare_ms: list[float]
    start_ms: list[float]
    back_ms: list[float]
    said: list[str]

    def told(self, name: str) -> list[str]:
        """Return them as lines: medians, and the worst."""
        said = "; ".join(dict.fromkeys(self.said))
        bare, start, back = map(_median, (self.bare_ms, self.start_ms, self.back_ms))
        return [
            f"{name}: start to first diagnostic, daemon warm: {start}; start without the client: {bare}",
            f"{name}: daemon killed to diagnostics back: {back}; the person saw: {said or 'nothing'}",
        ]


def _median(values: list[float]) -> str:
    return f"{statistics.median(values):.0f} ms (median of {len(values)}, worst {max(values):.0f})"


def scripted(name: str, script: str) -> Callable[[Path], Figures]:
    """Return how a headless editor is measured by a script."""

    def measure(folder: Path) -> Figures:
        with desk(folder) as daemon:
            _timed(name, script, daemon, "start")
            # In turn, so that both meet the same load.
            pairs = [[_timed(name, script, daemon, figure)[0] for figure in ("bare", "start")] for _ in range(STARTS)]
            killed = _timed(name, script, daemon, "kill")[1]
        return Figures(
            [pair[0] for pair in pairs], [pair[1] for pair in pairs], killed["back_ms"], list(killed["said"])
        )

    return measure


def _timed(name: str, script: str, daemon: Daemon, figure: str) -> tuple[float, dict[str, Any]]:
    """Return the time from the start of a script to its line, and what is on it."""
    editor = EDITORS[name]
    program = editor.program()
    told = {**environment(daemon, name), **program.environment}
    told |= {"FIGURE": figure, "DOCUMENT": str(daemon.cwd / "ACTIVE_GOAL_STATE.md")}
    command = [*program.command, *editor.headless, str(HERE / script)]
    began = time.monotonic()
    with subprocess.Popen(
        command, env=told, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = next((line for line in process.stdout if line.startswith(("{", "["))), "")
        took = 1000 * (time.monotonic() - began)
        _, complaints = process.communicate(timeout=PATIENCE_S)
    assert line, f"{name} measured nothing: {complaints}"
    return took, json.loads(line)


# How each is measured, by editor.
MEASURES: Final[dict[str, Callable[[Path], Figures]]] = {
    "neovim": scripted("neovim", "figures.lua"),
    "emacs": scripted("emacs", "figures.el"),
    "emacs-backports": scripted("emacs-backports", "figures.el"),
    "vim": scripted("vim", "figures.vim"),
}
