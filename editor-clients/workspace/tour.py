"""What `make run` shows: the daemon on this workspace, its diagnostics, a tour of its state, the way to an editor.

Every step is a command that a reader can type. In a terminal it stays and shows the diagnostics of the goal document
each time they change; with `CI=true`, or without a terminal, it ends by itself.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import stateward

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCUMENT = HERE / "ACTIVE_GOAL_STATE.md"
COMMAND = Path(sys.executable).with_name("stateward")
# A store of its own, made anew each time, so that the tour meets the state that it tells about.
STORE = ROOT / "build" / "run" / "store"
LOOK_AGAIN_S = 0.5


def show(title: str, *arguments: str, status: int = 0) -> None:
    """Print a title, the command as a person would type it, and what it prints.

    Raises:
        SystemExit: The command ended with another status than the one expected.
    """
    print(f"\n{title}\n$ {shlex.join(['stateward', *arguments])}", flush=True)
    ended = subprocess.run([COMMAND, *arguments], cwd=HERE, check=False).returncode
    if ended != status:
        raise SystemExit(f"the command ended with {ended}, not {status}")


def tour() -> None:
    """Walk through the product once."""
    show("One daemon per store; the first command starts it.", "daemon", "start")
    show(
        "Problems of the goal document, as a linter shows them. (It has two on purpose.)",
        "goal", "check", DOCUMENT.name, status=1,
    )  # fmt: skip
    show("Put a state into the empty store.", "import", "state.json")
    show("Browse: keys and kinds, one level at a time, never a body.", "browse")
    show("One level deeper.", "browse", "cwd.lazy")
    show("Read exactly what you ask for.", "read", "cwd.lazy.memory[0:2]")
    show("The effective view lays session over cwd over global.", "read", "effective.tactics")
    show("Patch: objects merge, null deletes. The answer comes when it is on disk.",
         "patch", '{"cwd": {"tactics": {"next": "ask Mei for the window", "asked": ["Mei"]}}}')  # fmt: skip
    show("Read it back.", "read", "effective.tactics")
    show("A wrong call says what was wrong, where, and what a right one looks like.",
         "read", "cwd.tactics.nxet", status=1)  # fmt: skip


def follow() -> None:
    """Show the diagnostics of the goal document each time they change, until interrupted."""
    print(f"\nEdit and save {os.path.relpath(DOCUMENT)}: its problems appear here. Ctrl-C ends.", flush=True)
    shown = None
    with stateward.connect(cwd=str(HERE), client_name="tour") as client:
        while True:
            found = client.goal_diagnostics(path=str(DOCUMENT)).items
            if found != shown and shown is not None:
                print(f"\n{time.strftime('%H:%M:%S')}  {len(found)} problems", flush=True)
                for item in found:
                    print(
                        f"  line {item.range.start.line + 1}: {item.severity}[{item.code}] {item.message}", flush=True
                    )
            shown = found
            time.sleep(LOOK_AGAIN_S)


def main() -> None:
    """Run the tour on a fresh store, and leave no daemon behind."""
    shutil.rmtree(STORE.parent, ignore_errors=True)
    os.environ["STATEWARD_STORE"] = str(STORE)
    os.environ["STATEWARD_SESSION"] = "tour"
    try:
        tour()
        print(
            "\nConnect an editor: let it run this language server for files named ACTIVE_GOAL_STATE.md\n"
            f"  STATEWARD_STORE={STORE} {COMMAND} lsp\n"
            "Agents: `import stateward; stateward.connect(cwd=...)`, or JSON-RPC on the socket of `stateward where`.",
            flush=True,
        )
        if sys.stdout.isatty() and not os.environ.get("CI"):
            follow()
    except KeyboardInterrupt:
        print()
    finally:
        subprocess.run([COMMAND, "daemon", "stop"], cwd=HERE, check=False)


if __name__ == "__main__":
    main()
