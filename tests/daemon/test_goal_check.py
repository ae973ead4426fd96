"""`goal check` and `goal new`: the linter and the template. Source: protocol.md section 6, goal-documents section 5."""

from __future__ import annotations

import io
import itertools
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog

from stateward_daemon.cli import goal_check
from stateward_daemon.cli.linter import count_line
from stateward_daemon.cli.patterns import matches_of
from stateward_daemon.cli.printing import columns
from stateward_engine.goals.codes import CODES, page_of
from stateward_engine.goals.document import read_document
from stateward_protocol import messages as m

HEAD = "---\nstatus: active\n---\n# Goal\n\n## Next Action\n\n- go on\n\n## Agent Todo\n\n"
GOAL = f"""{HEAD}- [ ] 工作 one
  <!-- loopx:todo todo_id=todo_dup -->
- [ ] two \x1b[31m
  <!-- loopx:todo todo_id=todo_dup -->
"""
CLEAN = GOAL.replace("two \x1b[31m", "two").replace("todo_dup", "todo_first", 1).replace("todo_dup", "todo_second")
FIXABLE = f"{HEAD}- [ ] one <!-- loopx:todo todo_id=todo_one -->\n- [ ] two\n"
FIXED = HEAD + (
    "- [ ] one\n  <!-- loopx:todo todo_id=todo_one -->\n- [ ] two\n  <!-- loopx:todo todo_id=todo_b8c0d9001c55 -->\n"
)
INFO = CLEAN.replace("# Goal\n", "# Goal\n\n- [ ] an idea\n")
PLACE = m.Range(start=m.Position(line=0, character=0), end=m.Position(line=0, character=0))


@pytest.fixture
def goal(folder: Path) -> Path:
    path = folder / "ACTIVE_GOAL_STATE.md"
    path.write_text(GOAL)
    return path


def item(severity: Any, *, safe: bool | None = None) -> m.DiagnosticItem:
    made = m.DiagnosticItem(range=PLACE, severity=severity, code="nested_todo", message="x", related=[])
    if safe is None:
        return made
    return m.DiagnosticItem(
        range=PLACE, severity=severity, code="x", message="x", related=[], fix=m.Fix(title="x", safe=safe, edits=[])
    )


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


