"""Prose: what an editor shows in words, as Markdown or as plain text.

What people and programs wrote into documents and state is quoted as code, so that it is neither a link nor markup, and
cannot look like a sentence of ours. Source: security.md rows 24 and 25.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from lsprotocol import types as lsp

from stateward.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

# A run of backticks, and the text up to one that is as long: CommonMark code, which shows everything as it stands.
CODE: Final = re.compile(r"(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)")
# What could be markup elsewhere; the last three make links of addresses.
ACTIVE: Final = re.compile(r"[\\`*\[\]<>&~|]|\b_(?=\S)|(?<=\S)_\b|(?<=:)/(?=/)|(?<=\bwww)\.|@")
BACKTICKS: Final = re.compile("`+")


class Prose(NamedTuple):
    """One way to write.

    Attributes:
        markdown: Whether Markdown is shown; otherwise the text as it is.
    """

    markdown: bool

    def code(self, text: str) -> str:
        """Return a text from elsewhere, on one line.

        >>> Prose(True).code("[a](command:b)"), Prose(True).code("a`b"), Prose(False).code("a`b")
        ('`[a](command:b)`', '`` a`b ``', 'a`b')
        """
        shown = printable(text)
        if not self.markdown or not shown.strip():
            return shown
        fence = "`" * (max(map(len, BACKTICKS.findall(shown)), default=0) + 1)
        gap = " " if "`" in shown else ""
        return f"{fence}{gap}{shown}{gap}{fence}"

    def sentence(self, text: str) -> str:
        r"""Return a sentence of ours with code in backticks, of which parts may come from elsewhere.

        >>> Prose(True).sentence("write `a_b`, see [x](y)")
        'write `a_b`, see \\[x\\](y)'
        >>> Prose(True).sentence("0-9, _ and -, not _this_")
        '0-9, _ and -, not \\_this\\_'
        """
        shown = printable(text)
        if not self.markdown:
            return shown
        pieces, at = [], 0
        for code in CODE.finditer(shown):
            pieces += [_inactive(shown[at : code.start()]), code[0]]
            at = code.end()
        return "".join([*pieces, _inactive(shown[at:])])

    def link(self, text: str, address: str) -> str:
        """Return a name of ours that leads to an address of ours."""
        return f"[{text}]({address})" if self.markdown else f"{text}: {address}"

    def strong(self, text: str) -> str:
        """Return a name of ours that stands out."""
        return f"**{text}**" if self.markdown else text

    def content(self, paragraphs: Iterable[str]) -> lsp.MarkupContent:
        """Return paragraphs as a client takes them."""
        kind = lsp.MarkupKind.Markdown if self.markdown else lsp.MarkupKind.PlainText
        return lsp.MarkupContent(kind, "\n\n".join(paragraphs))


def _inactive(text: str) -> str:
    return ACTIVE.sub(r"\\\g<0>", text)
