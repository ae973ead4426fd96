"""The tour of `make run`: it ends by itself without a terminal, starts anew each time, and follows a document."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import stateward
from private_places import folder, user

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["folder", "user"]

WORKSPACE: Final = Path(__file__).parent.parent.parent / "editor-clients" / "workspace"


@pytest.fixture
def tour(user: None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:  # noqa: ARG001 - it comes first
    """The tour, on a store of this test and a copy of the document."""
    specification = importlib.util.spec_from_file_location("tour", WORKSPACE / "tour.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "STORE", folder / "run" / "store")
    monkeypatch.setattr(module, "DOCUMENT", folder / "ACTIVE_GOAL_STATE.md")
    # The tour sets both for its commands; this has them restored.
    monkeypatch.setenv("STATEWARD_STORE", str(folder / "run" / "store"))
    monkeypatch.setenv("STATEWARD_SESSION", "tour")
    monkeypatch.setenv("CI", "true")
    (folder / "ACTIVE_GOAL_STATE.md").write_bytes((WORKSPACE / "ACTIVE_GOAL_STATE.md").read_bytes())
    return module


@pytest.mark.e2e
class TestTouring:
    @pytest.fixture(autouse=True)
    def ended(self, tour: Any) -> Iterator[None]:
        """No daemon is left, whatever a test does."""
        yield
        subprocess.run([tour.COMMAND, "daemon", "stop"], check=True, capture_output=True)

    def test_it_runs_twice_also_beside_a_daemon_of_its_store(
        self, tour: Any, folder: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        tour.main()
        first = capfd.readouterr().out
        # As an editor on the same store does.
        subprocess.run([tour.COMMAND, "daemon", "start"], check=True, capture_output=True)
        tour.main()

        assert "changed global, cwd, session\n" in first
        assert "changed global, cwd, session\n" in capfd.readouterr().out
        assert not (folder / "run/store/lock").read_text().startswith('{"pid"')

    def test_what_it_says_of_the_document_is_so(self, tour: Any, capfd: pytest.CaptureFixture[str]) -> None:
        tour.tour()
        printed = capfd.readouterr().out

        assert "an id on two rows, which is an error on each, and a row without an id." in printed
        assert printed.count(": error[duplicate_todo_ids] ") == 2
        assert printed.count(": warning[implicit_todo_ids] ") == 1
        assert printed.count("ACTIVE_GOAL_STATE.md:") == printed.count("note: ") + 3


class TestEmptying:
    def test_a_store_that_somebody_holds_is_not_touched(self, tour: Any) -> None:
        tour.STORE.mkdir(mode=0o700)
        (tour.STORE / "journal").touch(mode=0o600)
        lock = os.open(tour.STORE / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="is in use; close the editors"):
            tour.empty_store()
        os.close(lock)

        assert (tour.STORE / "journal").exists()
        tour.empty_store()
        assert [entry.name for entry in tour.STORE.iterdir()] == ["lock"]


class TestFollowing:
    def test_one_problem_is_one(self, tour: Any) -> None:
        tour.DOCUMENT.write_text(
            "---\nstatus: active\n---\n## Next Action\n\n- go\n\n## Agent Todo\n\n- [ ] one\n", encoding="utf-8"
        )
        with stateward.connect(store=tour.STORE, start="embedded") as client:
            first, *others = tour.look(client)

        assert first == "1 problem"
        assert others[0].startswith("  line 10: warning[implicit_todo_ids] ")
        assert len(others) == 1

    def test_a_document_that_is_gone_for_a_moment_is_one_line(
        self, tour: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Told once, with its path; then it goes on, and tells of a save that changes nothing."""
        text = tour.DOCUMENT.read_bytes()
        again = partial(os.utime, tour.DOCUMENT, ns=(0, 0))
        steps = iter([tour.DOCUMENT.unlink, lambda: None, lambda: tour.DOCUMENT.write_bytes(text), again, lambda: None])

        def sleep(_: float) -> None:
            step = next(steps, None)
            if step is None:
                raise KeyboardInterrupt
            step()

        connect = stateward.connect
        monkeypatch.setattr(tour.time, "sleep", sleep)
        monkeypatch.setattr(tour.stateward, "connect", lambda **named: connect(start="embedded", **named))
        with pytest.raises(KeyboardInterrupt):
            tour.follow()

        told = [line for line in capsys.readouterr().out.splitlines() if line and not line.startswith("  line")][1:]
        assert len(told) == 4
        assert told[0].endswith("  3 problems")
        assert told[1].endswith(f"({tour.DOCUMENT})")
        assert told[2].endswith("  3 problems")
        assert told[3].endswith("  saved, and no problem changed: 3 problems")
