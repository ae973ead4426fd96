"""Read paths: the whole grammar of state.md section 3, parsed by hand, one method per production.

::

    path      = scoped | unscoped ;
    scoped    = root, [ "[", number, "]" ], [ member, { selector } ] ;
    root      = "effective" | "global" | "cwd" | "session" ;
    unscoped  = plane, { selector } ;
    plane     = "intents" | "strategy" | "tactics" | "artifacts" | "response" | "lazy" ;
    selector  = member | index | range ;                 (* no member directly after a range *)
    member    = ".", name ;
    index     = "[", number, "]" ;
    range     = "[", number, ( ":" | ".." ), number, "]" ;
    name      = ( letter | "_" | "$" ), { letter | digit | "_" | "$" | "-" } ;   (* ASCII only *)
    number    = "0" | ( nonzero, { digit } ) ;

Numbers may be arbitrarily long, so they stay digit strings: two addresses are equal when their digits are, and
`position_of` makes of them the number that array positions are compared with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from stateward_engine.errors import MalformedPath
from stateward_engine.state.view import PLANES, SCOPES, ScopeName

if TYPE_CHECKING:
    from collections.abc import Sequence

Root: TypeAlias = Literal["effective", "global", "cwd", "session"]
Digits: TypeAlias = str

ROOTS: Final[tuple[Root, ...]] = ("effective", *SCOPES)
# No array is this long, so every longer digit string means "outside". Turning digits into an integer takes time that
# grows with the square of their number, and some interpreters refuse to.
DIGITS_MAX: Final = 18

# Clients read the same few paths again and again, and to parse one is a third of what reading it takes.
KEPT_MAX: Final = 256
# A longer path is parsed each time, so that those that are kept stay within a few megabytes whatever clients send.
KEPT_LENGTH_MAX: Final = 256

NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
NUMBER: Final = re.compile(r"0|[1-9][0-9]*")
_MEMBERS: Final = re.compile(rf"(?:\.{NAME.pattern})+")

_A_FIRST_WORD: Final = f"a root ({', '.join(ROOTS)}) or a plane ({', '.join(PLANES)})"
_A_NAME: Final = (
    "a name of ASCII letters, digits, '_', '$' and '-' that starts with no digit or '-' "
    "(an element is written [0]; other keys are read through their parent)"
)
_A_NUMBER: Final = (
    "a number of ASCII digits without sign, space or leading zero "
    "(a key is written .name, or read through its parent when it is no name)"
)
_AFTER_ROOT: Final = "'.' and a plane, or the end"
_AFTER_RANGE: Final = "'[' or the end (no member follows a range)"
_NEXT_SELECTOR: Final = "'.', '[' or the end"


class Member(NamedTuple):
    """`.name`: one member of an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


class Index(NamedTuple):
    """`[n]`: one element of an array, counted from 0."""

    digits: Digits

    def __str__(self) -> str:
        return f"[{self.digits}]"


class Range(NamedTuple):
    """`[a:b]` or `[a..b]`: the elements from `a` up to, not including, `b`."""

    start: Digits
    end: Digits

    def __str__(self) -> str:
        return f"[{self.start}:{self.end}]"


