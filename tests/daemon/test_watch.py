"""The watcher: however a goal document is saved, it is noticed once, and nothing else is."""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
from asyncinotify import Inotify, Mask

from editor import delete, save
from stateward_daemon import watch
from stateward_daemon.file_events import FileEvents
from stateward_daemon.lsp.reading import text_digest
from stateward_daemon.watch import Watcher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

# Generous, because it is only spent when a change is missed.
PATIENCE_S = 10


class Watch:
    """A watcher, and what it reported: paths in order, and by path the digest of the last content."""

    def __init__(self) -> None:
        self.reported: asyncio.Queue[Path] = asyncio.Queue()
        self.digests: dict[Path, str | None] = {}
        self.watcher = Watcher(self._report)

    def _report(self, path: Path, digest: str | None) -> None:
        self.digests[path] = digest
        self.reported.put_nowait(path)

    async def next(self) -> Path:
        """Return the path of the next report."""
        return await asyncio.wait_for(self.reported.get(), PATIENCE_S)

    async def standing(self, path: Path) -> None:
        """Wait until events arrive, which a change of `path` shows; a slow check could show the same."""
        save(path, "the watch stands")
        assert await self.next() == path


@pytest.fixture
async def watching() -> AsyncIterator[Watch]:
    watching = Watch()
    yield watching
    await watching.watcher.close()
    assert watching.reported.empty(), "every report was waited for"


