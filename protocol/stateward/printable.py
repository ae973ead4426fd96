"""Text from elsewhere, made safe to show: the one escape function for terminals and messages.

State, documents and logs hold what other programs wrote. Shown raw, a control character could move the cursor, retitle
the window or fill the clipboard, and a direction mark could make text read as something else.
Source: security.md rows 23 and 24.
"""

from __future__ import annotations

import re
from typing import Final

_UNPRINTABLE: Final = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0, DEL and C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, embeddings, overrides and isolates
    "\u2028\u2029"  # separators that some programs take for a new line
    "\ud800-\udfff"  # unpaired surrogates, which no stream can write
    "]"
)


def printable(text: str) -> str:
    r"""Return `text` on one line, with each character that a terminal would obey written as `\uXXXX`.

    That spelling keeps JSON text valid JSON with the same value.

    >>> printable("red \x1b[31m alert\n")
    'red \\u001b[31m alert\\u000a'
    """
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printable_lines(text: str) -> str:
    """Return `text` as `printable` does, but keep its line feeds: they are the caller's own layout."""
    return "\n".join(map(printable, text.split("\n")))
