"""The tables of a ledger in a PostgreSQL database: made by command, checked by version at each connection.

`ENGINES.md` says what they hold.
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from stateward_engine.store.catalogue import Catalogue, encode_catalogue
from stateward_engine.store.postgresql_failures import CREATE, Answered, Lost, refusal_of, unavailable
from stateward_engine.store.postgresql_link import Link, Statement, unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.store.postgresql_target import Target

SCHEMA_VERSION: Final = 1
# The first whose `gen_random_uuid` and `sha256` need no extension.
_SERVER_VERSION_MIN: Final = 130_000

# The chain before the first group.
CHAIN_START: Final = bytes(32)
# Every table with one row has this column, which lets it have no second one.
_ONE_ROW: Final = "one boolean PRIMARY KEY DEFAULT true CHECK (one)"
_TABLES: Final = f"""
    CREATE TABLE format ({_ONE_ROW},
        version integer NOT NULL, ledger uuid NOT NULL DEFAULT gen_random_uuid(),
        created_at timestamptz NOT NULL DEFAULT now());
    CREATE TABLE head ({_ONE_ROW},
        sequence bigint NOT NULL, chain bytea NOT NULL) WITH (fillfactor = 20);
    CREATE TABLE base ({_ONE_ROW},
        sequence bigint NOT NULL, chain bytea NOT NULL, catalogue bytea NOT NULL);
    CREATE TABLE groups (first bigint PRIMARY KEY, last bigint NOT NULL CHECK (last >= first),
        record bytea NOT NULL, chain bytea NOT NULL, writer text NOT NULL, at timestamptz NOT NULL DEFAULT now());
    CREATE TABLE receipts (key bytea PRIMARY KEY, sequence bigint NOT NULL, goal bytea);
    CREATE INDEX receipts_sequence ON receipts (sequence) WHERE goal IS NULL;
    CREATE TABLE streams (file text PRIMARY KEY, body bytea NOT NULL);
"""
_FORMAT: Final = Statement("format", "SELECT version, ledger::text FROM format")
_STRANGERS: Final = Statement(
    "strangers",
    "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text",
)
_FIRST_ROWS: Final = (
    Statement("format_row", "INSERT INTO format (version) VALUES ($1::bigint)"),
    Statement("head_row", "INSERT INTO head (sequence, chain) VALUES (0, $1::bytea)"),
    Statement("base_row", "INSERT INTO base (sequence, chain, catalogue) VALUES (0, $1::bytea, $2::bytea)"),
)
_SHARE: Final = Statement("share", "SELECT pg_try_advisory_lock_shared($1::bigint)")
_OWN: Final = Statement("own", "SELECT pg_try_advisory_lock($1::bigint)")


class Created(NamedTuple):
    """What `create_schema` did.

    Attributes:
        did: `created`, `upgraded`, or `unchanged` where it was there already.
        version: Of the schema that is there now.
        ledger: The id of the ledger, a UUID.
    """

    did: Literal["created", "upgraded", "unchanged"]
    version: int
    ledger: str


def create_schema(target: Target) -> Created:
    """Make the tables of a ledger, or find that they are there.

    Raises:
        StoreUnavailable: The database cannot be reached or refuses it, somebody uses the ledger, the schema holds
            something else, or another version of this program made it.
    """
    with Link.connect(target) as link, refusing(target):
        if link.version < _SERVER_VERSION_MIN:
            raise unavailable(
                target,
                f"its server has version {link.version // 10_000}; use {_SERVER_VERSION_MIN // 10_000} or later",
                reason_code="server_version",
            )
        if _found(link) is None:
            # Somebody else may be making it just now. Where it is there, daemons may go on.
            own(link)
        if (found := _found(link)) is not None:
            return Created("unchanged", *_known(found, target))
        link.run("BEGIN")
        link.run(f'CREATE SCHEMA IF NOT EXISTS "{target.schema}"')
        ((others,),) = link.call(_STRANGERS, target.schema)
        if others:
            raise unavailable(
                target,
                f"its schema {target.schema} holds {others} other things; choose another with ?schema=NAME",
                reason_code="schema_in_use",
            )
        link.run(_TABLES)
        for statement, values in zip(_FIRST_ROWS, _first_values(), strict=True):
            link.call(statement, *values)
        link.run("COMMIT")
        return Created("created", *_known(_found(link), target))


def _first_values() -> tuple[tuple[int | bytes, ...], ...]:
    return (SCHEMA_VERSION,), (CHAIN_START,), (CHAIN_START, encode_catalogue(Catalogue(), 1))


def connect(target: Target, *, sharing: bool) -> tuple[Link, str]:
    """Return a connection to a ledger of this version, and the id of the ledger.

    Args:
        target: Where.
        sharing: Keep those out who need the ledger for themselves, as long as the connection lasts.

    Raises:
        StoreUnavailable: It cannot be reached, is not there or has another version, or somebody has it for himself.
    """
    link = Link.connect(target)
    try:
        with refusing(target):
            _, ledger = _known(_found(link), target)
            if sharing:
                _share(link)
    except BaseException:
        link.close()
        raise
    return link, ledger


def _share(link: Link) -> None:
    if link.call(_SHARE, _lock_key(link.target)) != [(True,)]:
        raise unavailable(
            link.target,
            "it is being made, upgraded or copied; try again once that is done",
            reason_code="ledger_claimed",
        )


def own(link: Link) -> None:
    """Have the ledger for this connection alone, as long as it lasts.

    Raises:
        StoreUnavailable: A daemon uses it, on whichever machine.
        Answered, Lost: As for `Link.call`.
    """
    if link.call(_OWN, _lock_key(link.target)) != [(True,)]:
        raise unavailable(
            link.target,
            "daemons use this ledger; stop them on every machine first (stateward daemon stop), then try again",
            reason_code="ledger_in_use",
        )


@contextlib.contextmanager
def refusing(target: Target) -> Iterator[None]:
    """Turn what a database says, or its silence, into a refusal. Right where nothing is unknown afterwards."""
    try:
        yield
    except Answered as error:
        raise refusal_of(error, target) from None
    except Lost as error:
        raise unreachable(target, str(error)) from None


def _found(link: Link) -> tuple[int, str] | None:
    """Return version and id of the ledger that is there; `None` for none."""
    try:
        ((version, ledger),) = link.call(_FORMAT)
    except Answered as error:
        if error.sqlstate in _NO_TABLE:
            return None
        raise
    return version, ledger


def _known(found: tuple[int, str] | None, target: Target) -> tuple[int, str]:
    """Return what was found, if this program knows it."""
    if found is None:
        raise refusal_of(Answered(_NO_TABLE[0]), target)
    version, _ = found
    if version > SCHEMA_VERSION:
        raise unavailable(
            target,
            f"its ledger has version {version} and this program knows {SCHEMA_VERSION}; use a newer stateward",
            reason_code="schema_version",
        )
    if version < SCHEMA_VERSION:
        raise unavailable(
            target,
            f"its ledger has version {version} and this program needs {SCHEMA_VERSION}; bring it there with: " + CREATE,
            reason_code="schema_version",
        )
    return found


# No such table; no such schema.
_NO_TABLE: Final = ("42P01", "3F000")


def _lock_key(target: Target) -> int:
    """Return the number that programs agree on when they lock the ledger of a schema."""
    return int.from_bytes(hashlib.sha256(target.channel.encode()).digest()[:8], "big", signed=True)
