"""The documents say what is true: every method, error, setting and problem code stands in them."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from pathlib import Path

import pytest

from stateward_daemon import handlers
from stateward_daemon.dispatch import handler_of
from stateward_daemon.lsp.dispatch import FEATURES
from stateward_daemon.settings import ENVIRONMENT_PREFIX, Settings
from stateward_engine.goals.codes import CODES, page_of
from stateward_engine.goals.contract import RECORD_FIELDS, WITHOUT_MARKDOWN
from stateward_engine.goals.document import read_document
from stateward_engine.goals.fields import FIELDS
from stateward_engine.goals.meanings import MEANINGS
from stateward_engine.goals.regions import LEGACY_HEADINGS, STRICT_HEADINGS
from stateward_engine.goals.render import render
from stateward_engine.goals.tokens import TAKES
from stateward_protocol.errors import CATEGORIES
from stateward_protocol.messages import StrictParams
from stateward_protocol.methods import METHODS, Kind
from stateward_protocol.schema import errors_page, methods_page, schema

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
# Links to files of this repository; those to the web are somebody else's.
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")
GENERATED = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def text_of_all_tests() -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "tests").rglob("*.py")))


def problems_page() -> str:
    """Return the table of problem codes, as Markdown."""
    rows = [f"| [`{name}`](problems/{name}.md) | {_gravity(name)} | {code.meaning} |" for name, code in CODES.items()]
    return "\n".join(["| code | severity | meaning |", "|---|---|---|", *rows])


def _gravity(code: str) -> str:
    return CODES[code].severity + (", refused" if CODES[code].refuses else "")


def problem_page(code: str) -> str:
    """Return what a page says of its code before it explains it, as Markdown."""
    meaning = CODES[code].meaning
    index = "[problems of goal documents](../goal-documents.md#problems)"
    return f"{_gravity(code).capitalize()}: {meaning}.\nOne of the {index}."


def sections_page() -> str:
    """Return the words that make a heading one of todos, as Markdown."""
    rows = [f"| {role} | {', '.join(f'`{word}`' for word in words)} |" for role, words in LEGACY_HEADINGS]
    return "\n".join(["| section | a heading with one of |", "|---|---|", *rows])


def headings_page() -> str:
    """Return the headings of the strict scan, as Markdown."""
    roles = dict.fromkeys(STRICT_HEADINGS.values())
    headings = {role: [f"`{text}`" for text, of in STRICT_HEADINGS.items() if of == role] for role in roles}
    rows = [f"| {role} | {', '.join(texts)} |" for role, texts in headings.items()]
    return "\n".join(["| role | heading, in upper or lower case |", "|---|---|", *rows])


def keys_page() -> str:
    """Return the metadata keys and what is known of each, as Markdown."""
    takes = {key: phrase.replace("|", r"\|") for key, phrase in TAKES.items()}
    rows = [f"| `{key}` | {MEANINGS[key]} | {takes[key]} |" for key in FIELDS]
    return "\n".join(["| key | what it means | what it takes |", "|---|---|---|", *rows])


def unwritten_page() -> str:
    """Return the fields of a record that a rendering leaves out, as Markdown."""
    return ", ".join(f"`{field}`" for field in RECORD_FIELDS if field in WITHOUT_MARKDOWN) + "."


def editor_methods_page() -> str:
    """Return the table of the methods of the language server, as Markdown: what their handler files say of them."""
    rows = [f"| {_about(row.handle.__module__)} |" for row in FEATURES.values()]
    return "\n".join(["| method | what it is |", "|---|---|", *rows])


def _about(module: str) -> str:
    first_line = (sys.modules[module].__doc__ or "").partition("\n")[0]
    return first_line.removesuffix(".").replace(": ", " | ", 1)


GENERATED_PAGES = [
    DOCS / "protocol.md",
    DOCS / "editors.md",
    DOCS / "goal-documents.md",
    *sorted(DOCS.glob("problems/*.md")),
]


@pytest.mark.parametrize("page", GENERATED_PAGES, ids=lambda page: page.stem)
def test_golden_parts_of_a_page_are_what_the_tables_say(page: Path) -> None:
    parts = {
        "editor_methods": editor_methods_page,
        "errors": errors_page,
        "headings": headings_page,
        "keys": keys_page,
        "methods": methods_page,
        "problem": lambda: problem_page(page.stem),
        "problems": problems_page,
        "sections": sections_page,
        "unwritten": unwritten_page,
    }
    text = page.read_text(encoding="utf-8")
    wanted = GENERATED.sub(lambda match: f"{match[1]}{parts[match[2]]()}\n{match[3]}", text)
    if os.environ.get("STATEWARD_GOLDEN") == "write":
        page.write_text(wanted, encoding="utf-8")

    assert page.read_text(encoding="utf-8") == wanted


def test_every_link_of_a_page_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    links = [(page, link) for page in pages for link in LINK.findall(page.read_text(encoding="utf-8"))]

    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_the_marked_region_of_the_page_is_one() -> None:
    text = (DOCS / "goal-documents.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```md marked-region\n(.*?)```", text, re.DOTALL)
    document = read_document(example)

    assert document.refusal is None
    assert [(region.role, region.marked) for region in document.regions] == [("agent", True)]
    assert [todo.todo_id for todo in document.todos] == ["todo_rollback"]


def test_the_rendering_of_the_page_is_one() -> None:
    text = (DOCS / "goal-documents.md").read_text(encoding="utf-8")
    (records,) = re.findall(r"```json records\n(.*?)```", text, re.DOTALL)
    (section,) = re.findall(r"```md marked-record\n(.*?)```", text, re.DOTALL)

    assert section in render("## Agent Todo\n", json.loads(records)["records"], "file:store-1:42").markdown


def test_every_problem_code_has_a_page_under_its_address() -> None:
    assert {file.stem for file in DOCS.glob("problems/*.md")} == CODES.keys()
    assert {code: page_of(code).rpartition("/")[2] for code in CODES} == {code: f"{code}.md" for code in CODES}


def test_every_problem_code_has_a_test() -> None:
    text = text_of_all_tests() + "".join(
        page.read_text(encoding="utf-8") for page in (ROOT / "tests" / "goals").rglob("*.md")
    )

    assert [code for code in CODES if code not in text] == []


def test_each_method_has_one_row_one_handler_file_and_one_handler() -> None:
    files = {file.stem for file in Path(inspect.getfile(handlers)).parent.glob("*.py")} - {"__init__"}

    assert files == set(METHODS)
    assert all(callable(handler_of(method)) for method in METHODS.values())


def test_the_file_of_a_method_of_editors_says_which_it_is() -> None:
    about = {method: _about(row.handle.__module__) for method, row in FEATURES.items()}

    assert [method for method, line in about.items() if not line.startswith(f"`{method}` | ")] == []


def test_writes_refuse_members_that_they_do_not_know() -> None:
    """DM-012, LX-012: an instruction that is ignored is lost."""
    writing = [method for method in METHODS.values() if method.kind in (Kind.WRITE, Kind.GOAL)]

    assert [method.name for method in writing if not issubclass(method.params, StrictParams)] == []


def test_each_method_and_each_error_category_is_tested() -> None:
    text = text_of_all_tests()

    assert [name for name in (*METHODS, *CATEGORIES) if f'"{name}"' not in text] == []


def test_the_schema_names_every_method() -> None:
    assert set(schema()["methods"]) == set(METHODS)


@pytest.mark.parametrize("name", Settings.__struct_fields__)
def test_each_setting_is_documented(name: str) -> None:
    page = (DOCS / "operating.md").read_text(encoding="utf-8")

    assert f"`{name}`" in page
    assert f"`{ENVIRONMENT_PREFIX}{name.upper()}`" in page


@pytest.mark.parametrize("file", sorted(ROOT.glob("changelog.d/*.md")), ids=lambda file: file.name)
def test_a_changelog_fragment_is_named_for_its_section(file: Path) -> None:
    assert re.fullmatch(r"[\w-]+\.(security|removed|deprecated|added|changed|fixed)\.md", file.name)
