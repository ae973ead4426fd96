"""A grammar in EBNF, as a recogniser and as a source of texts: what the hand-written parser is compared with.

It knows nothing of paths, and tries every way to read a text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Mapping

# A literal, the name of a rule, or a kind of node with its parts.
Node: TypeAlias = "str | tuple[str, tuple[Node, ...]]"

_COMMENT: Final = re.compile(r"\(\*.*?\*\)")
_TOKEN: Final = re.compile(r'"[^"]*"|[a-z]+|[=|,;()\[\]{}]')
_CLOSING: Final = {"[": "]", "{": "}", "(": ")"}
_KINDS: Final = {"[": "option", "{": "repetition", "(": "sequence"}
# More turns of a repetition show nothing new.
_TURNS_MAX: Final = 3


@dataclass(frozen=True)
class Grammar:
    """The rules of an EBNF text, and the characters that its undefined names stand for."""

    rules: Mapping[str, Node]
    characters: Mapping[str, str]

    def accepts(self, rule: str, text: str) -> bool:
        """Tell whether a rule derives the whole of `text`."""
        return len(text) in self.ends(rule, text, 0)

    def ends(self, node: Node, text: str, start: int) -> set[int]:
        """Return every place where a reading of `node` that begins at `start` can end."""
        if isinstance(node, str):
            if node.startswith('"'):
                literal = node[1:-1]
                return {start + len(literal)} if text.startswith(literal, start) else set()
            if node in self.characters:
                return {start + 1} if text[start : start + 1] and text[start] in self.characters[node] else set()
            return self.ends(self.rules[node], text, start)
        kind, parts = node
        if kind == "choice":
            return {end for part in parts for end in self.ends(part, text, start)}
        ends = {start}
        if kind == "repetition":
            found = ends
            while found := {end for at in found for part in parts for end in self.ends(part, text, at)} - ends:
                ends |= found
            return ends
        for part in parts:
            ends = {end for at in ends for end in self.ends(part, text, at)}
        return ends | {start} if kind == "option" else ends

    def texts(self, node: Node) -> st.SearchStrategy[str]:
        """Return the texts that `node` derives."""
        if isinstance(node, str):
            if node.startswith('"'):
                return st.just(node[1:-1])
            if node in self.characters:
                return st.sampled_from(self.characters[node])
            return self.texts(self.rules[node])
        kind, parts = node
        if kind == "choice":
            return st.one_of([self.texts(part) for part in parts])
        sequence = st.tuples(*[self.texts(part) for part in parts]).map("".join)
        if kind == "option":
            return st.just("") | sequence
        return st.lists(sequence, max_size=_TURNS_MAX).map("".join) if kind == "repetition" else sequence


def read_ebnf(text: str, characters: Mapping[str, str]) -> Grammar:
    """Return the grammar of a text in EBNF; its comments are left out.

    Args:
        text: Rules, each with its semicolon, and nothing else.
        characters: For each name without a rule, the characters that it stands for.
    """
    tokens = _TOKEN.findall(_COMMENT.sub("", text))
    rules: dict[str, Node] = {}
    while tokens:
        name, equals = tokens.pop(0), tokens.pop(0)
        assert equals == "="
        rules[name] = _choice(tokens)
        assert tokens.pop(0) == ";"
    return Grammar(rules, characters)


def _choice(tokens: list[str]) -> Node:
    parts = [_sequence(tokens)]
    while tokens[0] == "|":
        tokens.pop(0)
        parts.append(_sequence(tokens))
    return ("choice", tuple(parts))


def _sequence(tokens: list[str]) -> Node:
    parts = [_item(tokens)]
    while tokens[0] == ",":
        tokens.pop(0)
        parts.append(_item(tokens))
    return ("sequence", tuple(parts))


def _item(tokens: list[str]) -> Node:
    token = tokens.pop(0)
    if token not in _CLOSING:
        return token
    inner = _choice(tokens)
    assert tokens.pop(0) == _CLOSING[token]
    return (_KINDS[token], (inner,))