class TestText:
    """What people and problem matchers read."""

    def test_text_is_that_of_a_linter(self, run: Any, goal: Path) -> None:
        """A place, a severity, a code; wide characters take two columns, and nothing drives the terminal (LX-037)."""
        printed = run("goal", "check", str(goal))
        lines = printed.out.splitlines()

        assert printed.status == 1
        assert lines[0].startswith(f"{goal}:13:")
        assert ": error[duplicate_todo_ids] " in lines[0]
        assert "\x1b" not in printed.out
        assert printed.err == "2 errors in 1 file\n"
        noted = [line for line in lines if ": note: " in line]
        assert len(noted) == 2

    def test_a_mark_stands_below_what_it_marks(self, run: Any, goal: Path) -> None:
        lines = run("goal", "check", str(goal)).out.splitlines()
        item = run("goal", "check", str(goal), "--json").json["files"][0]["items"][0]
        start, end = item["range"]["start"], item["range"]["end"]
        source = GOAL.splitlines()[start["line"]]
        marked = source[start["character"] : end["character"] if end["line"] == start["line"] else len(source)]

        assert lines[1] == f"  {source}"
        assert lines[2] == "  " + " " * columns(source[: start["character"]]) + "^" * columns(marked)

    def test_json_has_the_items_of_the_protocol(self, run: Any, goal: Path) -> None:
        for arguments in (["--format", "json"], ["--json"]):
            printed = run("goal", "check", str(goal), *arguments)
            (file,) = printed.json["files"]

            assert file["path"] == str(goal)
            assert file["projection_diagnostics"]["errors"][0]["kind"] == "duplicate_todo_ids"
            assert file["items"][0].keys() == {"range", "severity", "code", "message", "related"}
            assert printed.err == ""

    @pytest.mark.parametrize("arguments", [["--format", "json"], ["--json"]])
    def test_a_file_that_is_not_there_is_an_error_in_json_too(self, run: Any, arguments: list[str]) -> None:
        printed = run("goal", "check", "missing.md", *arguments)

        assert (printed.status, printed.err) == (2, "")
        assert printed.json["error"] == {"category": "missing_path", "message": "missing.md: there is no such file"}

    def test_a_clean_document_exits_with_0(self, run: Any, goal: Path) -> None:
        goal.write_text(CLEAN)
        printed = run("goal", "check", str(goal), "--strict")

        assert (printed.status, printed.out, printed.err) == (0, "", "no problems in 1 file\n")

    @pytest.mark.parametrize(("arguments", "status"), [([], 0), (["--strict"], 1)])
    def test_an_info_counts_only_when_strict(self, run: Any, goal: Path, arguments: list[str], status: int) -> None:
        goal.write_text(INFO)
        printed = run("goal", "check", str(goal), *arguments)

        assert (printed.status, printed.err) == (status, "1 info in 1 file\n")

    def test_a_refused_document_has_no_projection(self, run: Any, goal: Path) -> None:
        goal.write_text("---\nnever: closed\n")
        printed = run("goal", "check", str(goal), "--json")

        assert printed.status == 1
        assert printed.json["files"][0]["projection_diagnostics"] is None
        assert "unterminated_frontmatter" in [item["code"] for item in printed.json["files"][0]["items"]]

    def test_a_file_that_is_not_utf8_is_named_by_line_and_column(self, run: Any, goal: Path) -> None:
        goal.write_bytes("# Ziel\r\n\r\nä: \xe9".encode("latin-1").replace(b"\xe4", "ä".encode()))
        printed = run("goal", "check", str(goal))

        assert printed.status == 1
        assert printed.out.startswith(f"{goal}:3:4: error[not_utf8] ")

    def test_patterns_are_expanded_and_several_files_counted(self, run: Any, goal: Path, folder: Path) -> None:
        (folder / "deep/er").mkdir(parents=True)
        (folder / "deep/er/ACTIVE_GOAL_STATE.md").write_text(CLEAN)
        printed = run("goal", "check", f"{folder}/**/ACTIVE_GOAL_STATE.md", "--json")

        paths = [file["path"] for file in printed.json["files"]]
        assert paths == [str(goal), str(folder / "deep/er/ACTIVE_GOAL_STATE.md")]

    def test_standard_input_is_a_file(self, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOAL.encode())))
        printed = run("goal", "check", "-")

        assert printed.out.startswith("-:13:")

    def test_a_fix_stands_below_the_line(self, run: Any, goal: Path) -> None:
        goal.write_text(FIXABLE)
        printed = run("goal", "check", str(goal))

        assert "  fix: move the metadata to a line of its own (--fix)\n" in printed.out
        assert printed.err == "3 warnings in 1 file; 2 can be fixed with --fix\n"

    @pytest.mark.parametrize(
        ("items", "fixed", "said"),
        [
            ([], 0, "no problems in 2 files"),
            ([], 1, "no problems in 2 files; 1 problem fixed"),
            ([item("error", safe=False)], 0, "1 error in 2 files"),
            ([item("warning", safe=True)], 2, "1 warning in 2 files; 2 problems fixed; 1 can be fixed with --fix"),
            (
                [item(severity) for severity in ("warning", "error", "error", "info", "info")],
                0,
                "2 errors, 1 warning, 2 info in 2 files",
            ),
        ],
    )
    def test_the_closing_line_counts(self, items: list[m.DiagnosticItem], fixed: int, said: str) -> None:
        assert count_line(items, 2, fixed) == said


