"""Configuration of a project: one file for the command line and the editors. Source: goal-documents 5, editors.md."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

import pytest

from stateward_daemon.configuration import (
    DEFAULT,
    FILES,
    NO_RULES,
    checked,
    configuration_for,
    configuration_or_default,
    places_of_files,
    rules_mark,
)
from stateward_protocol.errors import WireError

OFF = '[rules]\nnested_todo = "off"\n'
SHARED = '[project]\nname = "x"\n[tool.stateward.rules]\nnested_todo = "error"\n'


@pytest.fixture
def document(folder: Path) -> Path:
    (folder / "a/b").mkdir(parents=True)
    return folder / "a/b/ACTIVE_GOAL_STATE.md"


def test_the_nearest_file_decides(folder: Path, document: Path) -> None:
    assert configuration_for(document) == DEFAULT

    (folder / "stateward.toml").write_text(OFF)
    assert configuration_for(document).rules == {"nested_todo": "off"}
    (folder / "a/pyproject.toml").write_text(SHARED)
    assert configuration_for(document).rules == {"nested_todo": "error"}
    (folder / "a/stateward.toml").write_text("")
    assert configuration_for(document).rules == {}


def test_a_shared_file_without_our_table_is_passed_over(folder: Path, document: Path) -> None:
    (folder / "stateward.toml").write_text(OFF)
    for text in ('[project]\nname = "x"\n', "tool = 1\n", "broken", "[tool.other]\n"):
        (document.parent / "pyproject.toml").write_text(text)
        assert configuration_for(document).rules == {"nested_todo": "off"}


def test_an_edit_counts_at_once(document: Path) -> None:
    file = document.parent / "stateward.toml"
    for level in ("off", "info", "error"):
        file.write_text(f'rules = {{ nested_todo = "{level}" }}')
        os.utime(file, ns=(1, 1))
        os.utime(file)
        assert configuration_for(document).rules == {"nested_todo": level}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules", "is no TOML"),
        ("rules = 1", "rules are a table: a code of a problem and its level, each"),
        ('[rules]\nnested_todo = "loud"\n', "the level of nested_todo is one of off, info, warning, error"),
        ('[rules]\nnested_todos = "off"\n', "there is no problem nested_todos; did you mean nested_todo?"),
        ('[rules]\nzzz = "off"\n', "there is no problem zzz"),
        ("[rules]\nnested_todo = []\n", "the level of nested_todo is one of off, info, warning, error"),
        ('[rule]\nnested_todo = "off"\n', ":1: there is no setting rule; did you mean rules?"),
        ('[rules]\nnot_utf8 = "off"\n', "not_utf8 refuses the document, and nobody can switch that off"),
        ("[rule]\n", "there is no setting rule"),
        ("# code_lens = 2\n\ncode_lens = 1\n", ":3: code_lens is true or false"),
        ("zzz = 1\n", ":1: there is no setting zzz"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is_right(document: Path, text: str, said: str) -> None:
    file = document.parent / "stateward.toml"
    file.write_text(text)
    with pytest.raises(WireError) as raised:
        configuration_for(document)

    assert raised.value.category == "invalid_request"
    assert raised.value.message.startswith(str(file))
    assert said in raised.value.message


def test_to_a_daemon_it_counts_as_none_and_is_logged(document: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One bad line of a project takes nothing from its agents and editors."""
    (document.parent / "stateward.toml").write_text("rules")
    with caplog.at_level(logging.WARNING):
        assert configuration_or_default(document, logging.getLogger("x")) == DEFAULT

    assert "is no TOML" in caplog.text


def test_an_editor_fills_in_what_the_project_leaves_open(document: Path) -> None:
    """What the command line finds, the editor shows: so the file wins, key by key and code by code."""
    preferred, complaints = checked(
        {"code_lens": False, "inlay_hints": False, "rules": {"nested_todo": "off", "conflict_marker": "info"}}
    )
    rules = {"nested_todo": "off", "conflict_marker": "info"}
    assert not complaints
    assert configuration_for(document, preferred) == (rules, False, False)
    (document.parent / "stateward.toml").write_text('inlay_hints = true\n[rules]\nnested_todo = "error"\n')

    assert configuration_for(document, preferred) == ({**rules, "nested_todo": "error"}, False, True)


def test_what_is_right_counts_beside_what_is_wrong() -> None:
    """Settings of a person are taken one by one."""
    given = {"rules": {"nested_todo": "off", "nested": "off"}, "code_lens": "no", "inlay_hints": False}
    said, complaints = checked(given)

    assert said == {"rules": {"nested_todo": "off"}, "inlay_hints": False}
    assert [complaint.names for complaint in complaints] == [("rules", "nested"), ("code_lens",)]


def test_a_shared_file_is_complained_about_only_where_it_is_about_us(document: Path) -> None:
    file = document.parent / "pyproject.toml"
    file.write_text('[project]\nname = "x"\n[tool]\nstateward = 1\n')
    with pytest.raises(WireError, match=r"pyproject.toml:4: tool.stateward is a table"):
        configuration_for(document)


def test_a_file_is_looked_for_from_the_document_up_to_its_folder(folder: Path, document: Path) -> None:
    beside = [document.parent / name for name in FILES]
    above = [directory / name for directory in (folder / "a", folder) for name in FILES]

    assert list(places_of_files(document, {folder})) == [*beside, *above]
    assert list(places_of_files(document, {folder, folder / "a"})) == [*beside, *above]
    assert list(places_of_files(document, set())) == beside
    for text in (OFF, "broken"):
        (folder / "stateward.toml").write_text(text)
        assert list(places_of_files(document, set())) == [*beside, folder / "stateward.toml"]


def test_other_rules_have_another_mark() -> None:
    marks = {rules_mark({"nested_todo": level}) for level in ("off", "info", "error")}

    assert rules_mark(NO_RULES) == ""
    assert len(marks) == 3


def test_the_sample_of_the_page_is_a_file_of_rules(document: Path) -> None:
    page = (Path(__file__).parent.parent.parent / "docs/goal-documents.md").read_text(encoding="utf-8")
    [sample] = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (document.parent / "stateward.toml").write_text(sample)

    assert configuration_for(document).rules == {"todo_outside_region": "off", "implicit_todo_ids": "error"}
