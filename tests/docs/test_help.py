"""Help texts are golden files: a change of theirs is seen in a review. `STATEWARD_GOLDEN=write` rewrites them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from stateward_daemon.cli.verbs import VERBS, overview

GOLDEN = Path(__file__).parent / "golden" / "help"


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def help_texts() -> dict[str, str]:
    texts = {verb.name.replace(" ", "-"): verb.parser().format_help() for verb in VERBS.values()}
    groups = {f"overview-{group}": overview(group) for group in ("authority", "daemon", "goal", "lease", "todo")}
    return {"overview": overview(), **groups, **texts}


def test_golden_help_texts_are_what_the_program_prints() -> None:
    texts = help_texts()
    if os.environ.get("STATEWARD_GOLDEN") == "write":
        for name, text in texts.items():
            (GOLDEN / f"{name}.txt").write_text(text)

    assert {file.stem: file.read_text() for file in GOLDEN.glob("*.txt")} == texts


@pytest.mark.parametrize("name", sorted(VERBS))
def test_help_is_a_sentence_an_example_that_parses_and_options_with_meanings(name: str) -> None:
    """style.md section 4, item 12."""
    verb = VERBS[name]
    program, *arguments = shlex.split(verb.example)

    assert program == "stateward"
    assert verb.summary.endswith((".", '"-".'))
    assert arguments[: len(name.split())] == name.split()
    verb.parser().parse_intermixed_args(arguments[len(name.split()) :])
    options = [action for action in verb.parser()._actions if action.option_strings]
    assert [action.option_strings for action in options if not str(action.help).endswith((".", "]"))] == []


def test_no_line_of_help_is_wider_than_the_terminal() -> None:
    assert [line for text in help_texts().values() for line in text.splitlines() if len(line) > 80] == []
