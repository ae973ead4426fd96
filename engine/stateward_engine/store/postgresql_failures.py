"""What a PostgreSQL server says when something is wrong, as refusals that say what to do. The one table of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.errors import Busy, StoreUnavailable

if TYPE_CHECKING:
    from stateward_engine.errors import EngineError, Outcome
    from stateward_engine.store.postgresql_target import Target


class Lost(Exception):
    """The connection is gone or silent: nobody knows what became of a statement that was sent. The text says why."""


class Answered(Exception):
    """The server refused a statement, and took back what its transaction had done.

    Attributes:
        sqlstate: The five characters of its code.
        relation: The table that it is about, or `None`.
    """

    def __init__(self, sqlstate: str, relation: str | None = None) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate
        self.relation = relation


class _Meaning(NamedTuple):
    reason_code: str
    message: str


# Stands in messages for the command that makes the tables.
CREATE: Final = "{create}"
_TABLES_MISSING: Final = _Meaning("schema_missing", "there is no ledger in this schema; make it with: " + CREATE)
READ_ONLY: Final = _Meaning(
    "database_read_only", "it takes no writes (a standby, or default_transaction_read_only); name the primary server"
)
_GOING: Final = _Meaning("database_going", "it is starting, stopping or recovering; try again soon")
_REFUSES_LOGIN: Final = _Meaning(
    "database_login", "it refuses the login; check user and password (PGPASSWORD, a passfile) and pg_hba.conf"
)
# By SQLSTATE, or by its class of two characters. Messages of the server are not repeated: they can quote data.
_MEANINGS: Final = {
    "08": _Meaning("database_unreachable", "the connection failed; check host, port and network"),
    "25006": READ_ONLY,
    "28": _REFUSES_LOGIN,
    "3D000": _Meaning("database_missing", "there is no such database; make it with createdb"),
    "3F000": _TABLES_MISSING,
    "42P01": _TABLES_MISSING,
    "42703": _Meaning("schema_version", "the tables are not those of this version; look at: " + CREATE),
    "42501": _Meaning("database_privileges", "the user may not do that; grant it usage of the schema and its tables"),
    "53100": _Meaning("database_disk_full", "its disk is full; free space there, nothing is lost"),
    "53200": _Meaning("database_memory", "it is out of memory; try again"),
    "53300": _Meaning("database_connections", "it has no connection left; raise max_connections or end others"),
    "57014": _Meaning("statement_timeout", "it took too long and gave up (statement_timeout); nothing was changed"),
    "57P": _GOING,
    "58": _Meaning("database_disk", "its disk or system failed; its log says more"),
    "XX": _Meaning("database_damaged", "it found damage or a mistake of its own; its log says more"),
}
_UNKNOWN: Final = _Meaning("database_error", "it refused a statement; its log says more")
# Somebody else holds the head. What `lock_timeout` ends has this code.
LOCKED: Final = "55P03"
# Two transactions met, and the server ended one: it can be decided anew.
RACES: Final = frozenset({"40001", "40P01"})
UNIQUE: Final = "23505"
# What the server ends a session with, whatever it was doing.
ENDINGS: Final = frozenset({"25P03", "57P01", "57P02", "57P03", "57P05"})


def refusal_of(error: Answered, target: Target) -> EngineError:
    """Return the refusal that an answer of the server amounts to."""
    if error.sqlstate == LOCKED:
        return Busy(
            f"another transaction of the database holds the ledger ({target.shown}); try again, and end the one that "
            "pg_stat_activity shows if it stays",
            limit="lock_timeout",
        )
    code = error.sqlstate
    meaning = next((_MEANINGS[prefix] for prefix in (code, code[:3], code[:2]) if prefix in _MEANINGS), _UNKNOWN)
    return unavailable(target, meaning.message, reason_code=meaning.reason_code, sqlstate=code)


def unavailable(
    target: Target, problem: str, *, reason_code: str, outcome: Outcome = "refused", sqlstate: str | None = None
) -> StoreUnavailable:
    """Return the refusal that says what is wrong with a database, and which it is."""
    return StoreUnavailable(
        f"the database {target.shown}: {problem.replace(CREATE, target.create_command)}",
        outcome=outcome,
        reason_code=reason_code,
        sqlstate=sqlstate,
    )
