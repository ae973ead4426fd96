"""What would change in a file, as a patch that `patch` and `git apply` take."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from stateward.printable import printable_lines

if TYPE_CHECKING:
    from collections.abc import Iterator


def difference(name: str, before: str, after: str, *, exact: bool) -> str:
    """Return the difference of two texts.

    Args:
        name: Of the file.
        before: What it says.
        after: What it would say.
        exact: Whether control characters stay, as a program needs it; people get them escaped.
    """
    patch = difflib.unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}")
    text = "".join(_ended(patch))
    return text if exact else printable_lines(text)


def _lines(text: str) -> list[str]:
    # At line feeds alone, as `patch` does.
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
