"""What `make run` shows: the daemon on this workspace, its diagnostics, a tour of its state, the way to an editor.

Every step is a command that a reader can type. In a terminal it stays and shows the diagnostics of the goal document
each time they change; with `CI=true`, or without a terminal, it ends by itself.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import stateward

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCUMENT = HERE / "ACTIVE_GOAL_STATE.md"
COMMAND = Path(sys.executable).with_name("stateward")
# A store of its own, made anew each time, so that the tour meets the state that it tells about.
STORE = ROOT / "build" / "run" / "store"
# What the lock of a store is, and where those who start its daemon take turns.
LOCKS = ("lock", "start.lock")
PRIVATE_FILE = 0o600
LOOK_AGAIN_S = 0.5
# An editor on the same store starts its daemon again at once, and may be faster than we are.
STOPS_MAX = 5


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
        "Problems of the goal document, as a linter shows them. Two are there on purpose: an id on two rows, which is "
        "an error on each, and a row without an id.",
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
    """Show the diagnostics of the goal document, and again each time it is saved, until interrupted."""
    print(f"\nEdit and save {os.path.relpath(DOCUMENT)}: its problems appear here. Ctrl-C ends.", flush=True)
    shown, saved = None, None
    with stateward.connect(cwd=str(HERE), client_name="tour") as client:
        while True:
            # Before the problems: a save in between is met again.
            before, saved = saved, time_of_save()
            found = look(client)
            if found != shown:
                tell(*found)
            elif saved != before:
                tell(f"saved, and no problem changed: {found[0]}")
            shown = found
            time.sleep(LOOK_AGAIN_S)


def tell(first: str, *others: str) -> None:
    """Print what was found, with the time of day."""
    print("\n".join(["", f"{time.strftime('%H:%M:%S')}  {first}", *others]), flush=True)


def time_of_save() -> int | None:
    """Return when the document was written, `None` while it is not there."""
    try:
        return DOCUMENT.stat().st_mtime_ns
    except OSError:
        return None


def look(client: stateward.Client) -> list[str]:
    """Return the problems of the goal document as lines, or the one that says why it cannot be read just now."""
    try:
        items = client.goal_diagnostics(path=str(DOCUMENT)).items
    except stateward.StatewardError as error:
        # An editor that saves by renaming leaves no file for a moment, and a daemon may be on its way.
        place = f" ({error.data['path']})" if "path" in error.data else ""
        return [f"{error.message}{place}"]
    problems = [f"  line {item.range.start.line + 1}: {item.severity}[{item.code}] {item.message}" for item in items]
    return [f"{len(items)} problem{'' if len(items) == 1 else 's'}", *problems]


def empty_store() -> None:
    """Make the store anew, under its lock: no daemon, not even one that an editor starts meanwhile, is in it.

    Raises:
        SystemExit: Somebody keeps using it.
    """
    STORE.mkdir(parents=True, exist_ok=True, mode=0o700)
    for _ in range(STOPS_MAX):
        subprocess.run([COMMAND, "daemon", "stop"], cwd=HERE, check=False, capture_output=True)
        with locked_store() as ours:
            if ours:
                for entry in [entry for entry in STORE.iterdir() if entry.name not in LOCKS]:
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
                return
    raise SystemExit(f"the store {STORE} is in use; close the editors that work on it")


@contextmanager
def locked_store() -> Iterator[bool]:
    """Hold the lock of the store, where nobody else does."""
    lock = os.open(STORE / LOCKS[0], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(lock)


def main() -> None:
    """Run the tour on a fresh store, and leave no daemon behind."""
    os.environ["STATEWARD_STORE"] = str(STORE)
    os.environ["STATEWARD_SESSION"] = "tour"
    empty_store()
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
