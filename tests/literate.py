"""Literate cases: Markdown pages that are both manual and test.

A page is a row of sections. A section with fenced blocks whose info string has a second word (``json patch``) is one
case; its blocks reach the test by that word. A section without such blocks is prose.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from _pytest.mark.structures import ParameterSet

HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
BLOCK = re.compile(
    r"^(?P<fence>```+)(?P<language>\w+) (?P<name>[\w-]+)\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL
)


def load_cases(folder: Path) -> list[ParameterSet]:
    """Return one pytest parameter per case below `folder`: a dict from block name to its JSON value or its text."""
    cases = []
    for file in sorted(folder.glob("*.md")):
        # Headings inside fenced blocks belong to the example, so the page is cut at headings outside of blocks only.
        text = file.read_text(encoding="utf-8")
        blocks = [(match.start(), match.end()) for match in BLOCK.finditer(text)]
        heads = [m for m in HEADING.finditer(text) if not any(start <= m.start() < end for start, end in blocks)]
        for head, following in zip(heads, [*heads[1:], None], strict=True):
            body = text[head.end() : following.start() if following else len(text)]
            case: dict[str, Any] = {
                match["name"]: json.loads(match["body"]) if match["language"] == "json" else match["body"]
                for match in BLOCK.finditer(body)
            }
            if case:
                cases.append(pytest.param(case, id=f"{file.stem}/{head[1]}"))
    return cases