class TestFiles:
    """Names, patterns, directories and standard input."""

    def test_a_directory_is_the_goal_documents_below_it(self, run: Any, goal: Path, folder: Path) -> None:
        for place in ("deep", "node_modules", ".hidden"):
            (folder / place).mkdir()
            (folder / place / "ACTIVE_GOAL_STATE.md").write_text(CLEAN)
        (folder / "README.md").write_text(GOAL)
        printed = run("goal", "check", str(folder), str(goal), "--json")

        assert [file["path"] for file in printed.json["files"]] == [
            str(goal),
            str(folder / "deep/ACTIVE_GOAL_STATE.md"),
        ]

    @pytest.mark.parametrize("name", ["nowhere.md", "nowhere*.md", "."])
    def test_what_names_no_document_is_a_usage_fault(
        self, run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        monkeypatch.chdir(folder)
        printed = run("goal", "check", name)

        assert printed.status == 2
        assert name in printed.err

    @pytest.mark.parametrize("arguments", [[], ["--fix"], ["--diff"]])
    def test_a_missing_file_keeps_no_finding_from_the_others(
        self, run: Any, goal: Path, folder: Path, arguments: list[str]
    ) -> None:
        goal.write_text(FIXABLE)
        printed = run("goal", "check", str(folder / "no.md"), "no*.md", str(goal), *arguments)

        assert printed.status == 2
        assert [line for line in printed.err.splitlines() if "stateward: " in line] == [
            "stateward: no file matches no*.md",
            f"stateward: {folder / 'no.md'}: there is no such file",
        ]
        assert (str(goal) in printed.out) == (arguments != ["--fix"])
        assert (goal.read_text() == FIXED) == (arguments == ["--fix"])

    def test_each_file_is_named_once(self, run: Any, goal: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(folder)
        (folder / "same").symlink_to(folder)
        names = [goal.name, f"./{goal.name}", str(goal), ".", "*.md", f"same/{goal.name}"]
        printed = run("goal", "check", *names, "--json")

        assert [file["path"] for file in printed.json["files"]] == [goal.name]

    @pytest.mark.parametrize("name", ["x" * 256, "d/" * 2500 + "x", "x" * 256 + "*"])
    @pytest.mark.parametrize(
        "verb",
        [
            ["goal", "check"],
            ["goal", "check", "-", "--stdin-filename"],
            ["goal", "show"],
            ["goal", "render", "--records", "-", "--provider-revision", "r"],
            ["goal", "render", "-", "--provider-revision", "r", "--records"],
        ],
    )
    def test_a_name_that_no_file_can_have_is_as_any_that_none_has(
        self, run: Any, monkeypatch: pytest.MonkeyPatch, verb: list[str], name: str
    ) -> None:
        typed(monkeypatch, '{"records": []}')
        printed = run(*verb, name)

        assert printed.status == (1 if "--stdin-filename" in verb else 2)
        assert "mistake" not in printed.err

    def test_standard_input_can_have_a_name_and_its_rules(
        self, run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / "stateward.toml").write_text('rules = { duplicate_todo_ids = "info" }')
        typed(monkeypatch, GOAL)
        printed = run("goal", "check", "-", "--stdin-filename", str(folder / "x.md"))

        assert printed.status == 0
        assert printed.out.startswith(f"{folder / 'x.md'}:13:27: info[duplicate_todo_ids] ")


class TestPatterns:
    """Wildcards, `**` for any number of directories, and links that lead nowhere new."""

    @pytest.fixture
    def tree(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(folder)
        for place in (".", "a", "a/b", ".git", "c"):
            (folder / place).mkdir(exist_ok=True)
            (folder / place / "x.md").write_text(CLEAN)
        for name in ("one", "two"):
            (folder / "a" / name).symlink_to(folder)
        (folder / "a/link.md").symlink_to(folder / "c/x.md")
        return folder

    @pytest.mark.parametrize(
        ("pattern", "found"),
        [
            ("**/x.md", ["a/b/x.md", "a/x.md", "c/x.md", "x.md"]),
            ("./**/**/x.md", ["./a/b/x.md", "./a/x.md", "./c/x.md", "./x.md"]),
            ("**", ["a/b/x.md", "a/link.md", "a/x.md", "c/x.md", "x.md"]),
            ("*/*/x.md", ["a/b/x.md"]),
            ("[ac]/?.md", ["a/x.md", "c/x.md"]),
            ("a/one/*.md", ["a/one/x.md"]),
            (".*/x.md", [".git/x.md"]),
            ("x.md", []),
        ],
    )
    @pytest.mark.usefixtures("tree")
    def test_what_a_pattern_matches(self, pattern: str, found: list[str]) -> None:
        assert matches_of(pattern) == found

    def test_an_absolute_pattern_gives_absolute_names(self, tree: Path) -> None:
        assert matches_of(f"{tree}/*/b/x.md") == [f"{tree}/a/b/x.md"]


class TestRules:
    """Rules of the project hold on the command line, too."""

    def test_a_rule_that_cannot_be_is_a_usage_fault(self, run: Any, goal: Path) -> None:
        (goal.parent / "stateward.toml").write_text('[rules]\nduplicate_todo_id = "off"\n')
        printed = run("goal", "check", str(goal))

        assert printed.status == 2
        assert "did you mean duplicate_todo_ids?" in printed.err

    def test_what_is_switched_off_is_not_mended(self, run: Any, goal: Path) -> None:
        (goal.parent / "stateward.toml").write_text('rules = { implicit_todo_ids = "off" }')
        goal.write_text(FIXABLE)
        run("goal", "check", str(goal), "--fix")

        assert "<!-- loopx:todo todo_id=todo_one -->\n- [ ] two\n" in goal.read_text()
        assert goal.read_text().count("todo_id=") == 1


class TestFix:
    """`--fix` makes the safe fixes, and nothing else is ever written."""

    def test_the_safe_fixes_are_made_and_the_rest_is_told(self, run: Any, goal: Path) -> None:
        goal.write_text(FIXABLE)
        goal.chmod(0o640)
        printed = run("goal", "check", str(goal), "--fix")

        assert (printed.status, printed.out) == (0, "")
        assert printed.err == "no problems in 1 file; 2 problems fixed\n"
        assert goal.read_text() == FIXED
        assert stat.S_IMODE(goal.stat().st_mode) == 0o640
        assert [path.name for path in goal.parent.glob("*ACTIVE*")] == [goal.name]

    def test_a_document_without_one_is_not_written(self, run: Any, goal: Path) -> None:
        before = goal.stat()
        run("goal", "check", str(goal), "--fix")

        assert (goal.stat().st_mtime_ns, goal.stat().st_ino) == (before.st_mtime_ns, before.st_ino)

    @pytest.mark.parametrize(
        "data",
        [
            FIXABLE.encode() + b"\xff",
            FIXABLE.replace("---\n#", "#").encode(),
            FIXABLE.replace("# Goal", "<!-- loopx:todo-region-v0 role=user end -->").encode(),
        ],
    )
    def test_a_refused_document_keeps_its_bytes(self, run: Any, goal: Path, data: bytes) -> None:
        goal.write_bytes(data)
        printed = run("goal", "check", str(goal), "--fix")

        assert printed.status == 1
        assert goal.read_bytes() == data

    def test_what_somebody_saves_in_between_is_mended_instead(
        self, run: Any, goal: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nobody's text is lost: the fixes are made again, on what was saved."""
        goal.write_text(FIXABLE)
        mended = goal_check._mended
        seen: list[bytes] = []

        def mended_late(data: bytes, rules: Any) -> tuple[bytes, int]:
            if not seen:
                goal.write_text(f"{FIXABLE}\nSaved by Mei.\n")
            seen.append(data)
            return mended(data, rules)

        monkeypatch.setattr(goal_check, "_mended", mended_late)
        printed = run("goal", "check", str(goal), "--fix")

        assert len(seen) == 2
        assert goal.read_text() == f"{FIXED}\nSaved by Mei.\n"
        assert printed.err == "no problems in 1 file; 2 problems fixed\n"

    def test_a_link_is_left_alone(self, run: Any, goal: Path, folder: Path) -> None:
        """It is told, checked, and keeps nothing from the files around it."""
        goal.write_text(FIXABLE)
        names = [str(folder / name) for name in ("a.md", "link.md", "z.md")]
        for name in (names[0], names[2]):
            Path(name).write_text(FIXABLE)
        Path(names[1]).symlink_to(goal)
        printed = run("goal", "check", *names, "--fix", "--json")

        assert printed.status == 2
        assert [(file["path"], len(file["items"])) for file in printed.json["files"]] == [
            (names[0], 0),
            (names[1], 3),
            (names[2], 0),
        ]
        assert printed.err.startswith(f"stateward: {names[1]}: ")
        assert "it is a symlink" in printed.err
        assert goal.read_text() == FIXABLE

    def test_standard_input_cannot_be_fixed(self, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        typed(monkeypatch, FIXABLE)
        printed = run("goal", "check", "-", "--fix")

        assert printed.status == 2
        assert "--diff" in printed.err


class TestDiff:
    """`--diff` shows what `--fix` would do."""

    def test_the_patch_makes_what_fix_makes(self, run: Any, goal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(goal.parent)
        text = FIXABLE.rstrip("\n")
        goal.write_text(text)
        printed = run("goal", "check", goal.name, "--diff")

        assert printed.status == 1
        assert goal.read_text() == text
        subprocess.run(["git", "apply"], input=printed.out.encode(), check=True)  # noqa: S607 - as a reader types it
        assert goal.read_text() == FIXED.rstrip("\n")

    def test_nothing_to_fix_is_no_difference(self, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        typed(monkeypatch, CLEAN)
        printed = run("goal", "check", "-", "--diff")

        assert (printed.status, printed.out) == (0, "")


class TestSarif:
    """SARIF 2.1.0, by models that are generated from its schema and take no member that it does not have."""

    def test_the_log_fits_the_standard(self, run: Any, goal: Path, folder: Path) -> None:
        (folder / "a b#ü.md").write_text(FIXABLE)
        printed = run("goal", "check", str(goal), str(folder / "a b#ü.md"), "--format", "sarif")
        log = SarifLog.model_validate_json(printed.out)
        [run_] = log.runs
        results = run_.results or []

        assert printed.status == 1
        assert printed.err == ""
        assert [result.ruleId for result in results] == [
            *["duplicate_todo_ids"] * 2,
            *["implicit_todo_ids", "metadata_on_task_line", "implicit_todo_ids"],
        ]
        assert [rule.id for rule in run_.tool.driver.rules or []] == list(CODES)

    def test_places_are_lines_and_code_points_from_1(self, run: Any, goal: Path) -> None:
        [one] = json.loads(run("goal", "check", str(goal), "--format", "sarif").out)["runs"]
        result = one["results"][0]

        assert one["columnKind"] == "unicodeCodePoints"
        assert one["tool"]["driver"]["rules"][result["ruleIndex"]]["helpUri"] == page_of("duplicate_todo_ids")
        assert result["locations"][0]["physicalLocation"] == {
            "artifactLocation": {"uri": f"file://{goal}"},
            "region": {"startLine": 13, "startColumn": 27, "endLine": 13, "endColumn": 35},
        }
        assert len(result["relatedLocations"]) == 1

    def test_a_name_is_a_uri_and_a_fix_a_replacement(self, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        typed(monkeypatch, FIXABLE)
        printed = run("goal", "check", "-", "--stdin-filename", "a b#ü.md", "--format", "sarif")
        fixes = [fix for result in json.loads(printed.out)["runs"][0]["results"] for fix in result["fixes"]]
        change = fixes[1]["artifactChanges"][0]

        assert change["artifactLocation"] == {"uri": "a%20b%23%C3%BC.md"}
        assert change["replacements"] == [
            {
                "deletedRegion": {"startLine": 12, "startColumn": 10, "endLine": 12, "endColumn": 47},
                "insertedContent": {"text": "\n  <!-- loopx:todo todo_id=todo_one -->"},
            }
        ]


class TestGithub:
    """Workflow commands, with the escapes of GitHub's toolkit and of terminals."""

    def test_each_finding_is_a_command(self, run: Any, goal: Path) -> None:
        lines = run("goal", "check", str(goal), "--format", "github").out.splitlines()

        assert len(lines) == 2
        assert lines[0].startswith(
            f"::error file={goal},line=13,endLine=13,title=stateward duplicate_todo_ids,col=27,endColumn=35::todo_dup "
        )

    def test_what_would_end_a_property_is_escaped(self, run: Any, folder: Path) -> None:
        path = folder / "50%,a:b\x1b.md"
        path.write_text(INFO)
        printed = run("goal", "check", str(path), "--format", "github")

        assert printed.out.startswith(f"::notice file={folder}/50%25%2Ca%3Ab\\u001b.md,line=6,")

    def test_a_finding_of_several_lines_has_no_columns(self, run: Any, goal: Path) -> None:
        goal.write_text(f"{HEAD}- [ ] one\n  <!-- loopx:todo\n  todo_id=todo_one -->\n")
        lines = run("goal", "check", str(goal), "--format", "github").out.splitlines()

        assert f"::warning file={goal},line=13,endLine=14,title=stateward metadata_wrapped::" in lines[1]


class TestNew:
    """`goal new` creates the template of authority.md section 2, and overwrites nothing."""

    def test_the_document_is_the_template(self, run: Any, folder: Path) -> None:
        printed = run("goal", "new", str(folder), "--goal-id", "rel-2.4", "--objective", "Ship <2.4>\nin June")
        path = folder / "ACTIVE_GOAL_STATE.md"
        document = read_document(path.read_text())

        assert printed.status == 0
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert document.frontmatter["goal_id"] == "rel-2.4"
        assert document.frontmatter["objective"] == "Ship <2.4>\nin June"
        assert document.objective == "Ship <2.4> in June"
        assert document.next_action.entries == ("Define the first bounded step.",)
        assert [problem.code for problem in document.problems] == ["missing_todo_sections"]

    def test_an_objective_stays_what_it_is(self, run: Any, folder: Path) -> None:
        """LX-040, LX-042: neither Markdown, nor HTML, nor a reader with other ends of lines takes it for its own."""
        objective = 'Ship <b> & go\n## Agent Todo\n- [ ] no todo\u2028\x85 "quoted" <!-- open'
        run("goal", "new", str(folder), "--goal-id", "g", "--objective", objective)
        text = (folder / "ACTIVE_GOAL_STATE.md").read_text()
        document = read_document(text)

        assert document.frontmatter["objective"] == objective
        assert (
            'objective: "Ship <b> & go\\n## Agent Todo\\n- [ ] no todo\\u2028\\u0085 \\"quoted\\" <!-- open"\n' in text
        )
        assert "\n> Ship &lt;b&gt; &amp; go\n> ## Agent Todo\n> - [ ] no todo" in text
        assert document.todos == ()

    def test_one_that_is_there_stays(self, run: Any, goal: Path) -> None:
        printed = run("goal", "new", str(goal), "--goal-id", "g", "--objective", "x", "--json")

        assert (printed.status, printed.json["error"]["category"]) == (1, "refused")
        assert goal.read_text() == GOAL

    @pytest.mark.parametrize(
        ("goal_id", "objective", "said"),
        [
            ("G 1", "x", "no goal id"),
            ("g", "", "could not be read back"),
        ],
    )
    def test_what_could_not_be_read_back_is_refused(
        self, run: Any, folder: Path, goal_id: str, objective: str, said: str
    ) -> None:
        printed = run("goal", "new", str(folder / "x.md"), "--goal-id", goal_id, "--objective", objective)

        assert printed.status == 2
        assert said in printed.err
        assert not (folder / "x.md").exists()

    def test_a_marker_in_a_text_cannot_damage_the_document(self, run: Any, folder: Path) -> None:
        marker = "<!-- loopx:todo-region-v0 role=user end -->"
        arguments = ["--goal-id", "g", "--objective", "x", "--next-action", marker]

        assert run("goal", "new", str(folder / "x.md"), *arguments).status == 2

    def test_json_names_what_was_made(self, run: Any, folder: Path) -> None:
        path = str(folder / "x.md")
        printed = run("goal", "new", path, "--goal-id", "g", "--objective", "x", "--json")

        assert printed.json == {"path": path, "goal_id": "g"}

    @pytest.mark.parametrize("option", ["--objective", "--next-action"])
    def test_a_text_that_is_no_utf8_is_a_usage_fault(self, run: Any, folder: Path, option: str) -> None:
        given = {"--goal-id": "g", "--objective": "x", option: "bad\udcff"}
        printed = run("goal", "new", str(folder / "x.md"), *itertools.chain(*given.items()))

        assert printed.status == 2
        assert f"{option} is not UTF-8" in printed.err
        assert not (folder / "x.md").exists()

    @pytest.mark.parametrize("name", ["x" * 256, "d/" * 2500 + "x"])
    def test_a_name_that_no_file_can_have_is_told(self, run: Any, name: str) -> None:
        printed = run("goal", "new", name, "--goal-id", "g", "--objective", "x")

        assert printed.status == 1
        assert "mistake" not in printed.err

    def test_a_folder_that_is_not_there_is_told(self, run: Any, folder: Path) -> None:
        printed = run("goal", "new", str(folder / "no/x.md"), "--goal-id", "g", "--objective", "x", "--json")

        assert (printed.status, printed.json["error"]["category"]) == (1, "refused")
        assert printed.json["error"]["message"] == f"there is no directory {folder / 'no'}; create it first"
