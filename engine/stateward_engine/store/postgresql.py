"""The ledger in a PostgreSQL database, shared by the daemons of many machines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from stateward_engine.errors import Busy, CorruptStore, EngineError, StoreUnavailable
from stateward_engine.state.draft import RECEIPTS_KEPT_MAX
from stateward_engine.store.catalogue import encode_catalogue
from stateward_engine.store.clock import elapsed_s, utc_now
from stateward_engine.store.ledger import Outage, Stale, refusal
from stateward_engine.store.postgresql_failures import (
    RACES,
    READ_ONLY,
    UNIQUE,
    Answered,
    Lost,
    refusal_of,
    unavailable,
)
from stateward_engine.store.postgresql_following import Follower
from stateward_engine.store.postgresql_link import unreachable
from stateward_engine.store.postgresql_load import Position, advance, catalogue_of, load
from stateward_engine.store.postgresql_schema import connect, refusing
from stateward_engine.store.postgresql_statements import (
    APPEND,
    DROP,
    FORGET,
    HELD_BASE,
    HOLD,
    LENGTH,
    OUTGROWN,
    PLACE,
    REBASE,
)
from stateward_engine.store.receipt_keys import names_of
from stateward_engine.store.record import encode_group
from stateward_engine.store.streams import place_changed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stateward_engine.state.view import View
    from stateward_engine.store.catalogue import Catalogue
    from stateward_engine.store.postgresql_link import Link
    from stateward_engine.store.postgresql_target import Target

# How long to leave a database alone that could not be reached: twice as long each time.
_RETRY_FIRST_S: Final = 0.05
_RETRY_MAX_S: Final = 5.0
_NO_GOAL: Final = bytes(32)


class PostgresqlLedger:
    """A `Ledger` in a database.

    Nothing is poisoned by an outage. Every append says which head it is to come after, digest included; so after one
    whose outcome is unknown, the next one finds it there or not, and both cannot be.

    Attributes:
        writer: What tells this ledger from others that are open on the database.
        ledger_id: Which ledger it is; after a reconnection it has to be the same.
    """

    provider: Final = "postgresql"

    def __init__(self, target: Target, link: Link, ledger_id: str, position: Position) -> None:
        self.writer = os.urandom(8).hex()
        self.ledger_id = ledger_id
        self.poison: str | None = None
        self._target = target
        self._link: Link | None = link
        self._position = position
        # Whether the open transaction of the link holds the head.
        self._holds = False
        self._outage: str | None = None
        self._reached_at = utc_now()
        self._retry_s = _RETRY_FIRST_S
        self._retry_at = 0.0

    @property
    def outage(self) -> Outage | None:
        """See `Ledger`."""
        return None if self._outage is None else Outage(self._outage, self._reached_at)

    @property
    def head(self) -> int:
        """See `Ledger`."""
        return self._position.sequence

    @property
    def length(self) -> int:
        """See `Ledger`."""
        return self._position.length

    @property
    def is_long(self) -> bool:
        """See `Ledger`."""
        at = self._position
        return self._link is not None and at.catalogue.is_outgrown(at.length, at.groups)

    def append(self, entries: Sequence[bytes], *, expected_head: int) -> None:
        """See `Ledger`."""
        if expected_head != self.head:
            raise Stale
        record = encode_group(expected_head + 1, entries)
        after = self._position.after(expected_head + len(entries), record)
        names, given_up = names_of(entries)
        keys = b"".join(name.key + (name.goal or _NO_GOAL) for name in names)
        values = (expected_head, self._position.chain, after.sequence, record, self.writer, keys, self._target.channel)
        link = self._connected()
        try:
            if given_up and not self._holds:
                self._hold(link)
            for goal in given_up:
                link.call(FORGET, goal)
            rows = self._appended(link, values)
            if rows and self._holds:
                self._end(link, "COMMIT")
        except Lost as error:
            self._lose(unreachable(self._target, str(error)))
            raise self._unknown(str(error)) from None
        except Answered as error:
            raise self._refused(link, error) from None
        if not rows:
            raise Stale
        if rows[0][0] != after.chain:
            self.poison = "the database stored something else than was sent"
            raise self._unknown(self.poison)
        self._position = after
        self._reached()

    def follow(self, view: View, *, hold: bool = False) -> View:
        """See `Ledger`."""
        link = self._connected()
        try:
            if self._holds:
                # Nobody could append meanwhile.
                self._end(link, "ROLLBACK")
                if not hold:
                    return view
            if hold:
                self._hold(link)
            found = advance(link, view, self._position) if view.sequence == self.head else None
            if found is None:
                # A compaction has overtaken it, or the view is another. The checkpoints lead to the head, too.
                if self._holds:
                    self._end(link, "ROLLBACK")
                found = load(link)
        except Lost as error:
            raise self._lose(unreachable(self._target, str(error))) from None
        except Answered as error:
            refused = self._refused(link, error)
            # Whoever waits for a lock has a well database behind it.
            if not isinstance(refused, Busy):
                self._outage = str(refused)
            raise refused from None
        except CorruptStore as error:
            self._outage = str(error)
            self._let_go()
            raise
        view, self._position = found
        self._reached()
        return view

    def compact(self, view: View) -> int:
        """See `Ledger`. Others append meanwhile; who compacts at the same time waits, and then has nothing to do."""
        link = self._connected()
        try:
            link.run("BEGIN")
            self._holds = True
            ((base, _, content),) = link.call(HELD_BASE)
            before = catalogue_of(content, base)
            if base >= view.sequence:
                self._end(link, "ROLLBACK")
                return self._rebased(link, base, before, streams_new=0)
            after = place_changed(view, before, lambda row, data: link.call(PLACE, row.file, data))
            after = replace(after, journal=before.journal + 1)
            content = encode_catalogue(after, view.sequence + 1)
            link.call(REBASE, view.sequence, self._position.chain, content)
            link.call(DROP, base)
            link.call(OUTGROWN, RECEIPTS_KEPT_MAX)
            self._end(link, "COMMIT")
            known = {row.file for row in before.streams}
            new = sum(row.file not in known for row in after.streams)
            return self._rebased(link, view.sequence, after, streams_new=new)
        except Lost as error:
            # Whether it was compacted is of no importance: what it leads to is the same.
            raise self._lose(unreachable(self._target, str(error))) from None
        except Answered as error:
            raise self._refused(link, error) from None

    def heed(self, follow: Callable[[], None]) -> Callable[[], None]:
        """See `SharedLedger`."""
        return Follower(self._target, own=self.writer, follow=follow).close

    def close(self) -> None:
        """See `Ledger`."""
        self.poison = self.poison or "closed"
        self._let_go()

    def _rebased(self, link: Link, base: int, catalogue: Catalogue, *, streams_new: int) -> int:
        ((length, groups),) = link.call(LENGTH, base)
        self._position = self._position._replace(base=base, catalogue=catalogue, length=length, groups=groups)
        return streams_new

    def _appended(self, link: Link, values: tuple[int | bytes | str, ...]) -> list[tuple[object, ...]]:
        try:
            return link.call(APPEND, *values)
        except Answered as error:
            if error.sqlstate in RACES:
                return []
            if (error.sqlstate, error.relation) != (UNIQUE, "receipts") or self._holds:
                raise
        # A key that everybody has forgotten may be used again.
        link.call(OUTGROWN, RECEIPTS_KEPT_MAX)
        return link.call(APPEND, *values)

    def _hold(self, link: Link) -> None:
        """Begin a transaction that nobody appends before the end of."""
        self._holds = True
        link.run(HOLD)

    def _end(self, link: Link, how: str) -> None:
        """End the open transaction."""
        self._holds = False
        if link.run(how) != how.encode():
            # So says a server that had given the transaction up already.
            raise Lost("the transaction had failed before its end")

    def _connected(self) -> Link:
        """Return the connection, a new one if it must be.

        Raises:
            StoreUnavailable: There is none, and it is too early to try again or it failed again.
        """
        if self.poison is not None:
            raise refusal(self.poison)
        if self._link is not None and not self._link.is_gone:
            return self._link
        self._let_go()
        if elapsed_s() < self._retry_at:
            raise StoreUnavailable(str(self._outage), reason_code="database_unreachable")
        try:
            link, ledger_id = connect(self._target, sharing=True)
        except EngineError as error:
            self._lose(error)
            raise
        if ledger_id != self.ledger_id:
            link.close()
            self.poison = f"the database {self._target.shown} has another ledger now; restart to use that one"
            raise refusal(self.poison)
        self._link = link
        return link

    def _let_go(self) -> None:
        self._holds = False
        if self._link is not None:
            self._link.close()
            self._link = None

    def _lose(self, error: EngineError) -> EngineError:
        """Give the connection up, leave the database alone for a while, and return the error that says why."""
        self._let_go()
        self._outage = str(error)
        self._retry_at = elapsed_s() + self._retry_s
        self._retry_s = min(2 * self._retry_s, _RETRY_MAX_S)
        return error

    def _reached(self) -> None:
        self._outage = None
        self._reached_at = utc_now()
        self._retry_s, self._retry_at = _RETRY_FIRST_S, 0.0

    def _unknown(self, why: str) -> StoreUnavailable:
        return unavailable(
            self._target,
            f"it cannot be told whether the mutation was committed ({why}); repeat the call with the same "
            "idempotency key",
            reason_code="database_unreachable",
            outcome="unknown",
        )

    def _refused(self, link: Link, error: Answered) -> EngineError:
        """Return the refusal of a statement, with the transaction around it ended."""
        if self._holds:
            self._holds = False
            try:
                link.run("ROLLBACK")
            except (Answered, Lost) as lost:
                self._lose(unreachable(self._target, str(lost)))
        if (error.sqlstate, error.relation) == (UNIQUE, "receipts"):
            return CorruptStore(
                f"the database {self._target.shown} has a receipt for an idempotency key or operation id that its "
                "streams do not know; nothing was written: check it with stateward check-store",
                file="receipts",
            )
        return refusal_of(error, self._target)


def open_postgresql(target: Target) -> tuple[PostgresqlLedger, View]:
    """Open the ledger of a database to write to it, and return it with the view that it leads to.

    Raises:
        StoreUnavailable: The database cannot be reached, refuses it or takes no writes, or has no ledger of this
            version.
        CorruptStore: See `load`.
    """
    link, ledger_id = connect(target, sharing=True)
    try:
        with refusing(target):
            _demand_writable(link)
            view, position = load(link)
        return PostgresqlLedger(target, link, ledger_id, position), view
    except BaseException:
        link.close()
        raise


def _demand_writable(link: Link) -> None:
    if link.run("SELECT FROM pg_settings WHERE name = 'transaction_read_only' AND setting = 'on'") != b"SELECT 0":
        raise unavailable(link.target, READ_ONLY.message, reason_code=READ_ONLY.reason_code)


def read_postgresql(target: Target) -> View:
    """Return the view of the ledger of a database, whoever writes to it, without writing.

    Raises:
        StoreUnavailable, CorruptStore: As for `open_postgresql`.
    """
    link, _ = connect(target, sharing=False)
    with link, refusing(target):
        return load(link)[0]
