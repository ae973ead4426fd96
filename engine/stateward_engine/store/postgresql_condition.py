"""What the ledger of a database stands on, for people: the server, what it promises, and how much there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.store.postgresql_link import Statement
from stateward_engine.store.postgresql_schema import connect, refusing
from stateward_engine.store.postgresql_statements import BASE, HEAD, LENGTH

if TYPE_CHECKING:
    from stateward_engine.store.postgresql_target import Target

_SERVER: Final = Statement(
    "server",
    """
    SELECT current_setting('server_version'), current_setting('fsync'), current_setting('full_page_writes'),
           current_setting('transaction_read_only'),
           coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)
    """,
)


class Condition(NamedTuple):
    """The ledger of a database, seen from outside.

    Attributes:
        server: Its version, as the server calls itself.
        encrypted: Whether this connection is.
        ledger: The id of the ledger, a UUID.
        head: The sequence of its last entry.
        base: The sequence that its checkpoints cover.
        groups: How many groups a start would replay.
        length: Their size, in bytes.
        weaknesses: What the server does not promise, one sentence each.
    """

    server: str
    encrypted: bool
    ledger: str
    head: int
    base: int
    groups: int
    length: int
    weaknesses: tuple[str, ...]


def look_at(target: Target) -> Condition:
    """Return the condition of the ledger of a database. Changes nothing and keeps nobody out.

    Raises:
        StoreUnavailable: The database cannot be reached or refuses it, or has no ledger of this version.
    """
    link, ledger = connect(target, sharing=False)
    with link, refusing(target):
        ((server, fsync, full_page_writes, read_only, encrypted),) = link.call(_SERVER)
        ((base, _, _),), ((head, _),) = link.call(BASE), link.call(HEAD)
        ((length, groups),) = link.call(LENGTH, base)
        weaknesses = weaknesses_of(fsync, full_page_writes, read_only)
        return Condition(server, encrypted, ledger, head, base, groups, length, weaknesses)


def weaknesses_of(fsync: str, full_page_writes: str, read_only: str) -> tuple[str, ...]:
    """Return what settings of a server, each `on` or `off`, take from the promises of a ledger."""
    found = {
        "fsync is off: a crash of its machine can lose what was committed": fsync == "off",
        "full_page_writes is off: a crash of its machine can damage the ledger": full_page_writes == "off",
        "it takes no writes: every mutation will be refused": read_only == "on",
    }
    return tuple(sentence for sentence, holds in found.items() if holds)
