"""A daemon nobody notices: found, started once, replaced, ended, and never trusted on the word of a file.

Most of it is field case 39 of the conformance data.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from wire import PATIENCE_S, Daemon, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STARTERS: Final = 6
DOUBLE_STARTS: Final = 20


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Daemon]:
    """A place for a daemon that is not started; whatever the test starts there is ended by its own command."""
    daemon = Daemon(tmp_path)
    yield daemon
    daemon.run("daemon", "stop")
    daemon.stop()


def status(place: Daemon, *options: str) -> dict[str, Any]:
    done = place.run("status", "--json", *options)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def holders(place: Daemon) -> set[int]:
    """Return the processes that have the store's lock file open: the daemons, whoever they say they are."""
    lock = place.store / "lock"
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if any(file.samefile(lock) for file in (entry / "fd").iterdir()):
                    found.add(int(entry.name))
    return found


def test_six_starters_at_once_give_one_daemon(place: Daemon) -> None:
    """DM-003."""
    with ThreadPoolExecutor(STARTERS) as pool:
        pids = {found["pid"] for found in pool.map(lambda _: status(place), range(STARTERS))}

    assert len(pids) == 1
    assert holders(place) == pids


def test_two_daemons_at_the_same_moment_leave_one(place: Daemon) -> None:
    """DM-003: twenty races of two; the loser says that the store is in use, and ends with 3."""
    for _ in range(DOUBLE_STARTS):
        with contextlib.ExitStack() as racing:
            racers = [racing.enter_context(_racer(place)) for _ in range(2)]
            loser = next(_ended(racers))
            winner = next(racer for racer in racers if racer is not loser)
            assert "in use by" in loser.communicate(timeout=PATIENCE_S)[1]
            assert loser.returncode == 3
            winner.send_signal(signal.SIGTERM)
            winner.communicate(timeout=PATIENCE_S)
            assert winner.returncode == 0


@contextlib.contextmanager
def _racer(place: Daemon) -> Iterator[subprocess.Popen[str]]:
    command = place.command("daemon", "run")
    with subprocess.Popen(command, env=place.environment, stderr=subprocess.PIPE, text=True) as racer:
        yield racer
        racer.kill()


def _ended(processes: list[subprocess.Popen[str]]) -> Iterator[subprocess.Popen[str]]:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        yield from (process for process in processes if process.poll() is not None)
        os.sched_yield()


def test_a_stale_socket_is_taken_over_and_nothing_is_empty(place: Daemon) -> None:
    """DM-002: after SIGKILL the socket file stays; the next client starts one daemon and finds its state."""
    assert place.run("patch", '{"cwd": {"tactics": {"kept": 1}}}').returncode == 0
    pid = status(place)["pid"]
    os.kill(pid, signal.SIGKILL)
    assert place.socket.exists()

    assert json.loads(place.run("read", "cwd.tactics.kept", "--json").stdout) == {"value": 1}
    assert holders(place) == {status(place)["pid"]} != {pid}


def test_looking_makes_no_store(place: Daemon) -> None:
    for verb in (["where"], ["daemon", "stop"], ["goal", "check", "-"]):
        place.run(*verb, input="# empty\n")

    assert not place.store.exists()


def test_a_long_path_with_spaces_and_chinese_through_a_symlink_is_the_same_place(place: Daemon, tmp_path: Path) -> None:
    real = tmp_path / ("一 long name " * 8) / ("x" * 60)
    real.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(real)

    assert place.run("patch", '{"cwd": {"tactics": {"n": 1}}}', "--cwd", str(link)).returncode == 0
    through_real = place.run("read", "cwd.tactics.n", "--json", "--cwd", str(real))
    assert json.loads(through_real.stdout) == {"value": 1}


def test_a_symlinked_store_has_the_same_daemon(place: Daemon, tmp_path: Path) -> None:
    first = status(place)["pid"]
    link = tmp_path / "other-name"
    link.symlink_to(place.store)

    assert status(place, "--store", str(link))["pid"] == first


def test_a_socket_path_that_does_not_fit_is_told_with_the_limit(place: Daemon) -> None:
    done = place.run("daemon", "run", "--socket", "/run/" + "x" * 120)

    assert done.returncode == 3
    assert "107 bytes" in done.stderr


def test_a_runtime_directory_that_does_not_fit_is_passed_over(place: Daemon, tmp_path: Path) -> None:
    runtime = tmp_path / ("r" * 100)
    runtime.mkdir(mode=0o700)
    del place.environment["STATEWARD_SOCKET"]
    place.environment["XDG_RUNTIME_DIR"] = str(runtime)

    socket = status(place)["socket"]
    assert not socket.startswith(str(runtime))
    assert len(socket) <= 107


