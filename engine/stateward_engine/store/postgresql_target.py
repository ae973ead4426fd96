"""Which database keeps a ledger, and how long each step there may take. Shown without its secrets, always."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """How long the database may take, in seconds.

    Attributes:
        connect_s: To take a connection.
        statement_s: For one statement. The server gives up first; a server that does not answer at all is left a
            moment later.
        lock_s: To wait for somebody else who holds the head of the ledger.
        poll_s: How old a view gets before the head is looked at although nobody told of a change.
    """

    connect_s: float = 5.0
    statement_s: float = 10.0
    lock_s: float = 3.0
    poll_s: float = 5.0


class Target(NamedTuple):
    """A ledger in a PostgreSQL database.

    Attributes:
        uri: What libpq is given; it may hold a password.
        schema: The schema that holds the ledger, a small-letter identifier.
        shown: The same for people, without secrets.
        limits: How long it may take.
    """

    uri: str
    schema: str
    shown: str
    limits: Limits = Limits()

    def __repr__(self) -> str:
        """Return what may be shown: a representation ends up in logs and tracebacks."""
        return f"Target({self.shown!r})"

    @property
    def create_command(self) -> str:
        """The command that makes or upgrades the ledger."""
        return f"stateward store create --store '{self.shown}'"

    @property
    def channel(self) -> str:
        """Where those who follow the ledger are told of each append."""
        return f"stateward.{self.schema}"
