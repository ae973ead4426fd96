"""The ledger of a database as one side of a copy: nobody else uses it meanwhile, on whichever machine."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from stateward_engine.store.catalogue import Catalogue, encode_catalogue
from stateward_engine.store.postgresql_load import load
from stateward_engine.store.postgresql_schema import CHAIN_START, connect, own, refusing
from stateward_engine.store.postgresql_statements import BASE, HEAD, NAME, PLACE, REBASE, RESTART
from stateward_engine.store.receipt_keys import names_in
from stateward_engine.store.streams import place_changed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.state.view import View
    from stateward_engine.store.postgresql_link import Link
    from stateward_engine.store.postgresql_target import Target


@contextlib.contextmanager
def _owned(target: Target) -> Iterator[Link]:
    link, _ = connect(target, sharing=False)
    with link, refusing(target):
        own(link)
        yield link


@contextlib.contextmanager
def reading(target: Target) -> Iterator[View]:
    """Give the view of a ledger, and keep its daemons out as long as it is looked at.

    Raises:
        StoreUnavailable: A daemon uses it, or it cannot be reached.
        CorruptStore: See `load`.
    """
    with _owned(target) as link:
        yield load(link)[0]


def write(target: Target, view: View) -> View | None:
    """Write a view into an empty ledger, all or nothing, and return what is there then.

    Returns:
        `None` where the ledger is not empty; nothing was written.

    Raises:
        StoreUnavailable: As for `reading`.
    """
    with _owned(target) as link:
        link.run("BEGIN")
        (base,), (head,) = link.call(BASE), link.call(HEAD)
        if (base[0], head[0]) != (0, 0):
            link.run("ROLLBACK")
            return None
        catalogue = place_changed(view, Catalogue(), lambda row, data: link.call(PLACE, row.file, data))
        for name, sequence in names_in(view):
            link.call(NAME, name.key, name.goal, sequence)
        link.call(REBASE, view.sequence, CHAIN_START, encode_catalogue(catalogue, view.sequence + 1))
        link.call(RESTART, view.sequence, CHAIN_START)
        link.run("COMMIT")
        return load(link)[0]
