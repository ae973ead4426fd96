"""The problems of goals as subscribers are told of them, with looks and clocks that the test lets go on.

Source: protocol.md section 3.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from authority.shown_goal import GOAL, GRIND, LENS, Ledger, host_of
from stateward_daemon import diagnosis, grounds
from stateward_daemon.delivering import deliver
from stateward_daemon.goal_problems import PROBLEMS_TOLD_MAX
from stateward_daemon.host import Attachment, Caller
from stateward_daemon.subscriptions import Subscriptions
from stateward_engine.state.view import Selection

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stateward_daemon.watch import Watcher

HEAD: Final = "---\nstatus: active\n---\n# Optics\n\n## Next Action\n\n- Go on.\n\n## Agent Todo\n\n"
ROW: Final = "- [ ] [P1] Grind\n  <!-- loopx:todo todo_id=todo_grind -->\n"
UNNAMED: Final = "- [ ] [P1] Polish\n"
TWIN: Final = "- [ ] [P1] Twin\n  <!-- loopx:todo todo_id=todo_twin -->\n"


class Outlet:
    """Records what a subscriber is told."""

    def __init__(self) -> None:
        self.clogged = False
        self.told: list[dict[str, Any]] = []

    def send(self, body: bytes) -> None:
        self.told.append(json.loads(body)["params"])


class Watching:
    """Records what is watched."""

    def __init__(self) -> None:
        self.paths: list[Path] = []

    def add(self, path: Path) -> None:
        self.paths.append(path)

    def discard(self, path: Path) -> None:
        self.paths.remove(path)

    @property
    def documents(self) -> list[Path]:
        """What is watched but for the files of projects."""
        return [path for path in self.paths if path.suffix == ".md"]


class Desk:
    """A host with one goal whose looks and timers wait until the test lets them go on."""

    def __init__(self, path: Path, ledger: Ledger) -> None:
        self.path, self.ledger, self.watching = path, ledger, Watching()
        self.looks: list[tuple[Callable[[], Any], Callable[[Any], None], Callable[[Exception], None]]] = []
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.host = host_of(ledger)
        self.host.watcher = self._watcher()
        self.host.subscriptions = Subscriptions(self._later)
        self.host.work = lambda job, done, failed: self.looks.append((job, done, failed))

    def _watcher(self) -> Watcher:
        watching: Any = self.watching
        return watching  # type: ignore[no-any-return]

    def _later(self, seconds: float, call: Callable[[], None]) -> Any:
        self.timers.append((seconds, call))

    def subscribed(self, session: str = "s1") -> tuple[Caller, Outlet]:
        outlet = Outlet()
        caller = self.host.admit(1, outlet)
        selection = Selection("/w", session, ("cwd", "session"))
        caller.attachment = Attachment("agent", "test", "", selection, "active")
        self.host.subscriptions.add(caller, ["goals"])
        return caller, outlet

    def write(self, text: str) -> None:
        """Write the document, as somebody outside does, and let the watcher tell of it."""
        self.path.write_text(text, encoding="utf-8")
        self.host.subscriptions.file_changed(self.path)

    def go_on(self) -> None:
        """Let every look come to its end, and the pause after what was told."""
        while self.looks or any(seconds < 1 for seconds, _ in self.timers):
            timers, self.timers = self.timers, [timer for timer in self.timers if timer[0] >= 1]
            for seconds, call in timers:
                if seconds < 1:
                    call()
            for job, done, _ in [self.looks.pop(0) for _ in self.looks[:]]:
                done(job())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    path = tmp_path / "GOAL.md"
    path.write_text(HEAD + ROW, encoding="utf-8")
    return Desk(path, Ledger(path, promoted=False))


def codes(told: dict[str, Any]) -> list[str]:
    return [item["code"] for item in told["items"]]


def test_what_was_there_is_not_told_and_what_comes_is(desk: Desk) -> None:
    desk.path.write_text(HEAD + UNNAMED + ROW, encoding="utf-8")
    _, outlet = desk.subscribed()
    desk.go_on()
    assert outlet.told == []
    # The same problems at the same places are no news.
    desk.write(HEAD + UNNAMED + ROW.replace("Grind", "Grind it"))
    desk.go_on()
    assert outlet.told == []
    desk.write(HEAD + ROW)
    desk.go_on()

    assert [codes(told) for told in outlet.told] == [[]]


def test_what_is_written_before_the_first_look_is_told(desk: Desk) -> None:
    """Whoever subscribed and then read the document is told of everything after that."""
    _, outlet = desk.subscribed()
    desk.path.write_text(HEAD + UNNAMED, encoding="utf-8")
    desk.go_on()
    desk.host.subscriptions.file_changed(desk.path)
    desk.go_on()

    assert [codes(told) for told in outlet.told] == [["implicit_todo_ids"]]


def test_what_is_old_by_now_is_not_told(desk: Desk) -> None:
    """Never older than the file, and one look at a time."""
    _, outlet = desk.subscribed()
    desk.go_on()
    desk.write(HEAD + UNNAMED)
    [(job, done, _)] = desk.looks
    old = job()
    desk.looks.clear()
    desk.write(HEAD + UNNAMED * 2)
    desk.write(HEAD + UNNAMED * 3)
    assert desk.looks == []
    done(old)
    assert len(desk.looks) == 1
    desk.go_on()

    assert [told["problem_count"] for told in outlet.told] == [3]


def test_subscribers_who_see_the_same_cost_one_look(desk: Desk) -> None:
    (_, mine), (_, other) = desk.subscribed(), desk.subscribed("s2")
    desk.go_on()
    desk.write(HEAD + UNNAMED)
    assert len(desk.looks) == 1
    desk.go_on()

    assert mine.told == other.told != []


def test_who_comes_later_is_told_of_what_comes_later(desk: Desk) -> None:
    _, mine = desk.subscribed()
    desk.go_on()
    desk.write(HEAD + UNNAMED)
    desk.go_on()
    _, other = desk.subscribed("s2")
    desk.go_on()
    assert (len(mine.told), other.told) == (1, [])
    desk.write(HEAD + ROW)
    desk.go_on()

    assert [codes(told) for told in other.told] == [[]]


def test_what_is_told_has_a_bound_and_the_gravest_are_in_it(desk: Desk) -> None:
    """Errors come first, and no fix quotes the document; a change beyond the bound is told all the same."""
    _, outlet = desk.subscribed()
    desk.go_on()
    desk.write(HEAD + UNNAMED * 150 + TWIN * 2)
    desk.go_on()
    desk.write(HEAD + UNNAMED * 150 + TWIN * 2 + UNNAMED)
    desk.go_on()
    first, second = outlet.told

    assert len(first["items"]) == PROBLEMS_TOLD_MAX
    assert codes(first)[-2:] == ["duplicate_todo_ids"] * 2
    assert [item["range"]["start"]["line"] for item in first["items"]] == sorted(
        item["range"]["start"]["line"] for item in first["items"]
    )
    assert not any("fix" in item for item in first["items"])
    assert (first["problem_count"], second["problem_count"]) == (152, 153)


def test_nothing_is_queued_for_who_does_not_read(desk: Desk) -> None:
    _, outlet = desk.subscribed()
    desk.go_on()
    outlet.clogged = True
    for count in range(1, 5):
        desk.write(HEAD + UNNAMED * count)
        desk.looks, looks = [], desk.looks
        for job, done, _ in looks:
            done(job())
    assert outlet.told == []
    outlet.clogged = False
    desk.go_on()

    assert [told["problem_count"] for told in outlet.told] == [4]


def test_documents_are_watched_as_long_as_somebody_is_told(desk: Desk) -> None:
    """The last one who unsubscribes or goes away leaves nothing behind."""
    (mine, outlet), (other, _) = desk.subscribed(), desk.subscribed("s2")
    assert desk.watching.documents == [desk.path]
    desk.host.subscriptions.remove(mine, ["goals"])
    desk.go_on()
    desk.write(HEAD + UNNAMED)
    desk.go_on()
    assert (desk.watching.documents, outlet.told) == ([desk.path], [])
    desk.host.dismiss(other)
    desk.write(HEAD)

    assert (desk.watching.paths, desk.looks) == ([], [])


def test_a_look_that_fails_is_logged_and_not_the_last(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    _, outlet = desk.subscribed()
    desk.go_on()
    desk.write(HEAD + UNNAMED)
    [(_, _, failed)] = desk.looks
    desk.looks.clear()
    with caplog.at_level("ERROR", logger=desk.host.log.name):
        failed(RuntimeError("no thread"))
    assert GOAL in caplog.text
    desk.write(HEAD + UNNAMED * 2)
    desk.go_on()

    assert [told["problem_count"] for told in outlet.told] == [2]


def test_a_document_that_moves_is_followed(desk: Desk, tmp_path: Path) -> None:
    _, outlet = desk.subscribed()
    desk.go_on()
    moved = tmp_path / "MOVED.md"
    moved.write_text(HEAD + ROW, encoding="utf-8")
    desk.ledger.change(registration={"path": str(moved)})
    desk.host.subscriptions.published(desk.ledger.view)
    desk.go_on()

    assert desk.watching.documents == [moved]
    assert [told["uri"] for told in outlet.told] == [moved.as_uri()]


class TestPromoted:
    """What a display shows is compared with the ledger, and leases run out by the clock."""

    def test_a_display_that_falls_behind_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "GOAL.md"
        path.write_text(HEAD, encoding="utf-8")
        desk = Desk(path, Ledger(path))
        deliver(desk.host, GOAL)
        _, outlet = desk.subscribed()
        desk.go_on()
        desk.ledger.touch()
        desk.host.subscriptions.published(desk.ledger.view)
        desk.go_on()

        assert [set(codes(told)) for told in outlet.told] == [{"stale_projection"}]

    def test_a_lease_that_runs_out_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "GOAL.md"
        path.write_text(HEAD, encoding="utf-8")
        desk = Desk(path, Ledger(path, LENS, {**GRIND, "claimed_by": "codex"}, handoff_mode="hard_lease"))
        lease = {"owner": "codex", "status": "active", "expires_at": "2126-12-01T12:00:05Z"}
        desk.ledger.change(leases={"todo_grind": lease})
        deliver(desk.host, GOAL)
        clock = ["2126-12-01T12:00:00.900000Z"]
        for module in (diagnosis, grounds):
            monkeypatch.setattr(module, "utc_now", lambda: clock[-1])
        _, outlet = desk.subscribed()
        desk.go_on()
        assert outlet.told == []
        clock.append("2126-12-01T12:00:05.000000Z")
        seconds, expired = desk.timers.pop()
        expired()
        desk.go_on()

        assert seconds == 5
        assert [codes(told) for told in outlet.told] == [["expired_lease"]]


def test_what_the_project_switches_off_is_told(desk: Desk) -> None:
    """Its rules count as they are now, as in `goal_diagnostics`; others of a directory elsewhere change nothing."""
    _, outlet = desk.subscribed()
    desk.go_on()
    desk.write(HEAD + UNNAMED)
    desk.go_on()
    rules = desk.path.with_name("stateward.toml")
    rules.write_text('rules = { implicit_todo_ids = "off" }', encoding="utf-8")
    assert rules in desk.watching.paths
    desk.host.subscriptions.file_changed(rules.parent / "elsewhere" / rules.name)
    assert desk.looks == []
    desk.host.subscriptions.file_changed(rules)
    desk.go_on()

    assert [told["problem_count"] for told in outlet.told] == [1, 0]
