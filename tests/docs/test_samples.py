"""What a page shows is what a reader gets: console samples, Python blocks and answers are run as they are printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import stateward
from private_places import folder, user
from stateward_daemon.cli.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["folder", "user"]
pytestmark = pytest.mark.e2e

ROOT: Final = Path(__file__).parent.parent.parent
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
PROTOCOL: Final = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
PATCH: Final = re.compile(r"These are answers for the patch `(.*?)`")
ANSWER: Final = re.compile(r"```json params of (\w+)\n(.*?)\n```\n\n```json result\n(.*?)\n```", re.DOTALL)


@pytest.fixture(autouse=True)
def store(user: None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # noqa: ARG001 - first
    """A fresh store whose daemon is ended, and `stateward` on the path."""
    monkeypatch.setenv("STATEWARD_STORE", str(folder / "store"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    yield
    subprocess.run(["stateward", "daemon", "stop"], capture_output=True, check=True)  # noqa: S607 - as a reader types it


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def fits(line: str, printed: str) -> bool:
    """Whether a printed line is the one of a sample, where an ellipsis stands for the rest of it."""
    return printed.startswith(line.removesuffix("…")) if line.endswith("…") else printed == line


@pytest.mark.parametrize("page", ["README.md", "docs/goal-documents.md", "docs/todos.md"])
def test_the_console_samples_of_a_page_print_what_they_show(page: str, folder: Path) -> None:
    """One after the other. Pages that show files of the project are read in it, others in a directory of their own."""
    project = folder / "project"
    project.mkdir()
    text = (ROOT / page).read_text(encoding="utf-8")
    _, *turns = re.split(r"^\$ ", "".join(blocks(text, "console")), flags=re.MULTILINE)
    for turn in turns:
        command, *lines = turn.splitlines()
        place = project if page == "docs/todos.md" else ROOT
        ran = subprocess.run(["/bin/sh", "-c", f"{command} 2>&1"], cwd=place, capture_output=True, check=False)
        printed = ran.stdout.decode().splitlines()

        assert len(printed) == len(lines), printed
        assert [(line, found) for line, found in zip(lines, printed, strict=True) if not fits(line, found)] == []


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_python_blocks_of_a_page_run(page: str, folder: Path) -> None:
    """One after the other, as a reader would paste them."""
    project = folder / "project"
    project.mkdir()
    program = "\n".join(blocks((ROOT / page).read_text(encoding="utf-8"), "python"))
    command = [sys.executable, "-W", "error", "-c", program]
    ran = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_answers_of_the_protocol_page_are_given(folder: Path) -> None:
    (patch,) = PATCH.findall(PROTOCOL)
    shown = ANSWER.findall(PROTOCOL)
    with stateward.connect(cwd=folder, store=folder / "store", start="embedded") as client:
        client.patch_state(json.loads(patch))
        given: list[Any] = [getattr(client, method)(**json.loads(params)) for method, params, _ in shown]

    assert {method for method, _, _ in shown} == {"read_state", "goal_projection"}
    assert given == [json.loads(result) for _, _, result in shown]


def test_the_readme_lists_the_verbs_that_work_in_process() -> None:
    """By name, or by the first word of all that begin with it."""
    listed = re.search(r"with `--embedded` the verbs (.*?) work in-process", README)
    able = {name for name, verb in VERBS.items() if "--embedded" in verb.parser().format_help()}

    assert listed is not None
    named = re.findall(r"`([\w -]+)`", listed[1])
    assert {verb for name in named for verb in able if verb == name or verb.startswith(f"{name} ")} == able
    assert [name for name in named if not any(f"{verb} ".startswith(f"{name} ") for verb in able)] == []