@pytest.fixture
def goal(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "ACTIVE_GOAL_STATE.md"
    path.parent.mkdir()
    path.write_text("old")
    return path


@pytest.fixture
def no_safety_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the events alone: a test that passes under this passes by events."""
    monkeypatch.setattr(watch, "SAFETY_CHECK_MS", 3_600_000)


@pytest.fixture
def no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the events, as on a system without free watches."""

    def refused(*_arguments: object) -> None:
        raise OSError(28, "OS file watch limit reached")

    monkeypatch.setattr(Inotify, "add_watch", refused)
    monkeypatch.setattr(watch, "SAFETY_CHECK_MS", 20)


def overwrite_unseen(path: Path, text: str) -> None:
    """Save in place with the size and the time of the old content."""
    before = path.stat()
    assert len(text) == before.st_size
    with path.open("r+") as file:
        file.write(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


@pytest.mark.usefixtures("no_safety_check")
class TestByEvents:
    """DM-006 and field case 37, through the file system's events alone."""

    async def test_the_second_rename_save_is_noticed_like_the_first(self, watching: Watch, goal: Path) -> None:
        watching.watcher.add(goal)
        for text in ("first", "second", "third"):
            save(goal, text)
            assert await watching.next() == goal

    async def test_a_save_in_place_is_noticed_by_its_content(self, watching: Watch, goal: Path) -> None:
        watching.watcher.add(goal)
        await watching.standing(goal)

        overwrite_unseen(goal, "the watch STANDS")
        assert await watching.next() == goal

    async def test_a_truncated_file_is_noticed(self, watching: Watch, goal: Path) -> None:
        watching.watcher.add(goal)
        os.truncate(goal, 0)
        assert await watching.next() == goal

    async def test_deletion_and_return_are_two_changes(self, watching: Watch, goal: Path) -> None:
        watching.watcher.add(goal)
        delete(goal)
        assert await watching.next() == goal
        save(goal, "old")
        assert await watching.next() == goal

    async def test_other_files_and_mere_reading_are_no_changes(self, watching: Watch, goal: Path) -> None:
        watching.watcher.add(goal)
        await watching.standing(goal)

        save(goal.with_name("other.md"), "not watched")
        watching.watcher._digest(goal)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(watching.reported.get(), 10 * watch.STEP_MS / 1000)

    async def test_content_that_was_there_for_a_moment_is_taken_back(self, watching: Watch, goal: Path) -> None:
        """Somebody may have read it; without a report they would keep it for good."""
        watching.watcher.add(goal)
        await watching.standing(goal)

        save(goal, "for a moment")
        save(goal, "the watch stands")
        assert await watching.next() == goal

    async def test_what_this_process_wrote_is_reported_at_once_and_once(self, watching: Watch, goal: Path) -> None:
        other = goal.with_name("other.md")
        for path in (goal, other):
            watching.watcher.add(path)
        await watching.standing(other)

        save(goal, "ours")
        watching.watcher.wrote(goal, text_digest("ours"))
        assert (watching.reported.get_nowait(), watching.digests[goal]) == (goal, text_digest("ours"))
        # Events come in order: those of our own writing are heard by then.
        save(other, "theirs")
        assert await watching.next() == other

    async def test_who_writes_right_after_this_process_is_heard(self, watching: Watch, goal: Path) -> None:
        watching.watcher.add(goal)
        await watching.standing(goal)

        save(goal, "ours")
        save(goal, "theirs")
        watching.watcher.wrote(goal, text_digest("ours"))
        assert (watching.reported.get_nowait(), watching.digests[goal]) == (goal, text_digest("ours"))
        assert (await watching.next(), watching.digests[goal]) == (goal, text_digest("theirs"))

    async def test_what_the_watcher_saw_first_is_not_reported_again(self, watching: Watch, goal: Path) -> None:
        watching.watcher.add(goal)
        save(goal, "ours")
        assert await watching.next() == goal

        watching.watcher.wrote(goal, text_digest("ours"))
        assert watching.reported.empty()

    async def test_what_this_process_wrote_and_nobody_watches_is_nobodys_news(
        self, watching: Watch, goal: Path
    ) -> None:
        watching.watcher.wrote(goal, text_digest("old"))
        assert watching.reported.empty()

    async def test_an_event_is_believed_more_than_a_stamp(
        self, watching: Watch, goal: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(watch, "_stamp", Mock(return_value=watch._Stamp(1, 1, 1, 1, 1)))
        watching.watcher.add(goal)
        await watching.standing(goal)

        save(goal, "new")
        assert await watching.next() == goal

    async def test_a_document_is_added_while_others_are_watched(self, watching: Watch, goal: Path) -> None:
        watching.watcher.add(goal)
        await watching.standing(goal)
        other = goal.parents[1] / "other" / goal.name
        other.parent.mkdir()
        other.write_text("old")

        watching.watcher.add(other)
        # At once, while the watch of the old set is being replaced.
        save(other, "new")
        assert await watching.next() == other
        save(goal, "new")
        assert await watching.next() == goal

    async def test_a_link_to_the_directory_is_as_good_as_the_directory(self, watching: Watch, goal: Path) -> None:
        link = goal.parents[1] / "link"
        link.symlink_to(goal.parent)
        watching.watcher.add(link / goal.name)
        save(goal, "new")
        assert await watching.next() == link / goal.name


@pytest.mark.usefixtures("no_safety_check")
async def test_when_the_queue_of_events_runs_over_everything_is_looked_at(watching: Watch, goal: Path) -> None:
    """DM-006: the kernel keeps so many events and drops the others, among them that of the document."""
    with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as file:  # noqa: ASYNC230, PTH123 - at once
        size = int(file.read())
    watching.watcher.add(goal)
    await watching.standing(goal)
    others = [goal.with_name(name) for name in ("one", "two")]
    for number in range(size // 2 + 1):
        for other in others:
            # By turns, because an event that equals the last one is dropped.
            os.truncate(other, number) if number else other.touch()
    save(goal, "new")

    assert await watching.next() == goal


class TestPause:
    """While nobody does anything the process sleeps, longer and longer."""

    async def test_the_pause_doubles_until_the_check_finds_what_the_events_missed(
        self, watching: Watch, goal: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(watch, "SAFETY_CHECK_MS", 10)
        monkeypatch.setattr(watch, "SAFETY_CHECK_MAX_MS", 40)
        monkeypatch.setattr(watch, "SAFETY_CHECK_SHARE", 1)
        pauses: asyncio.Queue[float] = asyncio.Queue()
        quiet = Watcher._quiet

        async def noted(watcher: Watcher) -> bool:
            pauses.put_nowait(watcher._pause_s)
            return await quiet(watcher)

        monkeypatch.setattr(Watcher, "_quiet", noted)
        # The kernel tells nothing, as of what another machine does.
        monkeypatch.setattr(FileEvents, "listen", Mock())
        watching.watcher.add(goal)
        async with asyncio.timeout(PATIENCE_S):
            assert [await pauses.get() for _ in range(5)] == [0.0, 0.01, 0.02, 0.04, 0.04]
        save(goal, "new")
        assert await watching.next() == goal
        async with asyncio.timeout(PATIENCE_S):
            while await pauses.get() != 0.01:
                pass


class TestDirectories:
    """Field case 37: what happens to the directory happens to the document."""

    @pytest.fixture
    def listened(self, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
        """The directories that were listened to, one after the other."""
        begun: list[Path] = []
        add_watch = Inotify.add_watch

        def recorded(inotify: Inotify, path: Path, mask: Mask) -> Any:
            begun.append(path)
            return add_watch(inotify, path, mask)

        monkeypatch.setattr(Inotify, "add_watch", recorded)
        return begun

    async def test_a_directory_that_was_moved_away_and_back(
        self, watching: Watch, goal: Path, listened: list[Path]
    ) -> None:
        away = goal.parents[1] / "away"
        watching.watcher.add(goal)
        await watching.standing(goal)
        goal.parent.rename(away)
        assert await watching.next() == goal
        away.rename(goal.parent)
        assert await watching.next() == goal
        save(goal, "new")
        assert await watching.next() == goal
        assert listened == [goal.parent] * 2

    async def test_a_directory_that_was_removed_and_made_again(
        self, watching: Watch, goal: Path, listened: list[Path]
    ) -> None:
        watching.watcher.add(goal)
        await watching.standing(goal)
        shutil.rmtree(goal.parent)
        assert await watching.next() == goal
        goal.parent.mkdir()
        save(goal, "old")
        assert await watching.next() == goal
        save(goal, "new")
        assert await watching.next() == goal
        assert listened == [goal.parent] * 2

    async def test_a_directory_that_is_not_there_yet(self, watching: Watch, goal: Path) -> None:
        document = goal.parents[1] / "later" / goal.name
        watching.watcher.add(document)
        document.parent.mkdir()
        save(document, "new")
        assert await watching.next() == document


@pytest.mark.usefixtures("no_events")
class TestWithoutEvents:
    """DM-006: what the events miss, because their queue ran over or there are none, the safety check finds."""

    async def test_every_kind_of_save_is_noticed(self, watching: Watch, goal: Path) -> None:
        watching.watcher.add(goal)
        save(goal, "first")
        assert await watching.next() == goal
        overwrite_unseen(goal, "FIRST")
        assert await watching.next() == goal
        delete(goal)
        assert await watching.next() == goal
        save(goal, "old")
        assert await watching.next() == goal

    async def test_it_is_said_once(self, watching: Watch, goal: Path, caplog: pytest.LogCaptureFixture) -> None:
        watching.watcher.add(goal)
        save(goal, "new")
        await watching.next()
        other = goal.parents[1] / goal.name
        watching.watcher.add(other)
        save(other, "new")
        await watching.next()

        assert [record.getMessage() for record in caplog.records] == [
            "no file events ([Errno 28] OS file watch limit reached); goal documents are looked at every 20 ms instead"
        ]


class TestLook:
    """Content is read when an event says so, when the stamp is another one, and when it proves nothing yet."""

    @staticmethod
    def look(path: Path, before: watch._Sight | None) -> tuple[watch._Sight, int]:
        """Return what is seen, and how often the content was read."""
        digest = Mock(return_value="digest")
        return watch._look(path, before, digest), digest.call_count

    def test_an_old_stamp_spares_the_reading(self, goal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(watch, "YOUNG_STAMP_NS", -1)
        sight, _ = self.look(goal, None)

        assert self.look(goal, sight) == (sight, 0)

    def test_a_young_stamp_does_not(self, goal: Path) -> None:
        sight, _ = self.look(goal, None)

        assert self.look(goal, sight) == (sight, 1)

    def test_the_time_of_the_change_cannot_be_set_back(self, goal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(watch, "YOUNG_STAMP_NS", -1)
        sight, _ = self.look(goal, None)
        overwrite_unseen(goal, "new")

        assert self.look(goal, sight)[1] == 1

    def test_a_missing_document_is_not_read(self, tmp_path: Path) -> None:
        assert self.look(tmp_path / "none", None) == (watch._Sight(None, None), 0)


class TestHolders:
    """Each `add` needs its own `discard`."""

    @pytest.mark.usefixtures("no_safety_check")
    async def test_a_document_is_watched_until_the_last_holder_is_gone(self, watching: Watch, goal: Path) -> None:
        other = goal.parent / "OTHER.md"
        watching.watcher.add(goal)
        watching.watcher.add(goal)
        watching.watcher.add(other)
        watching.watcher.discard(goal)
        save(goal, "still watched")
        assert await watching.next() == goal

        watching.watcher.discard(goal)
        save(goal, "not watched")
        save(other, "new")
        assert await watching.next() == other

    async def test_nothing_runs_while_nothing_is_watched(self, watching: Watch, goal: Path) -> None:
        watching.watcher.add(goal)
        task = watching.watcher._task
        assert task is not None
        watching.watcher.discard(goal)
        await asyncio.wait_for(task, PATIENCE_S)

        watching.watcher.add(goal)
        save(goal, "watched again")
        assert await watching.next() == goal

    async def test_a_mistake_in_one_report_ends_nothing(self, goal: Path, caplog: pytest.LogCaptureFixture) -> None:
        reported: asyncio.Queue[Path] = asyncio.Queue()

        def report(path: Path, _digest: str | None) -> None:
            reported.put_nowait(path)
            raise ValueError

        watcher = Watcher(report)
        watcher.add(goal)
        for text in ("first", "second"):
            save(goal, text)
            assert await asyncio.wait_for(reported.get(), PATIENCE_S) == goal
        await watcher.close()
        assert "a change of a goal document was not handled" in caplog.text
