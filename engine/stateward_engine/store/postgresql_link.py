"""One connection to a PostgreSQL server: statements with a deadline, answers in full. The only module with psycopg.

It drives libpq itself, because a statement must end when its time is over even if the server is silent, and because an
answer counts only once the server has said that the transaction is over: a commit can fail after the rows have come.
"""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_engine.errors import StoreUnavailable
from stateward_engine.store.clock import elapsed_s
from stateward_engine.store.postgresql_failures import ENDINGS, Answered, Lost, refusal_of, unavailable

try:
    import psycopg
    from psycopg import pq
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
except ImportError as missing:
    raise StoreUnavailable(
        "a store in PostgreSQL needs psycopg, which is not installed; install it with: "
        "pip install 'stateward[postgresql]'",
        reason_code="psycopg_missing",
        example="pip install 'stateward[postgresql]'",
    ) from missing

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from psycopg.pq.abc import PGconn, PGresult

    from stateward_engine.errors import EngineError
    from stateward_engine.store.postgresql_target import Target

    Value = bytes | int | str | None
    Row = tuple[Any, ...]

# How much longer than the server we wait for it: only one that does not answer at all takes so long.
_SILENCE_S: Final = 2.0
# A dead peer is noticed within seconds, also by a connection on which nothing is sent.
_DEFAULTS: Final = {
    "application_name": "stateward",
    "client_encoding": "UTF8",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
_BINARY: Final = 1
_INT_BYTES: Final = 8
_INTEGERS: Final = frozenset({20, 21, 23})  # int8, int2, int4
_BYTEA: Final = 17
_BOOL: Final = 16
_GOOD: Final = frozenset({pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK})
_MILLISECONDS: Final = 1_000
# Words of a server that refuses a connection, and the code that it sends with them.
_SAID: Final = {
    "too many c": "53300",
    "remaining connection slots": "53300",
    "authentication failed": "28P01",
    "no password supplied": "28P01",
    "no pg_hba.conf entry": "28000",
    'role "': "28000",
    'database "': "3D000",
    "the database system is": "57P03",
}


class Statement(NamedTuple):
    """A statement that a connection prepares once.

    Attributes:
        name: Among the statements of a connection.
        sql: With `$1` and so on, each cast to its type.
    """

    name: str
    sql: str


class Link:
    """An open connection with its settings made.

    Attributes:
        target: Where it leads.
        version: Of the server, for example 180006.
    """

    def __init__(self, connection: psycopg.Connection[Any], target: Target) -> None:
        self.target = target
        self._connection = connection
        self._pgconn: PGconn = connection.pgconn
        self._pgconn.nonblocking = 1
        self._prepared: set[str] = set()
        self.version = self._pgconn.server_version

    @classmethod
    def connect(cls, target: Target) -> Self:
        """Connect, and let the server bound what this connection may take.

        Raises:
            StoreUnavailable: It could not; nothing was sent that changes anything.
        """
        try:
            connection = psycopg.connect(_conninfo(target), autocommit=True)
        except psycopg.Error as error:
            raise _no_connection(error, target) from None
        link = cls(connection, target)
        try:
            link.run(_settings(target))
        except BaseException as error:
            link.close()
            if isinstance(error, Lost):
                raise unreachable(target, str(error)) from None
            if isinstance(error, Answered):
                raise refusal_of(error, target) from None
            raise
        return link

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; whatever was not committed is taken back. A second call does nothing."""
        self._connection.close()

    @property
    def is_gone(self) -> bool:
        """Whether the other side is known to have ended the connection. Asks nobody and does not wait."""
        try:
            while select.select([self._pgconn.socket], [], [], 0)[0]:
                self._pgconn.consume_input()
                if self._pgconn.status != pq.ConnStatus.OK or self._pgconn.is_busy():
                    return True
        except (psycopg.Error, OSError, ValueError):
            return True
        return False

    def call(self, statement: Statement, *values: Value) -> list[Row]:
        """Run a statement, by itself or in the open transaction, and return its rows.

        Raises:
            Answered: The server refused it.
            Lost: The connection is gone, or the server was silent for longer than it may be.
        """
        if statement.name not in self._prepared:
            self._finish(lambda conn: conn.send_prepare(statement.name.encode(), statement.sql.encode()))
            self._prepared.add(statement.name)
        data = [_encoded(value) for value in values]
        formats = [_BINARY] * len(data)
        (result,) = self._finish(lambda conn: conn.send_query_prepared(statement.name.encode(), data, formats, _BINARY))
        return [
            tuple(_decoded(result.ftype(column), result.get_value(row, column)) for column in range(result.nfields))
            for row in range(result.ntuples)
        ]

    def run(self, sql: str) -> bytes:
        """Run statements without values, and return what the last one says that it did.

        Raises:
            Answered, Lost: As for `call`.
        """
        return self._finish(lambda conn: conn.send_query(sql.encode()))[-1].command_status or b""

    def listen(self) -> None:
        """Have the channel of the ledger told to this connection from now on.

        Raises:
            Answered, Lost: As for `call`.
        """
        self.run(f'LISTEN "{self.target.channel}"')

    def notices(self, seconds: float, *, wake: int) -> list[str]:
        """Return what was told on the channel, as soon as there is something.

        Args:
            seconds: How long to wait; after it, the list is empty.
            wake: A descriptor that ends the wait, too, when it can be read.

        Raises:
            Lost: The connection is gone.
        """
        try:
            found = self._told()
            if not found and self._pgconn.socket in select.select([self._pgconn.socket, wake], [], [], seconds)[0]:
                self._pgconn.consume_input()
                if self._pgconn.status != pq.ConnStatus.OK:
                    raise Lost("the server ended the connection")
                found = self._told()
        except (psycopg.Error, OSError, ValueError) as error:
            raise Lost(_first_line(error, self.target)) from None
        return found

    def _told(self) -> list[str]:
        found = []
        while notice := self._pgconn.notifies():
            found.append(notice.extra.decode(errors="replace"))
        return found

    def _finish(self, send: Callable[[PGconn], None]) -> list[PGresult]:
        """Send something and return its results, once the server waits for the next statement.

        Every result counts, also those behind the first good one.
        """
        deadline = elapsed_s() + self.target.limits.statement_s + _SILENCE_S
        results: list[PGresult] = []
        try:
            send(self._pgconn)
            while self._pgconn.flush():
                self._await(select.POLLIN | select.POLLOUT, deadline)
            while True:
                while self._pgconn.is_busy():
                    self._await(select.POLLIN, deadline)
                result = self._pgconn.get_result()
                if result is None:
                    break
                results.append(result)
        except (psycopg.Error, OSError, ValueError) as error:
            raise Lost(_first_line(error, self.target)) from None
        for result in results:
            if result.status not in _GOOD:
                raise self._failure(result)
        if not results or self._pgconn.status != pq.ConnStatus.OK:
            raise Lost("the server ended the connection")
        return results

    def _await(self, events: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(self._pgconn.socket, events)
        found = poll.poll(max(0.0, deadline - elapsed_s()) * _MILLISECONDS)
        if not found:
            raise Lost(f"the server did not answer within {self.target.limits.statement_s + _SILENCE_S:g} s")
        if found[0][1] & ~select.POLLOUT:
            self._pgconn.consume_input()

    def _failure(self, result: PGresult) -> Lost | Answered:
        """Return what a bad result amounts to: only a server that goes on has taken back what it refused."""
        state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode(errors="replace")
        severity = result.error_field(pq.DiagnosticField.SEVERITY_NONLOCALIZED)
        if not state or severity != b"ERROR" or state in ENDINGS or self._pgconn.status != pq.ConnStatus.OK:
            return Lost(f"the server ended the connection ({state or 'without a word'})")
        relation = result.error_field(pq.DiagnosticField.TABLE_NAME)
        return Answered(state, None if relation is None else relation.decode(errors="replace"))


def unreachable(target: Target, why: str) -> StoreUnavailable:
    """Return the refusal of a call that reached nobody."""
    return unavailable(
        target,
        f"it cannot be reached ({why}); check that the server runs and that host and port are right",
        reason_code="database_unreachable",
    )


def _conninfo(target: Target) -> str:
    try:
        given = conninfo_to_dict(target.uri)
    except psycopg.Error:
        # What libpq says quotes the text, which may have a password at a wrong place.
        raise unavailable(
            target, "libpq does not take this address or one of its parameters", reason_code="database_address"
        ) from None
    defaults = {**_DEFAULTS, "connect_timeout": str(max(2, round(target.limits.connect_s)))}
    return make_conninfo("", **{**{name: value for name, value in defaults.items() if name not in given}, **given})


def _no_connection(error: psycopg.Error, target: Target) -> EngineError:
    """Return why there is no connection. libpq does not give the code of a refused one, only what the server said."""
    said = _first_line(error, target)
    code = next((code for words, code in _SAID.items() if words in said), None)
    return unreachable(target, said) if code is None else refusal_of(Answered(code), target)


def _first_line(error: Exception, target: Target) -> str:
    """Return what libpq says first, on one line and without secrets of the address or the environment."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    for secret in _secrets(target):
        text = text.replace(secret, "***")
    return text


def _secrets(target: Target) -> list[str]:
    try:
        given = conninfo_to_dict(target.uri)
    except psycopg.Error:
        return [target.uri]
    found = [given.get("password"), given.get("sslpassword"), os.environ.get("PGPASSWORD")]
    return [str(secret) for secret in found if secret]


def _settings(target: Target) -> str:
    """Return what makes a session ours, as one message to the server.

    A commit is durable when it returns, whatever the database defaults to; a stronger default stays.
    """
    statement_ms, lock_ms = (round(seconds * _MILLISECONDS) for seconds in target.limits[1:3])
    return f"""
        SET statement_timeout = {statement_ms};
        SET lock_timeout = {lock_ms};
        SET idle_in_transaction_session_timeout = {statement_ms};
        SET default_transaction_isolation = 'read committed';
        SET search_path TO "{target.schema}";
        SELECT set_config('synchronous_commit', 'on', false)
         WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write');
    """


def _encoded(value: Value) -> bytes | None:
    if isinstance(value, int):
        return value.to_bytes(_INT_BYTES, "big", signed=True)
    return value.encode() if isinstance(value, str) else value


def _decoded(kind: int, data: bytes | None) -> Value:
    if data is None or kind == _BYTEA:
        return data
    if kind in _INTEGERS:
        return int.from_bytes(data, "big", signed=True)
    return data == b"\x01" if kind == _BOOL else data.decode()
