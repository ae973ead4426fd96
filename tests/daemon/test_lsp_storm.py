"""A storm of outside edits: whatever writes a goal document and however, what is shown in the end is about its bytes.

Every run has a part of it; `make storm` takes 2,000 edits and prints how long they took to be shown.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from editor import PULLS, Editor, save
from stateward_daemon.positions import Encoding, LineIndex
from stateward_engine.goals.document import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EDITS: Final = int(os.environ.get("STATEWARD_STORM_EDITS", "80"))


def text_of(drawn: random.Random) -> str:
    """Return a document with some rows, each of which has an id or not, or one that is not its only one."""
    rows = (f"- [ ] 🌊 row {at}\n{drawn.choice(IDS).format(at)}" for at in range(drawn.randrange(12)))
    return f"---\nstatus: active\n---\n# Goal\n\n## Agent Todo\n\n{''.join(rows)}"


IDS: Final = ("", "  <!-- loopx:todo todo_id=todo_{} -->\n", "  <!-- loopx:todo todo_id=todo_twin -->\n")


def write(path: Path, text: str) -> None:
    """Write in place, which empties the file first."""
    path.write_text(text, encoding="utf-8")


def write_over(path: Path, text: str) -> None:
    """Write in place and cut off what is left of the old text."""
    path.touch()
    with path.open("r+", encoding="utf-8") as file:
        file.write(text)
        file.truncate()


def truncate(path: Path, _text: str) -> None:
    """Take all of the text away, and make the file when there is none."""
    path.touch()
    os.truncate(path, 0)


def remove(path: Path, _text: str) -> None:
    """Remove the file, if it is there."""
    path.unlink(missing_ok=True)


def replace_removed(path: Path, text: str) -> None:
    """Remove the file and make another one."""
    remove(path, text)
    write(path, text)


def vim(path: Path, text: str) -> None:
    """Keep a swap file, try whether files can be made, keep the old file until the new one is written."""
    swap, probe, backup = path.with_name(f".{path.name}.swp"), path.with_name("4913"), path.with_name(f"{path.name}~")
    swap.write_bytes(b"b0VIM")
    probe.touch()
    probe.unlink()
    if path.exists():
        path.rename(backup)
    write(path, text)
    backup.unlink(missing_ok=True)
    swap.unlink()


def emacs(path: Path, text: str) -> None:
    """Lock by a link that leads nowhere, save in between, keep a backup."""
    lock, between = path.with_name(f".#{path.name}"), path.with_name(f"#{path.name}#")
    lock.symlink_to("somebody@host.1:2")
    between.write_text("half", encoding="utf-8")
    if path.exists():
        path.rename(path.with_name(f"{path.name}~"))
    write(path, text)
    between.unlink()
    lock.unlink()


def burst(path: Path, text: str) -> None:
    """Save many times without a pause, in turns by two programs."""
    for number in range(20):
        (save if number % 2 else write)(path, f"{text}- [ ] passing {number}\n")
    save(path, text)


WAYS: Final[tuple[Callable[[Path, str], None], ...]] = (
    *(save, write, write_over, truncate, remove, replace_removed, vim, emacs, burst),
)


def expected(path: Path) -> list[tuple[str, int]]:
    """Return the problems of what stands in a file, each with its line, by a reading of the whole."""
    if not path.exists():
        return []
    document = read_bytes(path.read_bytes())
    index = LineIndex(document.text)
    return [(found.code, index.position(found.span[0], Encoding.UTF_16).line) for found in document.problems]


def told(items: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(item["code"], item["range"]["start"]["line"]) for item in items]


def has_goals(editor: Editor, count: int) -> bool:
    return len(editor.session.folders.goals) == count


def was_told(editor: Editor, before: int) -> bool:
    return len(editor.asked("workspace/diagnostic/refresh")) > before


class Shown:
    """A document that one editor is pushed about and another one asks about."""

    def __init__(self, path: Path, pushed: Editor, pulling: Editor) -> None:
        self.path, self.uri = path, path.as_uri()
        self.pushed, self.pulling = pushed, pulling

    def is_right(self) -> bool:
        pushes = self.pushed.pushed(self.uri)
        return told(pushes[-1]["diagnostics"] if pushes else []) == expected(self.path)

    def pulled(self) -> list[tuple[str, int]]:
        report = self.pulling.result("textDocument/diagnostic", textDocument={"uri": self.uri})
        return told(report["items"])


@pytest.mark.parametrize("is_open", [False, True], ids=["in the folder", "open"])
async def test_what_is_shown_in_the_end_is_about_the_bytes(tmp_path: Path, is_open: bool) -> None:
    """DM-006 and field case 37: several documents and directories; one client is pushed to, one is told to ask."""
    drawn, times = random.Random(1), []
    paths = [tmp_path / name / "ACTIVE_GOAL_STATE.md" for name in ("one", "two", "three")]
    for path in paths:
        path.parent.mkdir()
        write(path, text_of(drawn))
    async with Editor() as pushed, Editor() as pulling:
        pushed.initialize({}, tmp_path.as_uri())
        pulling.initialize(PULLS, tmp_path.as_uri())
        documents = [Shown(path, pushed, pulling) for path in paths]
        for document in documents if is_open else ():
            for editor in (pushed, pulling):
                editor.open(document.uri, document.path.read_text("utf-8"))
        for editor in (pushed, pulling):
            await editor.until(partial(has_goals, editor, len(paths) + 1))
        for number in range(EDITS // 2):
            document, way = drawn.choice(documents), WAYS[number % len(WAYS)]
            began = time.perf_counter()
            way(document.path, text_of(drawn))
            await pushed.until(document.is_right)
            times.append(time.perf_counter() - began)
            # As long as it is wrong, the client is told to ask again.
            while document.pulled() != expected(document.path):
                await pulling.until(partial(was_told, pulling, len(pulling.asked("workspace/diagnostic/refresh"))))
            pulling.channel.sent.clear()
    where = "open" if is_open else "in the folder"
    p50_ms = statistics.median(times) * 1e3
    print(f"{len(times)} outside edits of documents {where}, each to its diagnostics: p50 {p50_ms:.0f} ms")  # noqa: T201


async def test_what_the_client_shows_already_is_not_sent_again(tmp_path: Path) -> None:
    """So a write of our own, which was shown when it was committed, has no echo when the watcher hears of it."""
    paths = [tmp_path / name / "ACTIVE_GOAL_STATE.md" for name in ("one", "two")]
    texts = [text_of(random.Random(seed)) for seed in range(3)]
    for path in paths:
        path.parent.mkdir()
        write(path, texts[0])
    one, two = (path.as_uri() for path in paths)
    async with Editor() as editor:
        editor.initialize({}, tmp_path.as_uri())
        await editor.until(lambda: editor.pushed(one) and editor.pushed(two))
        save(paths[0], texts[0])
        # What is shown of this one comes behind what would be shown of the other.
        save(paths[1], texts[1])
        await editor.next_push(two)
        assert len(editor.pushed(one)) == 1

        # A document that is opened is shown in any case.
        editor.open(one, texts[0])
        await editor.next_push(one)
        editor.open(one, texts[0])
        await editor.next_push(one)
