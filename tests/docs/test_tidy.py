"""Properties of the code itself, checked like any other behavior."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("engine", "protocol", "daemon")
MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60
NAMES_BANNED = {"utils", "helpers", "common", "misc", "manager", "base", "core", "service", "processor"}
# Paths of a machine, and marks of what is not done: the project speaks of itself alone.
FOREIGN = re.compile(rb"/(?:work|root)/|/home/(?!ada)|\bTODO\b|\bFIXME\b")


def modules() -> list[tuple[Path, ast.Module]]:
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    return [(file, ast.parse(file.read_text(encoding="utf-8"), str(file))) for file in files]


def test_modules_and_functions_fit_a_reader() -> None:
    too_long = []
    for file, tree in modules():
        lines = len(file.read_text(encoding="utf-8").splitlines())
        if lines > MODULE_LINES_MAX:
            too_long.append(f"{file.relative_to(ROOT)}: {lines} lines")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES_MAX:
                    too_long.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name}: {lines} lines")

    assert too_long == []


def test_no_module_or_class_is_named_for_what_it_is_not() -> None:
    named = [file.stem for file, _ in modules()]
    named += [node.name.lower() for _, tree in modules() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]

    assert [name for name in named if name in NAMES_BANNED] == []


def test_imports_point_down() -> None:
    """The contracts in `.importlinter` hold; each has a name that says what it keeps apart.

    LX-152: what reads Markdown is a module of its own that nothing else of a goal hangs on.
    """
    # In a process of its own: it reconfigures logging.
    lint = [str(Path(sys.executable).with_name("lint-imports")), "--config", str(ROOT / ".importlinter"), "--no-cache"]
    done = subprocess.run(lint, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


def test_the_project_speaks_of_itself_alone() -> None:
    listing = ["/usr/bin/env", "git", "ls-files", "-z"]
    tracked = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout
    files = [Path(name.decode()) for name in tracked.split(b"\0") if name]
    found = [
        f"{file}: {match[0].decode()}"
        for file in files
        if "conformance" not in file.parts and file != Path(__file__).relative_to(ROOT) and (ROOT / file).is_file()
        for match in [FOREIGN.search((ROOT / file).read_bytes())]
        if match
    ]

    assert found == []
