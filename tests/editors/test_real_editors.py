"""The editor clients in their real editors: what a person does, and what a person sees."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import pytest
from real_editors import EDITORS, Report, client_of, picture, work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# What neovim.lua and emacs.el check; each check needs those before it.
IN_EACH: Final = (
    "another Markdown file is left alone",
    "problems are shown where they are",
    "hover tells about the row and what is wrong there",
    "what is typed is told before it is saved",
    "a quick fix is applied, and its problem goes",
    "a todo is claimed by command, and what that wrote is shown",
    "what somebody else saves is told without a touch",
    "a killed daemon is replaced, and nobody has to do anything",
    "a document with CRLF is told and mended with CRLF",
)
CHECKS: Final = {
    "neovim": (
        *IN_EACH,
        "columns are counted in UTF-8",
        "lenses are shown, and follow what an agent does elsewhere",
        "lenses are not left older than the text",
    ),
    "emacs": (
        *IN_EACH,
        "a todo is completed by key",
        "the state is browsed level by level, and values are shown when they are opened",
        "the projection is shown, with what is not saved",
        "settings of Emacs count at once",
        "everything is read anew on demand",
        "a folder with spaces and Chinese in its name is no hindrance",
        "a folder that is a link is no hindrance",
    ),
}
HINTS: Final = "hints are drawn beside what they are about"
# What makes a line of the example workspace stand out, and what is told about it.
SEEN: Final = {
    "neovim": (
        "W - [ ] [P2] \u6838\u5bf9",
        "\u25a0 this row has no id of its own",
        "Claim | Complete",
        "- status: open",
    ),
    "emacs": ("~~~~\n", "Flymake[2 1]", "todo_rollback stands on 2 rows"),
}
# One of each client in every run; other versions are for `make editors`.
NAMES: Final = ("neovim", "emacs", pytest.param("emacs-backports", marks=pytest.mark.fetched))
HEADINGS: Final = ["Install", "First minute", "Settings", "Keys and commands", "When it does not work"]


@pytest.fixture(scope="module")
def report_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Report]:
    """What an editor found; it works through all checks in one go, as a person does."""
    return functools.cache(lambda name: work(name, tmp_path_factory.mktemp(name)))


@pytest.mark.parametrize("name", NAMES)
def test_in_a_real_editor(report_of: Callable[[str], Report], name: str) -> None:
    """DM-001, DM-007."""
    report = report_of(name)

    assert [check for check in CHECKS[client_of(name).name] if check not in report.passed] == [], report.failed


@pytest.mark.parametrize("name", NAMES)
def test_every_check_is_listed(report_of: Callable[[str], Report], name: str) -> None:
    """Hints are drawn where they are announced."""
    report = report_of(name)

    assert sorted(report.passed) == sorted(
        [*CHECKS[client_of(name).name], *([HINTS] if report.announces_hints else [])]
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_person_sees_what_is_wrong(tmp_path: Path, name: str) -> None:
    seen = picture(name, tmp_path)

    assert [words for words in SEEN[client_of(name).name] if words not in seen] == [], seen


@pytest.mark.parametrize("name", EDITORS)
def test_each_client_is_explained_under_the_same_headings(name: str) -> None:
    readme = (client_of(name) / "README.md").read_text(encoding="utf-8")

    assert [line[3:] for line in readme.splitlines() if line.startswith("## ")] == HEADINGS
