"""What is shown is never older than the text, whatever an editor and others do, and in the end it is the last text.

Each published version is compared with a fresh reading of the whole text of that version. Each text has a row of its
own, whose generated id stands in a problem, so no two texts show the same.
"""

from __future__ import annotations

import random
from enum import Enum, auto
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from typist import Client, Typist

from editor import save

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wire import Daemon, Wire

HEAD: Final = "---\nstatus: active\n---\n# Goal\n\n## Next Action\n\n- Go on.\n\n## Agent Todo\n\n- [ ] stamp "
BODY: Final = """
- [ ] \N{WATER WAVE} one
  <!-- loopx:todo todo_id=todo_one -->
- [x] two
  <!-- loopx:todo todo_id=todo_two -->
"""
# A text that is read in a thread.
LONG: Final = BODY + "\n## Notes\n\n" + "Prose \u6838\u5bf9 \N{WATER WAVE} and more.\n\n" * 2500
PIECES: Final = (
    "x", "\n", "\r\n", "\N{WATER WAVE}", "- [ ] three\n", "  <!-- loopx:todo todo_id=todo_one -->\n", "```\n", "<!--",
    "-->", "\n## User Todo\n\n", "- [~] four\n", "\u2028", "  <!-- loopx:todo todo_id=NO -->\n",
)  # fmt: skip
EDITS: Final = 1000
CLIENTS: Final = [Client("utf-16"), Client("utf-8", whole=True), Client("utf-16", pulls=True)]


def outside(text: str, offset: int) -> int:
    """Return the offset, or the next one where no cursor can be between CR and LF."""
    return offset + (text[max(offset - 1, 0) : offset + 1] == "\r\n")


class State(Enum):
    """What the editor's text is to the daemon."""

    # That of the file, or none at all; so another file is shown in its place.
    CLEAN = auto()
    # That of the file, if the daemon hears of it before there is another one.
    UNHEARD = auto()
    # That of a file that was another one perhaps when the daemon heard of it.
    UNSURE = auto()
    UNSAVED = auto()


class Desk:
    """One document, the editor that works on it, and what may be shown of it.

    Attributes:
        editor: The editor.
    """

    def __init__(self, wire: Wire, client: Client, path: Path, body: str = BODY) -> None:
        self._stamps = count()
        self._path = path
        self._body = body
        self._uri = path.as_uri()
        # What the editor said that the text is, and what stood in the file, in order; `None` where there was none.
        self._said: list[tuple[int, str]] = []
        self._files: list[str | None] = []
        # Nothing older than these may be shown any more.
        self._said_floor = self._file_floor = 0
        self._state = State.CLEAN
        self._looked_at = 0
        self.write()
        self.editor = Typist(wire, client, path.parent)

    # -- what is done --

    @property
    def is_open(self) -> bool:
        return self._uri in self.editor.texts

    def write(self) -> None:
        """Let somebody else save another text."""
        text = self._stamped()
        save(self._path, text)
        self._overwritten(text)

    def write_in_place(self) -> None:
        text = self._stamped()
        self._path.write_text(text, encoding="utf-8")
        # Somebody may have looked while it was empty.
        self._overwritten("", text)

    def delete(self) -> None:
        self._path.unlink(missing_ok=True)
        self._overwritten(None)

    def open(self, version: int) -> None:
        """Open the file, or an empty text where there is none."""
        text = self._files[-1]
        self.editor.open(self._uri, text or "", version)
        self._said.append((version, text or ""))
        self._state = State.UNHEARD if text else State.UNSAVED

    def edit(self, at: float, removed: int, piece: str) -> None:
        """Edit below the row that tells texts from each other, and that row; `at` is a part of the text."""
        text = self.editor.texts[self._uri]
        start = text.find("\n", len(HEAD)) + 1 if text.startswith(HEAD) else 0
        where = outside(text, start + int((len(text) - start) * at))
        stamped = (0, max(start - 1, 0)), f"{HEAD}{next(self._stamps)}"
        if not start:
            stamped = (0, 0), f"{stamped[1]}\n"
        end = outside(text, min(where + removed, len(text)))
        version = self.editor.edit(self._uri, ((where, end), piece), stamped)
        self._said.append((version, self.editor.texts[self._uri]))
        self._state = State.UNSAVED

    def save(self) -> None:
        text = self.editor.texts[self._uri]
        save(self._path, text)
        self._files.append(text)
        self.editor.saved(self._uri)
        self._on_file()

    def close(self) -> None:
        self.editor.close(self._uri)
        self._on_file()

    def _stamped(self) -> str:
        return f"{HEAD}{next(self._stamps)}{self._body}"

    def _overwritten(self, *texts: str | None) -> None:
        self._files += texts
        if self._state is State.UNHEARD:
            self._state = State.UNSURE

    def _on_file(self) -> None:
        self._state = State.CLEAN
        self._file_floor = min(self._file_floor, len(self._files) - 1)

    # -- what may be shown --

    def catch_up(self) -> None:
        """Let the server answer, so that whatever it says from now on knows all that it was told."""
        self.editor.ask("ping")
        self.look()
        if self.is_open:
            self._said_floor = len(self._said) - 1
        if self._state is State.UNHEARD:
            self._state = State.CLEAN
        if self._state is State.UNSAVED:
            self._file_floor = len(self._files)

    def look(self) -> None:
        """Check all that was pushed since."""
        new, self._looked_at = self.editor.published[self._looked_at :], len(self.editor.published)
        for each in new:
            assert each["uri"] == self._uri
            if each.get("version") is not None:
                self._said_floor = self._place(each["diagnostics"], self._said, self._said_floor, each["version"])
            else:
                files = [(None, text) for text in self._files]
                self._file_floor = self._place(each["diagnostics"], files, self._file_floor, None)

    def _place(self, items: list[Any], texts: list[Any], floor: int, version: int | None) -> int:
        """Return which of the texts, from `floor` on, diagnostics are those of."""
        for number in range(floor, len(texts)):
            if texts[number][0] == version and self.is_shown(items, texts[number][1]):
                return number
        raise AssertionError((version, floor, len(texts), [item["message"] for item in items]))

    def is_shown(self, items: list[Any], text: str | None) -> bool:
        return self.editor.marks(items) == ([] if text is None else self.editor.marks_of(text))

    def pull(self) -> None:
        """Ask, and check the answer: it is about the text of now, or the file of now."""
        items = self._pulled()
        own = [self._said[-1][1]] if self.is_open else []
        texts = own if self._state is State.UNSAVED else [*own, self._files[-1]]
        assert any(self.is_shown(items, text) for text in texts)

    def rest(self) -> None:
        """Wait until the last text is shown; that nothing is shown after it, the next look finds."""
        wanted: list[tuple[int | None, str | None]] = []
        if self._state is not State.UNSAVED:
            wanted.append((None, self._files[-1]))
        if self._state in (State.UNSAVED, State.UNSURE):
            wanted.append(self._said[-1])
        self.editor.until(lambda: any(self._is_last(version, text) for version, text in wanted))
        self.look()

    def _is_last(self, version: int | None, text: str | None) -> bool:
        if self.editor.client.pulls:
            return self.is_shown(self._pulled(), text)
        if not self.editor.published:
            return text is None
        last = self.editor.published[-1]
        return version in (None, last.get("version")) and self.is_shown(last["diagnostics"], text)

    def _pulled(self) -> list[Any]:
        items: list[Any] = self.editor.ask("textDocument/diagnostic", textDocument={"uri": self._uri})["items"]
        return items


