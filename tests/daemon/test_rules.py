"""Rules of a project: one file for the command line and the editors. Source: goal-documents section 5, editors.md."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

import pytest

from stateward_daemon.rules import NO_RULES, rules_for, rules_mark, rules_or_none
from stateward_protocol.errors import WireError

OFF = '[rules]\nnested_todo = "off"\n'
SHARED = '[project]\nname = "x"\n[tool.stateward.rules]\nnested_todo = "error"\n'


@pytest.fixture
def document(folder: Path) -> Path:
    (folder / "a/b").mkdir(parents=True)
    return folder / "a/b/ACTIVE_GOAL_STATE.md"


def test_the_nearest_file_decides(folder: Path, document: Path) -> None:
    assert rules_for(document) == NO_RULES

    (folder / "stateward.toml").write_text(OFF)
    assert rules_for(document) == {"nested_todo": "off"}
    (folder / "a/pyproject.toml").write_text(SHARED)
    assert rules_for(document) == {"nested_todo": "error"}
    (folder / "a/stateward.toml").write_text("")
    assert rules_for(document) == {}


def test_a_shared_file_without_our_table_is_passed_over(folder: Path, document: Path) -> None:
    (folder / "stateward.toml").write_text(OFF)
    for text in ('[project]\nname = "x"\n', "tool = 1\n", "broken", "[tool.other]\n"):
        (document.parent / "pyproject.toml").write_text(text)
        assert rules_for(document) == {"nested_todo": "off"}


def test_an_edit_counts_at_once(document: Path) -> None:
    file = document.parent / "stateward.toml"
    for level in ("off", "info", "error"):
        file.write_text(f'rules = {{ nested_todo = "{level}" }}')
        os.utime(file, ns=(1, 1))
        os.utime(file)
        assert rules_for(document) == {"nested_todo": level}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules", "is no TOML"),
        ("rules = 1", "expected object, got int"),
        ('[rules]\nnested_todo = "loud"\n', "the level of nested_todo is one of off, info, warning, error"),
        ('[rules]\nnested_todos = "off"\n', "there is no problem nested_todos; did you mean nested_todo?"),
        ('[rules]\nzzz = "off"\n', "there is no problem zzz"),
        ("[rules]\nnested_todo = []\n", "the level of nested_todo is one of off, info, warning, error"),
        ('[rule]\nnested_todo = "off"\n', "unknown field rule; rules stand in [rules] and nothing else does"),
        ('[rules]\nnot_utf8 = "off"\n', "not_utf8 refuses the document, and nobody can switch that off"),
        ("[rule]\n", "object contains unknown field rule"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is_right(document: Path, text: str, said: str) -> None:
    file = document.parent / "stateward.toml"
    file.write_text(text)
    with pytest.raises(WireError) as raised:
        rules_for(document)

    assert raised.value.category == "invalid_request"
    assert raised.value.message.startswith(str(file))
    assert said in raised.value.message


def test_to_a_daemon_it_counts_as_none_and_is_logged(document: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One bad line of a project takes nothing from its agents and editors."""
    (document.parent / "stateward.toml").write_text("rules")
    with caplog.at_level(logging.WARNING):
        assert rules_or_none(document, logging.getLogger("x")) == NO_RULES

    assert "is no TOML" in caplog.text


def test_other_rules_have_another_mark() -> None:
    marks = {rules_mark({"nested_todo": level}) for level in ("off", "info", "error")}

    assert rules_mark(NO_RULES) == ""
    assert len(marks) == 3


def test_the_sample_of_the_page_is_a_file_of_rules(document: Path) -> None:
    page = (Path(__file__).parent.parent.parent / "docs/goal-documents.md").read_text(encoding="utf-8")
    [sample] = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (document.parent / "stateward.toml").write_text(sample)

    assert rules_for(document) == {"todo_outside_region": "off", "implicit_todo_ids": "error"}