def test_where_no_socket_can_be_made_the_verbs_work_in_process(place: Daemon, tmp_path: Path) -> None:
    taken = tmp_path / "stateward.sock"
    taken.touch(mode=0o600)
    place.environment["STATEWARD_SOCKET"] = str(taken)
    began = time.monotonic()
    patched = place.run("patch", '{"cwd": {"tactics": {"n": 1}}}')
    read = place.run("read", "cwd.tactics.n", "--json")

    assert (patched.returncode, json.loads(read.stdout)) == (0, {"value": 1})
    assert "working in this process" in patched.stderr
    assert time.monotonic() - began < 2 * 5
    assert holders(place) == set()


def test_in_process_and_daemon_use_one_store_and_never_at_once(place: Daemon) -> None:
    assert place.run("patch", '{"cwd": {"tactics": {"n": 1}}}', "--embedded").returncode == 0
    assert json.loads(place.run("read", "cwd.tactics.n", "--json").stdout) == {"value": 1}
    refused = place.run("read", "cwd.tactics.n", "--embedded")

    assert refused.returncode == 3
    assert str(status(place)["pid"]) in refused.stderr


def test_a_reader_in_process_changes_no_byte(place: Daemon) -> None:
    """SF-006."""
    place.run("patch", '{"cwd": {"tactics": {"n": 1}}}', "--embedded")
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in place.store.rglob("*") if file.is_file()}
    place.run("read", "cwd.tactics.n", "--embedded")

    assert {
        file: (file.read_bytes(), file.stat().st_mtime_ns) for file in place.store.rglob("*") if file.is_file()
    } == before


def test_files_and_directories_are_private(place: Daemon) -> None:
    os.umask(0)
    try:
        log = Path(json.loads(place.run("where", "--json").stdout)["log"])
        status(place)
    finally:
        os.umask(0o022)

    assert place.store.stat().st_mode & 0o777 == 0o700
    for file in (place.socket, log, *(file for file in place.store.rglob("*") if file.is_file())):
        assert file.stat().st_mode & 0o777 == 0o600, file


def test_a_directory_that_others_can_write_to_holds_no_socket(place: Daemon, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    done = place.run("daemon", "run", "--socket", str(shared / "d.sock"))

    assert done.returncode == 3
    assert "others can write" in done.stderr
    assert list(shared.iterdir()) == []


def test_a_file_in_the_place_of_the_socket_is_not_replaced(place: Daemon) -> None:
    place.socket.write_text("somebody's notes", encoding="utf-8")
    done = place.run("daemon", "run")

    assert done.returncode == 3
    assert place.socket.read_text(encoding="utf-8") == "somebody's notes"
    place.socket.unlink()


def test_a_pid_in_a_file_is_never_killed(place: Daemon) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        place.store.mkdir(mode=0o700)
        announcement = {"pid": bystander.pid, "socket": str(place.socket), "version": "0.0.1"}
        (place.store / "lock").write_text(json.dumps(announcement).ljust(511) + "\n", encoding="ascii")
        (place.store / "lock").chmod(0o600)

        assert status(place)["pid"] != bystander.pid
        place.run("daemon", "restart")
        assert bystander.poll() is None
        bystander.kill()


def test_a_newer_client_replaces_an_older_daemon_and_keeps_its_state(place: Daemon) -> None:
    place.run("patch", '{"cwd": {"tactics": {"n": 1}}}')
    old = status(place)["pid"]
    newer = (
        "import stateward_protocol; stateward_protocol.__version__ = '99.0.0'\n"
        "from stateward_daemon.cli import main; main(['read', 'cwd.tactics.n', '--json'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", newer], env=place.environment, cwd=place.cwd, capture_output=True, text=True, check=True
    )

    assert json.loads(done.stdout) == {"value": 1}
    assert status(place)["pid"] != old
    assert len(holders(place)) == 1


def test_another_protocol_is_a_typed_answer_with_the_command_to_run(daemon: Daemon) -> None:
    with daemon.connect() as wire, pytest.raises(Refused) as refused:
        wire.attach(daemon.cwd, "s1", protocol=9)

    assert refused.value.category == "invalid_request"
    assert "stateward daemon restart" in refused.value.error["message"]


def test_an_idle_daemon_ends_and_leaves_no_socket(start: Callable[..., Daemon]) -> None:
    daemon = start(idle_exit_s=0.2)
    assert daemon.process is not None
    assert daemon.process.wait(PATIENCE_S) == 0
    assert not daemon.socket.exists()


