"""The page of each problem: its wrong example has the problem, and its right one does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from stateward_engine.goals.codes import CODES
from stateward_engine.goals.document import GoalDocument, read_bytes, read_document
from stateward_engine.goals.mending import edited, mend
from stateward_engine.goals.promoted_problems import Head, Lease, display_problems, lease_problems
from stateward_engine.goals.state_problems import state_problems
from stateward_engine.state.references import mention_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stateward_engine.goals.problems import Problem

PAGES = Path(__file__).parent.parent.parent / "docs" / "problems"
EXAMPLE = re.compile(
    r"^(?P<fence>```+)md (?P<name>bad|good|fixed)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL
)

EMPTY_DIGEST = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
HEAD = Head("file:s1:7", {"agent": EMPTY_DIGEST})


def example(code: str, name: str) -> str | None:
    page = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    return next((match["text"] for match in EXAMPLE.finditer(page) if match["name"] == name), None)


def edited_problems(document: GoalDocument) -> Iterable[Problem]:
    rendered = (example("edited_projection", "good") or "").splitlines()
    edited_lines = [line.number for line in document.lines if line.text not in rendered]
    return display_problems(document, HEAD, edited_lines)


# Problems that a document alone cannot show: what else is known, such as records and leases.
SHOWN: dict[str, Callable[[GoalDocument], Iterable[Problem]]] = {
    "stale_projection": lambda document: display_problems(document, HEAD, ()),
    "edited_projection": edited_problems,
    "claim_without_lease": lambda document: lease_problems(document, {}),
    "expired_lease": lambda document: lease_problems(document, {"todo_rollback": Lease("agent-kite", "expired")}),
    "dangling_state_reference": lambda document: state_problems(
        document, mention_spans, lambda path: None if path == "cwd.lazy.plan" else "there is no such key"
    ),
}


def read(code: str, text: str, name: str) -> GoalDocument:
    return read_bytes(text.encode("latin-1" if (code, name) == ("not_utf8", "bad") else "utf-8"))


def found_in(code: str, text: str, name: str) -> list[Problem]:
    document = read(code, text, name)
    problems = SHOWN[code](document) if code in SHOWN else document.problems
    return [problem for problem in problems if problem.code == code]


@pytest.mark.parametrize("code", CODES)
class TestPages:
    """Documentation that is run: editors lead to these pages."""

    def test_the_wrong_example_has_the_problem_on_a_place_of_its_own(self, code: str) -> None:
        found = found_in(code, bad := example(code, "bad") or "", "bad")

        assert found
        assert all(problem.severity == CODES[code].severity for problem in found)
        assert all(0 <= start < end <= len(bad) for start, end in (problem.span for problem in found))

    def test_the_right_example_does_not(self, code: str) -> None:
        right = example(code, "good") or example(code, "fixed") or ""
        errors = [problem.code for problem in read(code, right, "good").problems if problem.severity == "error"]

        assert right
        assert found_in(code, right, "good") == []
        assert errors == []

    def test_the_fixed_example_is_what_the_fix_makes_of_the_wrong_one(self, code: str) -> None:
        bad = example(code, "bad") or ""
        fix = next((problem.fix for problem in found_in(code, bad, "bad") if problem.fix), None)

        assert (edited(bad, fix.edits) if fix else None) == example(code, "fixed")

    def test_a_page_that_promises_a_safe_fix_keeps_it(self, code: str) -> None:
        page = (PAGES / f"{code}.md").read_text(encoding="utf-8")
        bad = example(code, "bad") or ""
        fixed: Any = example(code, "fixed")
        mended = mend(bad, {}).text if code != "not_utf8" else bad

        assert ("--fix" in page) == (mended == fixed)


def test_the_pages_have_one_voice() -> None:
    for code in CODES:
        page = (PAGES / f"{code}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {code}\n"), code
        assert re.findall(r"^## (\w+)$", EXAMPLE.sub("", page), re.MULTILINE) == ["Wrong", "Right"], code


def test_a_document_says_nothing_of_what_it_cannot_know() -> None:
    """The five codes of section 5 that need an authority or a state are never guessed."""
    texts = [example(code, "bad") or "" for code in SHOWN]

    assert {problem.code for text in texts for problem in read_document(text).problems} & SHOWN.keys() == set()
