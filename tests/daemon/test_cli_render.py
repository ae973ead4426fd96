"""`goal render` on the command line: no daemon, no store, and no file that changes."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from goals.rendering import SECTIONS, record
from stateward_daemon.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = f"\ufeffBefore \x1b[31m.\r\n{SECTIONS}".encode()


@pytest.fixture
def goal(folder: Path) -> Path:
    file = folder / "ACTIVE_GOAL_STATE.md"
    file.write_bytes(SOURCE)
    return file


@pytest.fixture
def records(folder: Path) -> Path:
    file = folder / "records.json"
    file.write_text(json.dumps({"records": [record()]}))
    return file


def words(goal: Path | str, records: Path | str, *more: str) -> list[str]:
    return ["goal", "render", str(goal), "--records", str(records), "--provider-revision", "file:s:1", *more]


def test_json_has_the_members_of_the_protocol(capsys: pytest.CaptureFixture[str], goal: Path, records: Path) -> None:
    status = main(words(goal, records, "--json"))
    printed = json.loads(capsys.readouterr().out)

    assert status == 0
    assert list(printed) == [
        "markdown", "changed", "source_sha256", "rendered_sha256", "narrative_sha256", "provider_revision",
        "todo_count", "section_record_sha256",
    ]  # fmt: skip
    assert (printed["changed"], printed["todo_count"]) == (True, 1)
    assert printed["markdown"].startswith("\ufeffBefore \x1b[31m.\r\n## User Todo / Owner Review Reading Queue\r\n")
    assert goal.read_bytes() == SOURCE


def test_a_program_gets_every_byte(capfdbinary: pytest.CaptureFixture[bytes], goal: Path, records: Path) -> None:
    main(words(goal, records, "--json"))
    wanted = json.loads(capfdbinary.readouterr().out)["markdown"].encode()
    main(words(goal, records))

    assert capfdbinary.readouterr().out == wanted


def test_a_person_gets_no_control_characters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, goal: Path, records: Path
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    main(words(goal, records))

    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "<!-- loopx:todo todo_id=todo_one status=open -->" in printed


def test_records_come_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, goal: Path
) -> None:
    given = json.dumps({"records": [record(text="typed")]}).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))

    assert main(words(goal, "-", "--json")) == 0
    assert "- [ ] typed" in json.loads(capsys.readouterr().out)["markdown"]


def test_private_validation_comes_with_the_records(
    capsys: pytest.CaptureFixture[str], goal: Path, records: Path
) -> None:
    required = {"completion_validation_required": True, "completion_validation_sha256": "a" * 64}
    records.write_text(json.dumps({"records": [record(**required)], "private_validation": {"todo_one": {}}}))

    assert main(words(goal, records, "--json")) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["category"], error["reason_code"]) == ("refused", "validation_declaration_mismatch")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "the given JSON ends too early"),
        ("[]", 'an object with "records"'),
        ('{"records": {}}', 'an object with "records"'),
        ('{"records": [], "private_validation": []}', 'an object with "records"'),
        ('{"records": [], "records": []}', "two members of the same name"),
    ],
)
def test_a_file_of_records_that_is_none_is_a_usage_fault(
    capsys: pytest.CaptureFixture[str], goal: Path, records: Path, body: str, said: str
) -> None:
    records.write_text(body)

    assert main(words(goal, records)) == 2
    assert said in capsys.readouterr().err


def test_standard_input_is_one_thing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words("-", "-")) == 2
    assert "not both" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "members", "category", "kind"),
    [
        (b"## Agent Todo\n\xe9", {}, "unsafe_document", "not_utf8"),
        (b"# Goal\n", {}, "unsafe_document", "no_todo_region"),
        (SOURCE, {"index": 1}, "refused", "unknown_field"),
        (SOURCE, {"note": "\ud800"}, "invalid_request", None),
    ],
)
def test_a_refusal_is_typed_and_writes_nothing(
    capsys: pytest.CaptureFixture[str],
    goal: Path,
    records: Path,
    *,
    data: bytes,
    members: dict[str, Any],
    category: str,
    kind: str | None,
) -> None:
    goal.write_bytes(data)
    records.write_text(json.dumps({"records": [record(**members)]}))

    assert main(words(goal, records, "--json")) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["category"] == category
    assert error.get("kind", error.get("reason_code")) == kind
    assert goal.read_bytes() == data
