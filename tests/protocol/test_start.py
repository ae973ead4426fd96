"""protocol.md section 7: found, started once, replaced when older; told apart by what the daemon says, not by time."""

from __future__ import annotations

import fcntl
import json
import os
import select
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from stand_in import Message, StandIn, attached, lock_file, refusal, result
from stateward.location import Announcement, Place, log_path, read_announcement
from stateward.start import is_older, open_transport
from stateward.stop import stop_daemon
from stateward_protocol import __version__
from stateward_protocol.errors import WireError
from strangers import give_away

if TYPE_CHECKING:
    from collections.abc import Iterator

# Run as `python -m stateward_daemon daemon run --store S [--socket P]`, in the place of the real one. It keeps the
# rules that starters rely on: the lock for life, then the announcement, then the socket, then one line on the pipe.
FAKE_DAEMON = """
import fcntl, json, os, sys, threading
from pathlib import Path
from stand_in import StandIn, attached, lock_file, result
from stateward.location import Announcement, ensure_private_directory, socket_path

arguments = sys.argv[3:]
store = Path(arguments[arguments.index("--store") + 1])
named = arguments[arguments.index("--socket") + 1] if "--socket" in arguments else None
ready = int(os.environ["STATEWARD_READY_FD"])
behavior = os.environ.get("FAKE_BEHAVIOR", "")
facts = {"cwd": os.getcwd(), "session_leader": os.getsid(0) == os.getpid(), "argv": arguments,
         "stdin": os.readlink("/proc/self/fd/0"), "descriptors": len(os.listdir("/proc/self/fd"))}
with open(store / "spawned", "a") as log:
    log.write(json.dumps({"pid": os.getpid(), **facts}) + "\\n")
if behavior == "die":
    print("line one\\nno such \\x1b[31mthing", file=sys.stderr)
    sys.exit(1)
if behavior == "refuse":
    error = {"code": -32012, "message": "the disk is full", "data": {"category": "store_unavailable", "path": "/d"}}
    os.write(ready, b"E" + json.dumps(error).encode() + b"\\n")
    sys.exit(3)
if behavior == "hang":
    os.read(os.open(store / "pipe", os.O_RDONLY), 1)
    sys.exit(1)
lock = os.open(store / "lock", os.O_RDWR | os.O_CREAT, 0o600)
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    data = {"category": "store_unavailable", "reason_code": "lock_held"}
    os.write(ready, b"E" + json.dumps({"code": -32012, "message": "held", "data": data}).encode() + b"\\n")
    if os.path.exists(store / "pipe"):
        os.write(os.open(store / "pipe", os.O_WRONLY), b"held")
    sys.exit(3)
path = socket_path(store, named)
ensure_private_directory(path.parent)
path.unlink(missing_ok=True)
version = os.environ.get("FAKE_VERSION", "99.0.0")
leave = threading.Event()

def answer(message):
    if message["method"] == "attach":
        return attached(message)
    if message["method"] == "shutdown_daemon":
        leave.set()
    return result(message, {"pid": os.getpid(), "version": version})

stand_in = StandIn(path, answer)
os.pwrite(lock, lock_file(Announcement(os.getpid(), str(path), version)), 0)
os.write(ready, b"R\\n")
os.close(ready)
leave.wait()
stand_in.close()
"""


@pytest.fixture
def store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store that does not exist yet, whose daemon is the fake one; a daemon that runs at the end is ended."""
    (folder / "fake/stateward_daemon").mkdir(parents=True)
    (folder / "fake/stateward_daemon/__init__.py").touch()
    (folder / "fake/stateward_daemon/__main__.py").write_text(FAKE_DAEMON)
    tests = Path(__file__).parent.parent
    monkeypatch.setenv("PYTHONPATH", f"{folder / 'fake'}{os.pathsep}{tests}")
    yield folder / "store"
    try:
        running = open_transport(Place(folder / "store"), start="never", timeout_s=10)
    except WireError:
        return
    assert stop_daemon(running, 10)


def spawned(store: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (store / "spawned").read_text().splitlines()]


def pid_of_daemon(store: Path, **options: Any) -> int:
    transport = open_transport(Place(store), timeout_s=10, **options)
    try:
        return int(transport.call("ping", {})["pid"])
    finally:
        transport.close()


class TestFinding:
    def test_without_a_daemon_never_means_never(self, store: Path) -> None:
        with pytest.raises(WireError, match="stateward daemon start") as refused:
            open_transport(Place(store), start="never")

        assert refused.value.data["reason_code"] == "not_running"
        assert not store.exists()

    def test_the_announced_socket_is_used_whatever_the_environment_says(
        self, store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Clients with different environments meet."""
        first = pid_of_daemon(store, socket=str(folder / "run/one.sock"))
        monkeypatch.setenv("STATEWARD_SOCKET", str(folder / "run/two.sock"))

        assert pid_of_daemon(store) == first
        assert pid_of_daemon(store, socket=str(folder / "run/three.sock")) == first
        assert pid_of_daemon(store, start="never") == first