Selector: TypeAlias = Member | Index | Range


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path. Two paths are equal when they are the same address, whatever their spelling.

    Attributes:
        root: The first word, or `None` for an unscoped path.
        offset: Accepted transitions back from now; `0` is the current boundary.
        selectors: What follows the root; an unscoped path begins with the member that its plane is.
        indexed: Whether the offset was written: `cwd[0]` says what `cwd` says.
        source: The text as it came.
    """

    root: Root | None
    offset: Digits
    selectors: tuple[Selector, ...]
    indexed: bool = field(default=False, compare=False)
    source: str = field(default="", compare=False)


def parse(text: str) -> Path:
    """Return the path that `text` spells from its first to its last character.

    Raises:
        MalformedPath: `text` is outside of the grammar.

    >>> parse("cwd[1].lazy.memory[0..3]").selectors
    (Member(name='lazy'), Member(name='memory'), Range(start='0', end='3'))
    """
    return _kept(text) if len(text) <= KEPT_LENGTH_MAX else _Parser(text).path()


@lru_cache(maxsize=KEPT_MAX)
def _kept(text: str) -> Path:
    return _Parser(text).path()


def render(path: Path) -> str:
    """Return the text of a path, ranges with a colon; `parse` makes an equal path of it.

    >>> render(parse("lazy.memory[0..3]"))
    'lazy.memory[0:3]'
    """
    root = path.root or ""
    offset = f"[{path.offset}]" if path.indexed else ""
    text = root + offset + "".join(map(str, path.selectors))
    return text if path.root else text.removeprefix(".")


def bind(path: Path, wanted: Sequence[ScopeName]) -> Root:
    """Return the root that `path` has for a client of the `wanted` owners.

    An unscoped path means the sole owner where there is one, else the current effective view.

    Source: state.md section 3, "Meaning".
    """
    if path.root is not None:
        return path.root
    return wanted[0] if len(wanted) == 1 else "effective"


def lone_plane(path: Path) -> str | None:
    """Return the documented plane that `path` ends at, if it does: where it is absent it is null, never missing."""
    match path.selectors:
        case (Member(name),) if name in PLANES:
            return name
    return None


def position_of(digits: Digits) -> int:
    """Return the number that `digits` spell, or one above every possible length when they are too many."""
    return int(digits) if len(digits) <= DIGITS_MAX else 10**DIGITS_MAX


class _Parser:
    """One pass from left to right; `at` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def path(self) -> Path:
        """Parse `scoped | unscoped` and nothing after it."""
        word = NAME.match(self.text)
        if word and word[0] in ROOTS:
            self.at = word.end()
            return self.scoped(word[0])
        if word and word[0] in PLANES:
            self.at = word.end()
            return Path(None, "0", self.selectors([Member(word[0])]), source=self.text)
        raise self.wrong(_A_FIRST_WORD)

    def scoped(self, root: Root) -> Path:
        """Parse what follows a root: a temporal index, then a member or the end."""
        offset, indexed = "0", self.skip("[")
        if indexed:
            offset = self.number()
            self.expect("]", "']' (a temporal index is one number)")
        selectors: tuple[Selector, ...] = ()
        if self.at < len(self.text):
            selectors = self.selectors(self.members(_AFTER_ROOT))
        return Path(root, offset, selectors, indexed, self.text)

    def selectors(self, first: Sequence[Selector]) -> tuple[Selector, ...]:
        """Parse `{ selector }` after the `first` ones, up to the end of the text."""
        found = [*first]
        while self.at < len(self.text):
            if self.skip("["):
                found.append(self.bracket())
            elif isinstance(found[-1], Range):
                raise self.wrong(_AFTER_RANGE)
            else:
                found += self.members(_NEXT_SELECTOR)
        return tuple(found)

    def members(self, expected: str) -> list[Member]:
        """Parse one or more members: a path is mostly those, so they are taken at once."""
        run = _MEMBERS.match(self.text, self.at)
        if run is None:
            self.expect(".", expected)
            raise self.wrong(_A_NAME)
        self.at = run.end()
        return [Member(name) for name in run[0][1:].split(".")]

    def bracket(self) -> Index | Range:
        """Parse the rest of an index or range, after its opening bracket."""
        start = self.number()
        if self.skip("]"):
            return Index(start)
        if not (self.skip(":") or self.skip("..")):
            raise self.wrong("']', ':' or '..'")
        end = self.number()
        self.expect("]", "']' (a range has two numbers)")
        return Range(start, end)

    def number(self) -> Digits:
        """Parse a number; a zero before another digit is the mistake, so the place is that of the zero."""
        match = NUMBER.match(self.text, self.at)
        if match is None or (match[0] == "0" and NUMBER.match(self.text, match.end())):
            raise self.wrong(_A_NUMBER)
        self.at = match.end()
        return match[0]

    def expect(self, literal: str, expected: str) -> None:
        """Take `literal`, which must be here."""
        if not self.skip(literal):
            raise self.wrong(expected)

    def skip(self, literal: str) -> bool:
        """Take `literal` if it is here."""
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def wrong(self, expected: str) -> MalformedPath:
        """Return the error for this place."""
        return MalformedPath(self.text, self.at, expected)
