"""Ranges in a real Neovim, wherever a workspace is and however its lines end."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from real_editors import DOCUMENT, ROW
from test_neovim_commands import worked

from wire import Daemon

if TYPE_CHECKING:
    from pathlib import Path

LINE = DOCUMENT.splitlines().index(ROW)
MENDED = re.compile(rf"{re.escape(ROW)}\n  <!-- loopx:todo todo_id=todo_\w+ -->\n")


def document(folder: Path, newline: str = "\n") -> Path:
    """Write the document of a project, and return its path."""
    folder.mkdir(parents=True)
    (folder / ".git").mkdir()
    path = folder / "ACTIVE_GOAL_STATE.md"
    path.write_text(DOCUMENT, encoding="utf-8", newline=newline)
    return path


def test_neovim_marks_and_mends_the_right_bytes_everywhere(tmp_path: Path) -> None:
    """DM-007: of the same document each time; what is beyond ASCII stands in its rows, in paths and in both."""
    with Daemon(tmp_path) as daemon:
        real = {
            "plain": document(tmp_path / "plain"),
            "spaces and Chinese": document(tmp_path / "our work" / "\u9879\u76ee \N{WATER WAVE} 100%"),
            "CRLF": document(tmp_path / "crlf", "\r\n"),
            "CRLF in Chinese": document(tmp_path / "\u9879\u76ee crlf", "\r\n"),
            "linked": document(tmp_path / "real"),
        }
        (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
        opened = {**real, "linked": tmp_path / "link" / "ACTIVE_GOAL_STATE.md"}

        told = worked(
            "neovim_places.lua", daemon, PLACES=json.dumps({name: str(path) for name, path in opened.items()})
        )

    assert told.get("failed") is None
    expected = [LINE, 0, LINE, len(ROW.encode())]
    # Neovim names a buffer by the path without links.
    assert told["places"] == {name: {"range": expected, "root": str(path.parent)} for name, path in real.items()}
    for name, path in real.items():
        written = path.read_bytes().decode()
        ends = "\r\n" if "CRLF" in name else "\n"
        assert written.count("\n") == written.count(ends), name
        assert MENDED.search(written.replace(ends, "\n")), written
    assert (tmp_path / "link").is_symlink()