class Work(RuleBasedStateMachine):
    """An editor at work on a document that others write, too."""

    connect: Callable[[], Wire]
    folder: Callable[[], Path]
    client: Client

    @initialize()
    def begin(self) -> None:
        self.wire = self.connect()
        self.desk = Desk(self.wire, self.client, self.folder() / "ACTIVE_GOAL_STATE.md")

    @precondition(lambda self: self.desk.is_open)
    @rule(at=st.floats(0, 1), removed=st.integers(0, 12), piece=st.sampled_from(PIECES))
    def edit(self, at: float, removed: int, piece: str) -> None:
        self.desk.edit(at, removed, piece)

    @precondition(lambda self: not self.desk.is_open)
    @rule(version=st.integers(0, 3))
    def open(self, version: int) -> None:
        self.desk.open(version)

    @precondition(lambda self: self.desk.is_open)
    @rule()
    def save(self) -> None:
        self.desk.save()

    @precondition(lambda self: self.desk.is_open)
    @rule()
    def close(self) -> None:
        self.desk.close()

    @rule(how=st.sampled_from(["write", "write_in_place", "delete"]))
    def happens(self, how: str) -> None:
        getattr(self.desk, how)()

    @rule()
    def rest(self) -> None:
        self.desk.rest()

    @rule()
    def catch_up(self) -> None:
        self.desk.catch_up()

    @precondition(lambda self: self.client.pulls)
    @rule()
    def pull(self) -> None:
        self.desk.pull()

    @invariant()
    def nothing_is_stale(self) -> None:
        if hasattr(self, "desk"):
            self.desk.look()

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            self.desk.rest()
            self.wire.close()


@pytest.mark.property
@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_what_is_shown_is_what_the_text_says(daemon: Daemon, client: Client) -> None:
    """In every order of typing, saving, closing and outside writes: never a text older than the one before."""
    numbers = count()

    def folder() -> Path:
        made = daemon.cwd / str(next(numbers))
        made.mkdir()
        return made.resolve()

    class Working(Work):
        pass

    Working.connect, Working.folder, Working.client = staticmethod(daemon.connect), staticmethod(folder), client
    run_state_machine_as_test(Working, settings=settings(max_examples=15, stateful_step_count=25, deadline=None))


@pytest.mark.parametrize(
    ("client", "body", "edits"),
    [*((client, BODY, EDITS) for client in CLIENTS), (CLIENTS[0], LONG, EDITS // 20)],
    ids=[*map(str, CLIENTS), "long"],
)
def test_a_thousand_fast_edits_between_outside_writes(daemon: Daemon, client: Client, body: str, edits: int) -> None:
    """DM-007: through a bridge, as fast as it can; a long document is read in a thread."""
    draw = random.Random(7)
    with daemon.bridge() as wire:
        desk = Desk(wire, client, daemon.cwd.resolve() / "ACTIVE_GOAL_STATE.md", body)
        desk.open(1)
        for _ in range(edits):
            chance = draw.random()
            if chance < 0.04:
                draw.choice([desk.write, desk.write_in_place])()
            elif chance < 0.06:
                desk.save()
            elif chance < 0.08:
                desk.close()
                desk.open(draw.choice([1, 1, 5000 + draw.randrange(1000)]))
            elif chance < 0.10:
                desk.catch_up()
            elif chance < 0.13:
                desk.rest()
            elif chance < 0.30 and client.pulls:
                desk.pull()
            desk.edit(draw.random(), draw.choice([0, 0, 1, 5, 20]), draw.choice(PIECES))
        desk.rest()
        desk.save()
        desk.write()
        desk.rest()
