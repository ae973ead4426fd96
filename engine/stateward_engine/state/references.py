"""References inside stored values: content like any other, never resolved, indexed or checked.

A structured reference is an object with a string under `$ref`; a textual one is a path after a dollar sign. A sole
owner writes and sees its own structured ones without the owner's name; what is stored is always the anchored form.

Source: state.md section 5.
"""

from __future__ import annotations

import re
from operator import is_
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import MalformedPath
from stateward_engine.state.paths import NAME, NUMBER, ROOTS, parse
from stateward_engine.state.view import PLANES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stateward_engine.json_value import Json
    from stateward_engine.state.paths import Path
    from stateward_engine.state.view import ScopeName

REF: Final = "$ref"

_NUMBER: Final = rf"(?:{NUMBER.pattern})"
_MEMBER: Final = rf"\.{NAME.pattern}"
_INDEX: Final = rf"\[{_NUMBER}\]"
_RANGE: Final = rf"\[{_NUMBER}(?::|\.\.){_NUMBER}\]"
# No member directly follows a range: ranges lead to an index, or end the path.
_SELECTORS: Final = rf"(?:{_MEMBER}|{_INDEX}|(?:{_RANGE})+{_INDEX})*(?:{_RANGE})*"
_PATH: Final = rf"(?:{'|'.join(ROOTS)})(?:{_INDEX})?(?:{_MEMBER}{_SELECTORS})?|(?:{'|'.join(PLANES)}){_SELECTORS}"
# The group is atomic: a path whose end is not clean is no mention, rather than a mention of a part of it.
_MENTION: Final = re.compile(rf"(?<![A-Za-z0-9_$.\[\]:-])\$((?>{_PATH}))(?![A-Za-z0-9_$\[-])")


def anchored(value: Json, owner: ScopeName) -> Json:
    """Return a patch or a part of one with every unscoped `$ref` put under its sole owner.

    >>> anchored({"plan": {"$ref": "lazy.plan"}, "site": {"$ref": "https://example.org"}}, "cwd")
    {'plan': {'$ref': 'cwd.lazy.plan'}, 'site': {'$ref': 'https://example.org'}}
    """

    def anchor(text: str) -> str:
        path = address(text)
        return f"{owner}.{text}" if path is not None and path.root is None else text

    return _rewritten(value, anchor)


def relative(value: Json, owner: ScopeName, *, referring: bool = False) -> Json:
    """Return a stored value as its sole owner sees it: current references to the owner lose its name.

    Args:
        value: Any stored value, or a record with its nulls.
        owner: The only wanted owner.
        referring: Whether the value itself stands under `$ref`.

    >>> relative({"$ref": "cwd.lazy.plan"}, "cwd"), relative({"$ref": "cwd[0].lazy.plan"}, "cwd")
    ({'$ref': 'lazy.plan'}, {'$ref': 'cwd[0].lazy.plan'})
    """

    def shorten(text: str) -> str:
        # What is left is unscoped exactly where the name stood before a plane and had no temporal index.
        shorter = text.removeprefix(f"{owner}.")
        path = address(shorter)
        return shorter if path is not None and path.root is None else text

    return shorten(value) if referring and isinstance(value, str) else _rewritten(value, shorten)


def structured(value: Json) -> Iterator[Path]:
    """Yield the address of every structured reference in a value; strings that are no paths are none."""
    pending = [value]
    while pending:
        container = pending.pop()
        if isinstance(container, dict):
            text = container.get(REF)
            if isinstance(text, str) and (path := address(text)) is not None:
                yield path
            pending.extend(container.values())
        elif isinstance(container, list):
            pending.extend(container)


def mentions(text: str) -> list[Path]:
    """Return the addresses that a text mentions: a dollar sign directly followed by the longest path there.

    >>> [path.source for path in mentions("see $cwd.lazy.x[0]. and ($lazy.y) not US$lazy.z or $lazy.z[oops]")]
    ['cwd.lazy.x[0]', 'lazy.y']
    """
    return [parse(text[slice(*span)]) for span in mention_spans(text)]


def mention_spans(text: str) -> list[tuple[int, int]]:
    """Return where the addresses stand that a text mentions, without their dollar signs."""
    return [found.span(1) for found in _MENTION.finditer(text)] if "$" in text else []


def address(text: str) -> Path | None:
    """Return the path that a whole string is, or `None`."""
    try:
        return parse(text)
    except MalformedPath:
        return None


def _rewritten(value: Json, rewrite: Callable[[str], str]) -> Json:
    """Return `value` with `rewrite` applied to every string under `$ref`; what does not change is shared."""
    if isinstance(value, dict):
        members = {key: _rewritten(member, rewrite) for key, member in value.items()}
        if isinstance(reference := value.get(REF), str) and (text := rewrite(reference)) != reference:
            members[REF] = text
        return value if all(map(is_, members.values(), value.values())) else members
    if isinstance(value, list):
        elements = [_rewritten(element, rewrite) for element in value]
        return value if all(map(is_, elements, value)) else elements
    return value
