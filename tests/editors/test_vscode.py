"""Our extension in a real VS Code, which `make editors` fetches."""

from __future__ import annotations

import sys
import zipfile
from typing import TYPE_CHECKING, Final

import pytest
from vscode_root import vsix
from vscode_work import SHOTS, Report, line, work

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.fetched

BYTES_MAX: Final = 300_000
# What work.mjs checks; each check needs those before it.
CHECKS: Final = (
    "problems are underlined where they are",
    "a lens says what can be done",
    "problems are listed",
    "a hint is drawn beside a reference",
    "hover tells about the row and what is wrong there",
    "a quick fix is applied, and its problem goes",
    "the status bar counts what is open",
    "the state is browsed two levels deep, and a value is shown where it is opened",
    "the state follows what an agent does",
    "a todo is claimed from its view, and an agent sees it",
    "the view follows what an agent does",
    "a todo is completed from its view, and an agent sees it",
    "a killed daemon is replaced without a message",
    "the views go on after that",
    "the restart command works after the daemon was killed",
    "a missing program is told in one line, with the remedy",
    "one that is too old is told in one line, with the remedy",
    "one that serves nothing is told in one line, with its own last word",
    "once it is there all is well",
    "ranges are right in each folder: Chinese and spaces, CRLF, behind a link",
    "the same with the document open: \u5de5\u4f5c \u533a",
    "the same with the document open: crlf",
    "the same with the document open: linked",
)
FIGURES: Final = (
    "start to text, bare ms",
    "start to first diagnostic ms",
    "killed to diagnostics ms",
    "killed to restarted by command ms",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """What was found, all in one go, as a person works."""
    return work(tmp_path_factory.mktemp("vscode"))


def test_in_a_real_vscode(report: Report) -> None:
    """DM-001, DM-007."""
    assert report.passed == list(CHECKS), report.failed


def test_what_a_person_waits_for_is_measured(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n{line(report)}\n")

    assert sorted(report.figures) == sorted(FIGURES)


def test_what_a_person_sees_is_in_pictures(report: Report) -> None:
    assert len(list(SHOTS.glob("*.png"))) == 12, report.failed


def test_the_package_is_small_and_has_no_sources() -> None:
    package: Path = vsix()

    assert package.stat().st_size < BYTES_MAX
    with zipfile.ZipFile(package) as archive:
        assert [name for name in archive.namelist() if name.endswith((".ts", ".map", ".json", "lock"))] == [
            "extension/package.json"
        ]
