"""What a workload is about: what the next process does first, and what must be true of what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Protocol

from stateward_engine.errors import EngineError
from stateward_engine.store.check import check_store
from stateward_engine.store.document_place import STAGED_PREFIX
from stateward_engine.store.publish_file import create_file, publish_file
from stateward_engine.store.store import open_store
from store.faults.life import REFUSED, Life, fingerprint, kill, named
from store.planted import noon

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_engine.state.view import View


@dataclass(frozen=True, slots=True)
class Promise:
    """What was told before a crash.

    Attributes:
        states: What may be found: the last state that was told, and the one that was under way.
        refused: Commands that must never show.
    """

    states: tuple[str, ...]
    refused: frozenset[str]


class Subject(Protocol):
    """What is on the disk."""

    def begin(self, life: Life) -> None:
        """Start on what is there, and end badly."""

    def go_on(self, life: Life) -> None:
        """Start on what is there, and do something more."""

    def broken(self, life: Life, promised: Promise) -> Iterator[str]:
        """Start on what is there, and yield what does not hold of it."""


class _Stores:
    def begin(self, life: Life) -> None:
        with life.open() as store:
            kill(life, store)

    def go_on(self, life: Life) -> None:
        with life.open() as store:
            life.commit(store, named("next", "next"))

    def broken(self, life: Life, promised: Promise) -> Iterator[str]:
        """See `Subject`. It starts twice, with one more commit and a kill between."""
        try:
            found = open_store(life.path, read_only=True).view
            yield from _untrue(found, promised)
            with life.open() as store:
                if store.view != found:
                    yield "a reader sees another state than the next owner"
                life.commit(store, named("probe"))
                served = store.view
                kill(life, store)
            with open_store(life.path, now=noon) as store:
                if store.view != served:
                    yield "another state after the start was repeated"
            yield from (f"damage: {fault}" for fault in check_store(life.path).faults)
        except EngineError as error:
            yield f"refused to start: {error}"


def _untrue(view: View, promised: Promise) -> Iterator[str]:
    if promised.states and fingerprint(view) not in promised.states:
        yield f"a state that was neither told last nor under way, at sequence {view.sequence}"
    if ghosts := {f"{REFUSED}{key.key}" for key in view.receipts} & promised.refused:
        yield f"a command that was refused: {sorted(ghosts)}"


NO_DOCUMENT: Final = "no document"


def text_told(digest: str) -> str:
    """Return how a document of that SHA-256 is told of."""
    return f"document {digest}"


def _what_is_there(document: Path) -> str:
    return text_told(sha256(document.read_bytes()).hexdigest()) if document.exists() else NO_DOCUMENT


class _Documents:
    def begin(self, life: Life) -> None:
        # Read alone, a text is no promise: whoever was killed may have left it unsynced. Published as it is, it is one.
        if life.document.exists():
            self._publish(life, life.document.read_bytes())
        else:
            life.tell(NO_DOCUMENT)
        self._publish(life, b"begun\n")

    def go_on(self, life: Life) -> None:
        self.begin(life)

    def broken(self, life: Life, promised: Promise) -> Iterator[str]:
        found = _what_is_there(life.document)
        if promised.states and found not in promised.states:
            yield "a text that was neither told last nor under way"
        try:
            if kept := self._publish(life, b"probe\n"):
                yield f"copies that nobody else wrote were kept: {kept}"
        except EngineError as error:
            yield f"refused to publish: {error}"
        if left := [path.name for path in life.document.parent.iterdir() if path.name.startswith(STAGED_PREFIX)]:
            yield f"a crash left {left} for good"

    @staticmethod
    def _publish(life: Life, text: bytes) -> tuple[str, ...]:
        if life.document.exists():
            done = publish_file(life.document, lambda _: text)
        else:
            done = create_file(life.document, text)
        life.tell(text_told(done.sha256))
        return done.kept


STORE: Final = _Stores()
DOCUMENT: Final = _Documents()
