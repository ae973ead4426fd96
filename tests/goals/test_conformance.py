"""The shared conformance data: every goal document, and the reading half of the field cases."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from stateward_engine.goals.document import GoalDocument, read_document
from stateward_engine.goals.lines import decode_document
from stateward_engine.goals.projection import named

CONFORMANCE = Path(__file__).parent.parent / "conformance"
VECTORS = sorted((CONFORMANCE / "goal_documents").glob("*.json"))
# What the projection tells of itself; the other problems are beside it.
DIAGNOSTICS = (
    *("missing_frontmatter", "missing_next_action", "missing_todo_sections"),
    *("implicit_todo_ids", "duplicate_todo_ids"),
)
ANY_TEXT = "<any non-empty text>"
CHECKS = re.compile(r"^```json checks\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read_vector(path: Path) -> tuple[dict[str, Any], GoalDocument]:
    case = json.loads(path.read_text(encoding="utf-8"))
    text = decode_document(path.with_suffix(".md").read_bytes())
    return case, read_document(text)


def visible(document: GoalDocument) -> dict[str, Any]:
    return {
        "hidden_lines": list(document.hidden_lines),
        "regions": [
            {
                "role": region.role,
                "heading": region.heading,
                "marked": region.marked,
                "first_line": region.first + 1,
                "body_end_line": region.body_end,
            }
            for region in document.regions
        ],
        "archive": [
            {"text": todo.text, "todo_id": todo.todo_id, "role": todo.role, "status": todo.status}
            for todo in document.todos
            if todo.archived
        ],
    }


def with_any_text(projection: Any) -> Any:
    """Replace free texts, which a vector leaves open, by its placeholder."""
    for warning in projection["diagnostics"]["warnings"]:
        if warning.get("recommendation"):
            warning["recommendation"] = ANY_TEXT
    return projection


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
class TestGoalDocuments:
    """The whole projection, byte for byte with its order of keys, and what stands behind it (LX-004).

    Rows LX-001, LX-002, LX-014, LX-015, LX-016, LX-017, LX-018, LX-019, LX-020, LX-021, LX-022, LX-025, LX-026,
    LX-028, LX-029, LX-030, LX-031, LX-032, LX-033, LX-035, LX-043, LX-066, LX-067, LX-068, LX-069, LX-071, LX-072,
    LX-073, LX-076.
    """

    def test_projection_or_refusal(self, path: Path) -> None:
        case, document = read_vector(path)

        if "expect_error" in case:
            assert document.projection is None
            assert document.refusal is not None
            assert document.refusal.kind == case["expect_error"]
        else:
            assert document.projection is not None
            given = case["input"]
            projection = named(document.projection, goal_id=given.get("goal_id"), source_ref=given["source_ref"])
            assert json.dumps(with_any_text(projection)) == json.dumps(case["expect"])

    def test_visible_document(self, path: Path) -> None:
        case, document = read_vector(path)

        if "expect_visible" in case:
            assert visible(document) == case["expect_visible"]

    def test_problems_agree_with_the_diagnostics(self, path: Path) -> None:
        _, document = read_vector(path)
        found = [problem.code for problem in document.problems]

        if document.refusal:
            assert document.refusal.kind in found
        else:
            projection: Any = document.projection
            diagnostics = projection["diagnostics"]
            wanted = {entry["kind"]: entry.get("count", 1) for entry in diagnostics["warnings"]}
            repeated = [id_ for entry in diagnostics["errors"] for id_ in entry["todo_ids"]]
            rows = sum(todo.todo_id in repeated for todo in document.todos)
            wanted |= {"duplicate_todo_ids": rows} if rows else {}
            assert {code: found.count(code) for code in found if code in DIAGNOSTICS} == wanted


def field_cases() -> list[Any]:
    """Return one parameter per document of the field cases whose checks say something about reading."""
    return [
        pytest.param(page.parent / check["file"], check, id=f"{page.parent.name}/{check['file']}")
        for page in sorted((CONFORMANCE / "field_cases").glob("*/expect.md"))
        for check in checks(page)
        if "file" in check and check.get("utf8") is not False
    ]


def checks(page: Path) -> list[dict[str, Any]]:
    match = CHECKS.search(page.read_text(encoding="utf-8"))
    found = json.loads(match[1]) if match else []
    return found if isinstance(found, list) else [found]


# What the numbers of a group are called in the checks and in the projection.
GROUP_KEYS = {"total": "total_count", "open": "open_count", "done": "done_count"}


def facts(document: GoalDocument) -> dict[str, Any]:
    """Return what a check can ask of a document that was read."""
    projection: Any = document.projection
    groups, diagnostics = projection["todos"], projection["diagnostics"]
    todos = document.todos
    duplicates = [problem for problem in document.problems if problem.code == "duplicate_todo_ids"]
    return {
        **{role: {name: groups[role][key] for name, key in GROUP_KEYS.items()} for role in groups},
        **{f"{role}_ids": [item["todo_id"] for item in groups[role]["items"]] for role in groups},
        "implicit": {role: groups[role]["implicit_todo_id_count"] for role in groups},
        "frontmatter": projection["frontmatter"],
        "next_action_count": projection["next_action"]["count"],
        "warnings": [warning["kind"] for warning in diagnostics["warnings"]],
        "errors": [error["kind"] for error in diagnostics["errors"]],
        "duplicate_ids": [todo_id for error in diagnostics["errors"] for todo_id in error["todo_ids"]],
        "parseable": diagnostics["parseable"],
        "migration_ready": diagnostics["migration_ready"],
        "status": {todo.todo_id: todo.status for todo in todos},
        "text_lengths": {todo.todo_id: len(todo.full_text) for todo in todos},
        "fields": {item["todo_id"]: item for role in groups for item in groups[role]["items"]},
        "duplicate_problem_ids": sorted({document.lines.text[slice(*problem.span)] for problem in duplicates}),
    }


def agrees(wanted: Any, got: Any) -> bool:
    """Say whether `got` has everything that is wanted; an object may have more."""
    if isinstance(wanted, dict):
        return all(key in got and agrees(value, got[key]) for key, value in wanted.items())
    return bool(wanted == got)


@pytest.mark.parametrize(("path", "check"), field_cases())
class TestFieldCases:
    """What real files did to other readers. Rows LX-071, LX-072 and LX-080."""

    def test_reading(self, path: Path, check: dict[str, Any]) -> None:
        document = read_document(decode_document(path.read_bytes()))

        if document.refusal:
            assert check["render"] == "fails_closed"
            return
        got = facts(document)
        wanted = {key: value for key, value in check.items() if key in got}
        assert {key: value for key, value in wanted.items() if not agrees(value, got[key])} == {}
        assert not set(check.get("adopted_ids_must_not_include", ())) & got["status"].keys()


class TestDamagedMarkers:
    """Field case 25: every damage is told on the very line, and nothing is read as if it were not there (LX-068)."""

    @pytest.mark.parametrize(
        ("name", "kind", "line"),
        [
            ("no-end", "unterminated_region", 15),
            ("no-begin", "nested_or_mismatched_region_marker", 17),
            ("wrong-role", "nested_or_mismatched_region_marker", 18),
            ("nested", "nested_or_mismatched_region_marker", 18),
            ("typo", "nested_or_mismatched_region_marker", 15),
            ("twice", "orphan_region_marker", 19),
            ("indented-marker", "nested_or_mismatched_region_marker", 18),
        ],
    )
    def test_the_refusal_names_the_line(self, name: str, kind: str, line: int) -> None:
        data = (CONFORMANCE / "field_cases" / "25-damaged-region-markers" / f"{name}.md").read_bytes()
        refusal = read_document(decode_document(data)).refusal

        assert refusal is not None
        assert (refusal.kind, refusal.line) == (kind, line)
        assert refusal.byte_offset == sum(map(len, data.splitlines(keepends=True)[: line - 1]))

    def test_the_sound_document_is_read(self) -> None:
        data = (CONFORMANCE / "field_cases" / "25-damaged-region-markers" / "ok.md").read_bytes()

        assert read_document(decode_document(data)).refusal is None
