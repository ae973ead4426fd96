"""The virtual documents that one client shows: it is told to ask again for those that have changed.

A document is followed from when the client asked for it until the client is told to ask again. One that still shows it
does so, and is served the newest text; so nothing is made for nobody, and nothing is left behind by a document that was
closed.
"""

from __future__ import annotations

from collections import OrderedDict
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_daemon.documents import resolved
from stateward_daemon.virtual import named
from stateward_engine.state.read import standing

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_daemon.host import Caller
    from stateward_daemon.virtual import StateName
    from stateward_engine.state.overlay import Layers

# A client may ask for one after the other for as long as it stays.
FOLLOWED_MAX: Final = 256


class _OfState(NamedTuple):
    name: StateName
    layers: Layers


class Served:
    """What one client was served."""

    def __init__(self, caller: Caller, show: Callable[[str], None]) -> None:
        """Begin with nothing.

        Args:
            caller: Who the client is to the host.
            show: Lets it ask again for a document, by its URI.
        """
        self._caller = caller
        self._show = show
        # By URI, as the client spells it: what of the state it shows, or the path of the document it is made from.
        self._followed: OrderedDict[str, _OfState | Path] = OrderedDict()

    def follow(self, uri: str) -> None:
        """Take note that the client is about to be served a document. From any thread.

        Raises:
            WireError: No virtual document has that URI.
        """
        name = named(uri)
        self._followed[uri] = resolved(name) if isinstance(name, Path) else _OfState(name, self._standing(name))
        while len(self._followed) > FOLLOWED_MAX:
            self._followed.popitem(last=False)

    def look(self) -> None:
        """Show anew what shows something of the state that has changed."""
        for uri, shown in list(self._followed.items()):
            if isinstance(shown, _OfState) and not _are_same(shown.layers, self._standing(shown.name)):
                self._tell(uri)

    def text_changed(self, path: Path | None) -> None:
        """Show anew what is made from the document at a path."""
        for uri, shown in list(self._followed.items()):
            if shown == path:
                self._tell(uri)

    def show_all(self) -> None:
        """Show everything anew."""
        for uri in list(self._followed):
            self._tell(uri)

    def _tell(self, uri: str) -> None:
        self._followed.pop(uri, None)
        self._show(uri)

    def _standing(self, name: StateName) -> Layers:
        return standing(self._caller.host.store.view, self._caller.bound().selection, name.path)


def _are_same(before: Layers, now: Layers) -> bool:
    return len(before) == len(now) and all(map(is_, before, now))