class TestStarting:
    def test_a_daemon_is_started_detached_from_whoever_starts_it(self, store: Path, folder: Path) -> None:
        """daemon.md section 3: a session of its own, `/`, no standard input; security row 28: no foreign descriptor."""
        with (folder / "open").open("w") as file:
            os.set_inheritable(file.fileno(), True)
            pid = pid_of_daemon(store, socket=str(folder / "run/d.sock"))

        (facts,) = spawned(store)
        assert facts["pid"] == pid
        assert (facts["cwd"], facts["session_leader"], facts["stdin"]) == ("/", True, "/dev/null")
        assert facts["argv"] == ["--store", str(store), "--socket", str(folder / "run/d.sock")]
        # Its standard three, the pipe, and the folder that it lists.
        assert facts["descriptors"] == 5

    def test_store_starter_lock_and_log_are_private(self, store: Path) -> None:
        before = os.umask(0)
        try:
            pid_of_daemon(store)
        finally:
            os.umask(before)

        modes = [path.stat().st_mode & 0o777 for path in (store, store / "start.lock", log_path(Place(store)))]
        assert modes == [0o700, 0o600, 0o600]

    def test_six_starters_at_once_give_one_daemon(self, store: Path) -> None:
        """DM-003; field case 39: one daemon, every client served."""
        program = (
            "import sys, pathlib; from stateward.location import Place; from stateward.start import open_transport;"
            "print(open_transport(Place(pathlib.Path(sys.argv[1])), timeout_s=20).call('ping', {})['pid'])"
        )
        command = [sys.executable, "-c", program, str(store)]
        starters = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
        pids = {starter.communicate(timeout=30)[0] for starter in starters}

        assert len(pids) == 1
        assert [facts["pid"] for facts in spawned(store)] == [int(pids.pop())]

    def test_after_a_kill_the_next_client_has_a_new_daemon(self, store: Path) -> None:
        """Field case 39: the socket file and the announcement of the dead one stay, and mislead nobody."""
        transport = open_transport(Place(store), timeout_s=10)
        killed = transport.daemon_pid
        watch = os.pidfd_open(killed)
        os.kill(killed, 9)
        with pytest.raises(WireError):
            transport.call("ping", {})
        select.select([watch], [], [], 10)
        os.close(watch)

        assert pid_of_daemon(store) != killed

    def test_an_announced_pid_is_never_signalled(self, store: Path, folder: Path) -> None:
        """Field case 39: the file names a live process that is no daemon; here it is this one."""
        store.mkdir(mode=0o700)
        announced = Announcement(os.getpid(), str(folder / "run/nobody.sock"), "0.0.0")
        (store / "lock").write_bytes(lock_file(announced))

        assert pid_of_daemon(store) != os.getpid()

    def test_a_socket_of_somebody_else_is_passed_over(
        self, store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Field case 39: refuse to talk; the announcement may be older than whoever sits there now."""
        store.mkdir(mode=0o700)
        stranger = StandIn(folder / "stranger.sock", lambda message: result(message, {}))
        give_away(folder / "stranger.sock", monkeypatch)
        (store / "lock").write_bytes(lock_file(Announcement(1, str(folder / "stranger.sock"), "99.0")))
        try:
            pid_of_daemon(store)
        finally:
            stranger.close()

        assert stranger.received == []


class TestFailing:
    def test_a_daemon_that_dies_leaves_its_last_words(self, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        log_path(Place(store)).parent.mkdir(parents=True)
        log_path(Place(store)).write_text("of an earlier daemon\n")
        monkeypatch.setenv("FAKE_BEHAVIOR", "die")

        with pytest.raises(WireError) as refused:
            open_transport(Place(store), timeout_s=10)

        assert refused.value.category == "store_unavailable"
        assert refused.value.data["reason_code"] == "died"
        assert refused.value.data["reason"] == "line one\nno such \\u001b[31mthing"
        assert refused.value.data["log"] == str(log_path(Place(store)))

    def test_a_reason_that_the_daemon_reports_is_raised_at_once(
        self, store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FAKE_BEHAVIOR", "refuse")

        with pytest.raises(WireError, match="the disk is full") as refused:
            open_transport(Place(store), timeout_s=10)

        assert (refused.value.category, refused.value.data["path"]) == ("store_unavailable", "/d")
        assert len(spawned(store)) == 1

    def test_a_daemon_that_is_not_ready_in_time_is_left_alone(
        self, store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.mkdir(mode=0o700)
        os.mkfifo(store / "pipe")
        monkeypatch.setenv("FAKE_BEHAVIOR", "hang")
        hanging: list[int] = []

        class TimeIsUp:
            """The poll of a starter whose time is up as soon as the daemon reads its pipe, however long that takes."""

            def register(self, *_: int) -> None:
                pass

            def poll(self, _: float) -> list[tuple[int, int]]:
                # Opening waits for the reader.
                hanging.append(os.open(store / "pipe", os.O_WRONLY))
                return []

        monkeypatch.setattr("stateward.spawn.select", SimpleNamespace(poll=TimeIsUp, POLLIN=select.POLLIN))
        with pytest.raises(WireError) as refused:
            open_transport(Place(store), timeout_s=60)

        assert refused.value.data["reason_code"] == "timeout"
        (facts,) = spawned(store)
        watch = os.pidfd_open(facts["pid"])
        assert select.select([watch], [], [], 0) == ([], [], [])
        os.close(hanging[0])
        assert select.select([watch], [], [], 10) == ([watch], [], [])
        os.close(watch)

    def test_a_store_that_others_can_write_to_is_refused(self, store: Path) -> None:
        store.mkdir()
        store.chmod(0o777)

        with pytest.raises(WireError, match="chmod go-w"):
            open_transport(Place(store), timeout_s=10)

    def test_a_starter_that_does_not_end_is_not_waited_for_beyond_the_timeout(self, store: Path) -> None:
        store.mkdir(mode=0o700)
        with (store / "start.lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)

            with pytest.raises(WireError, match="another program") as refused:
                open_transport(Place(store), timeout_s=0.05)

        assert refused.value.data["reason_code"] == "timeout"


class TestWaitingForTheLock:
    """daemon.md section 3: an old daemon holds the lock for a moment after it has stopped listening."""

    def test_a_held_lock_is_tried_again_until_it_is_free(self, store: Path) -> None:
        store.mkdir(mode=0o700)
        os.mkfifo(store / "pipe")
        lock = os.open(store / "lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(lock, fcntl.LOCK_EX)

        def release_after_first_refusal() -> None:
            (store / "pipe").read_bytes()
            (store / "pipe").unlink()
            os.close(lock)

        holder = threading.Thread(target=release_after_first_refusal)
        holder.start()
        pid = pid_of_daemon(store)
        holder.join()

        assert [facts["pid"] for facts in spawned(store)][-1] == pid
        assert len(spawned(store)) >= 2

    def test_a_lock_that_stays_held_is_the_reason(self, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        held = WireError("store_unavailable", "in use by process 7", reason_code="lock_held")

        def refuse(*_: object) -> None:
            raise held

        monkeypatch.setattr("stateward.spawn.spawn_daemon", refuse)

        with pytest.raises(WireError) as refused:
            open_transport(Place(store), timeout_s=0.1)

        assert refused.value is held


class TestVersions:
    """Section 7: one daemon per store, not per version."""

    @pytest.mark.parametrize("version", ["0.0.9", "0.0", "0.0.9rc1", ""])
    def test_an_older_version_is_older(self, version: str) -> None:
        assert is_older(version)

    @pytest.mark.parametrize("version", [__version__, f"{__version__}.1", "0.10.0", "99.0", "1.0.0rc1"])
    def test_the_same_or_a_newer_one_is_not(self, version: str) -> None:
        assert not is_older(version)

    def test_the_parts_of_a_version_are_numbers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("stateward.start.__version__", "0.10.0")

        assert is_older("0.9.0")
        assert not is_older("0.11.0")

    def test_an_older_daemon_is_asked_to_leave_and_replaced(self, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FAKE_VERSION", "0.0.9")
        older = pid_of_daemon(store)
        monkeypatch.setenv("FAKE_VERSION", __version__)
        newer = pid_of_daemon(store)

        assert newer != older
        announced = read_announcement(store)
        assert announced is not None
        assert announced.version == __version__
        assert [facts["pid"] for facts in spawned(store)] == [older, newer]

    def test_never_takes_an_older_one_as_it_is(self, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FAKE_VERSION", "0.0.9")
        older = pid_of_daemon(store)

        assert pid_of_daemon(store, start="never") == older

    def test_a_newer_one_is_used_as_it_is(self, store: Path) -> None:
        assert pid_of_daemon(store) == pid_of_daemon(store)

    def test_a_refusal_to_leave_is_passed_on(self, store: Path, folder: Path) -> None:
        """Another protocol is a typed answer with the command to run, not a hang."""
        store.mkdir(mode=0o700)
        stubborn = StandIn(
            folder / "run/d.sock", lambda message: refusal(message, "invalid_request", path="$.params.protocol")
        )
        (store / "lock").write_bytes(lock_file(Announcement(1, str(folder / "run/d.sock"), "0.0.9")))
        try:
            with pytest.raises(WireError) as refused:
                open_transport(Place(store), timeout_s=10)
        finally:
            stubborn.close()

        assert refused.value.data["path"] == "$.params.protocol"
        assert not (store / "spawned").exists()


def test_a_daemon_that_does_not_end_in_time_is_told(folder: Path) -> None:
    """Its process is this one, which goes on."""

    def answer(message: Message) -> list[Message]:
        return attached(message) if message["method"] == "attach" else result(message, {"pid": 1})

    (folder / "store").mkdir()
    patient = StandIn(folder / "d.sock", answer)
    (folder / "store/lock").write_bytes(lock_file(Announcement(1, str(folder / "d.sock"), "99.0")))
    try:
        ended = stop_daemon(open_transport(Place(folder / "store"), start="never"), 0.01)
    finally:
        patient.close()

    assert not ended
    assert patient.methods() == ["attach", "shutdown_daemon"]
