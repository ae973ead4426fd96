"""The clients for Vim and Helix in their real editors, which `make editors` fetches; and what there is for Zed."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Final

import helix_editor
import pytest
from real_editors import CLIENTS, picture, work
from test_real_editors import HEADINGS, IN_EACH

if TYPE_CHECKING:
    from pathlib import Path

VIM: Final = (*IN_EACH, *(f"a program that is {state} is told in one line" for state in ("missing", "too old")))
# Where clients write the oldest version that they work with.
WRITTEN: Final = {
    "neovim": "lua/stateward/server.lua",
    "vim": "ale_linters/markdown/stateward.vim",
}


@pytest.mark.fetched
def test_vim_with_ale(tmp_path: Path) -> None:
    """DM-001, DM-007."""
    report = work("vim", tmp_path)

    assert sorted(report.passed) == sorted(VIM), report.failed


@pytest.mark.fetched
def test_helix(tmp_path: Path) -> None:
    """DM-001, DM-007."""
    report = helix_editor.work(tmp_path)

    assert tuple(report.passed) == helix_editor.CHECKS, report.failed


@pytest.mark.fetched
@pytest.mark.parametrize("name", ["vim", "helix"])
def test_a_person_sees_what_is_wrong_there(tmp_path: Path, name: str) -> None:
    seen = picture(name, tmp_path) if name == "vim" else helix_editor.picture(tmp_path)

    assert "todo_rollback stands on 2 rows" in seen, seen


@pytest.mark.parametrize("name", ["helix", "zed"])
def test_the_other_clients_are_explained_under_the_same_headings(name: str) -> None:
    readme = (CLIENTS / name / "README.md").read_text(encoding="utf-8")

    assert [line[3:] for line in readme.splitlines() if line.startswith("## ")] == HEADINGS


def test_clients_that_look_at_versions_need_the_same_one() -> None:
    needs = re.compile(r"needs = ['\"]([\d.]+)", re.IGNORECASE)
    needed = {name: needs.findall((CLIENTS / name / path).read_text("utf-8")) for name, path in WRITTEN.items()}

    assert needed == {name: ["0.1.0"] for name in WRITTEN}


def test_the_extension_for_zed_is_one() -> None:
    folder = CLIENTS / "zed"
    extension, crate = (tomllib.loads((folder / name).read_text("utf-8")) for name in ("extension.toml", "Cargo.toml"))

    assert (extension["id"], extension["schema_version"]) == ("stateward", 1)
    assert extension["version"] == crate["package"]["version"]
    assert extension["language_servers"] == {"stateward": {"name": "stateward", "languages": ["Markdown"]}}
    assert crate["lib"]["crate-type"] == ["cdylib"]
    assert "register_extension!(Stateward)" in (folder / "src" / "lib.rs").read_text("utf-8")


def test_helix_starts_the_server_for_goal_documents_alone() -> None:
    said = tomllib.loads((CLIENTS / "helix" / "languages.toml").read_text("utf-8"))

    assert said["language-server"]["stateward"] == {"command": "stateward", "args": ["lsp"]}
    [language] = said["language"]
    assert language["file-types"] == [{"glob": "ACTIVE_GOAL_STATE.md"}]
    assert language["language-servers"] == ["stateward"]