def test_a_client_keeps_an_idle_daemon_alive(start: Callable[..., Daemon]) -> None:
    daemon = start(idle_exit_s=0.2)
    with daemon.agent() as wire:
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline:
            assert wire.call("ping") == {"ok": True}
    assert daemon.process is not None
    assert daemon.process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("how", ["signal", "shutdown_daemon"])
def test_a_drain_answers_everything_and_loses_no_acknowledgement(start: Callable[..., Daemon], how: str) -> None:
    """DM-010: what was queued is committed and answered, what comes later is refused with a type."""
    daemon = start()
    with daemon.agent() as wire, daemon.agent("other") as other:
        numbers = [wire.request("patch_state", {"patch": {"cwd": {"tactics": {f"n{n}": n}}}}) for n in range(300)]
        if how == "signal":
            os.kill(daemon.pid, signal.SIGTERM)
        else:
            assert other.call("shutdown_daemon")["pid"] == daemon.pid
        acknowledged = []
        with contextlib.suppress(OSError):
            for n, number in enumerate(numbers):
                outcome = wire.outcome(number)
                if not isinstance(outcome, Refused):
                    acknowledged.append(f"n{n}")
                else:
                    assert outcome.category in ("shutting_down", "store_unavailable")
    assert daemon.process is not None
    assert daemon.process.wait(PATIENCE_S) == 0
    daemon.start()
    with daemon.agent() as wire:
        kept = wire.call("read_state", {"path": "cwd.tactics"})["value"] or {}
    assert [name for name in acknowledged if name not in kept] == []


def test_a_drain_answers_a_document_that_is_being_read(start: Callable[[], Daemon]) -> None:
    """Invariant 7: every request gets its answer, those that a thread works on too."""
    daemon = start()
    rows = "".join(f"- [ ] row {number}\n" for number in range(20_000))
    with daemon.agent() as wire, daemon.agent("other") as other:
        reading = wire.request("goal_diagnostics", {"text": f"## Agent Todo\n\n{rows}"})
        # Answered in a turn of the loop that also takes what the first connection has sent by now.
        other.call("ping")
        other.call("shutdown_daemon")
        assert len(wire.answer(reading)["items"]) > 20_000


def test_a_drain_keeps_the_receipt_of_a_document_that_is_being_edited(start: Callable[[], Daemon]) -> None:
    """DM-010: what has begun takes all of its steps; the publication is no last one."""
    daemon = start()
    path = daemon.store.parent / "ACTIVE_GOAL_STATE.md"
    rows = "".join(f"- [ ] row {number}\n" for number in range(3_000))
    path.write_text(f"## Agent Todo\n\n{rows}", encoding="utf-8")
    added = {"goal_id": "g", "operation_id": "add-1", "role": "agent", "text": "one more"}
    with daemon.agent() as wire, daemon.agent("other") as other:
        wire.call("goal_register", {"goal_id": "g", "path": str(path)})
        # From now on the handler is loaded, so that its first step is taken as soon as it is asked.
        wire.call("todo_add", {**added, "dry_run": True})
        adding = wire.request("todo_add", added)
        other.call("ping")
        other.call("shutdown_daemon")
        assert wire.answer(adding)["status"] == "applied"
    assert daemon.process is not None
    assert daemon.process.wait(PATIENCE_S) == 0
    daemon.start()
    with daemon.agent() as wire:
        assert wire.call("todo_receipt", {"goal_id": "g", "operation_id": "add-1"})["status"] == "found"


def test_a_started_daemon_inherits_nothing_of_its_starter(place: Daemon, tmp_path: Path) -> None:
    """Security row 28: no descriptors, no directory."""
    with (tmp_path / "secret").open("w", encoding="utf-8") as secret:
        os.set_inheritable(secret.fileno(), True)
        place.run("daemon", "start", close_fds=False)
        pid = status(place)["pid"]
        open_files = [file.resolve() for file in Path(f"/proc/{pid}/fd").iterdir()]

    assert tmp_path / "secret" not in open_files
    assert Path(f"/proc/{pid}/cwd").resolve() == Path("/")


def test_a_daemon_that_cannot_start_says_why_at_once(place: Daemon) -> None:
    place.store.mkdir(mode=0o700)
    (place.store / "notes.txt").write_text("not a store", encoding="utf-8")
    done = place.run("read", "cwd.tactics")

    assert done.returncode == 3
    assert "not a store" in done.stderr
    assert "Traceback" not in done.stderr
