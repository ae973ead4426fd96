"""The client for Emacs as a package: what its tools say of it, and what it says where no server can be had."""

from __future__ import annotations

import re
import shutil
import sys
from typing import TYPE_CHECKING, Final

import pytest
from packaging.version import Version
from real_editors import CLIENTS, EDITORS

import stateward_protocol

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

CLIENT: Final = CLIENTS / "emacs" / "stateward-mode.el"
NAMES: Final = ("emacs", pytest.param("emacs-backports", marks=pytest.mark.fetched))
PACKAGES: Final = "(progn (require 'package) (package-initialize))"
# Its check of verbs takes "changes" for a verb that is none.
CHECKDOC: Final = (
    f'(progn (require \'checkdoc) (setq checkdoc-verb-check-experimental-flag nil) (checkdoc-file "{CLIENT}"))'
)
# Opens a goal document, and ends once a server or a word of the client is there.
OPEN: Final = """(progn
  (add-hook 'stateward-mode-hook #'stateward-ensure)
  (setq eglot-sync-connect 30)
  (find-file "ACTIVE_GOAL_STATE.md")
  (run-hooks 'post-command-hook))"""
# A server that knows its version and nothing else.
OLD: Final = """\
import json, sys
while head := sys.stdin.buffer.readline():
    sys.stdin.buffer.readline()
    asked = json.loads(sys.stdin.buffer.read(int(head.split(b":")[1])))
    if "id" in asked:
        result = {"capabilities": {}, "serverInfo": {"name": "stateward", "version": "0.0.9"}}
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
        sys.stdout.buffer.flush()
"""


def evaluate(name: str, *expressions: str) -> subprocess.CompletedProcess[str]:
    """Evaluate expressions in an Emacs."""
    told = [part for expression in (PACKAGES, *expressions) for part in ("--eval", expression)]
    return EDITORS[name].program().run("-q", "--batch", *told)


@pytest.mark.parametrize("name", NAMES)
def test_it_compiles_without_a_warning(tmp_path: Path, name: str) -> None:
    copy = shutil.copy(CLIENT, tmp_path)

    done = evaluate(
        name, "(setq byte-compile-error-on-warn t)", f'(unless (byte-compile-file "{copy}") (kill-emacs 1))'
    )

    assert not done.returncode, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_its_docstrings_are_as_checkdoc_wants_them(name: str) -> None:
    done = evaluate(name, CHECKDOC)

    assert not done.returncode
    assert "Warning" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_command_can_be_called_before_the_package_is_loaded(tmp_path: Path, name: str) -> None:
    loads = tmp_path / "loaddefs.el"
    shutil.copy(CLIENT, tmp_path)
    # Emacs 28 has the older of both.
    generate = (
        f'(if (require (quote loaddefs-gen) nil t) (loaddefs-generate "{tmp_path}" "{loads}")'
        f' (require (quote autoload)) (setq generated-autoload-file "{loads}")'
        f' (update-directory-autoloads "{tmp_path}"))'
    )

    done = evaluate(name, generate)

    assert not done.returncode, done.stderr
    assert {"stateward-mode", "stateward-ensure", "stateward-browse", "stateward-read-state"} <= set(
        re.findall(r"\(autoload '([\w-]+)", loads.read_text("utf-8"))
    )


def opened(name: str, folder: Path, command: list[str]) -> str:
    """Return what a person is told who opens a goal document with a command for the server."""
    (folder / "ACTIVE_GOAL_STATE.md").write_text("# Goal\n", encoding="utf-8")
    words = " ".join(f'"{word}"' for word in command)
    load = f"""(progn (load "{CLIENT}" nil t) (setq stateward-command '({words}) default-directory "{folder}/"))"""
    return evaluate(name, load, OPEN).stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_server_is_told_of_in_one_line(tmp_path: Path, name: str) -> None:
    said = opened(name, tmp_path, [f"{tmp_path}/stateward", "lsp"])

    assert [line for line in said.splitlines() if "stateward" in line and "Loading" not in line] == [
        (
            f"Error (stateward): there is no {tmp_path}/stateward: install it with `pip install stateward', "
            "or set `stateward-command'"
        )
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_is_too_old_is_told_of_in_one_line(tmp_path: Path, name: str) -> None:
    old = tmp_path / "old.py"
    old.write_text(OLD, encoding="utf-8")

    said = opened(name, tmp_path, [sys.executable, str(old)])

    assert [line for line in said.splitlines() if line.startswith("Error")] == [
        (
            "Error (stateward): stateward 0.0.9 is too old, this client needs 0.1.0: "
            "`pip install --upgrade stateward', then M-x eglot-reconnect"
        )
    ]


def test_it_needs_no_later_server_than_this_one() -> None:
    [needed] = re.findall(r'stateward-needed-version "([\d.]+)"', CLIENT.read_text("utf-8"))

    assert Version(needed) <= Version(stateward_protocol.__version__)


def test_its_keys_are_in_its_readme() -> None:
    readme = CLIENT.with_name("README.md").read_text("utf-8")
    bound = re.findall(r"\(kbd \"(.*?)\"\) #'([\w-]+)\)", CLIENT.read_text("utf-8"))

    assert bound
    assert [(key, command) for key, command in bound if f"| `{key}` | `{command}` |" not in readme] == []
