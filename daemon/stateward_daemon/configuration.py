"""Configuration: what a project, and whoever looks at it, want to see of its goal documents.

A project says it in `stateward.toml`, or in `[tool.stateward]` of `pyproject.toml`: in the directory of the document,
or else in the nearest one above. The command line and the editors read the same file. An editor has settings of the
same names, and they count where the file says nothing, so that an editor shows what the command line finds.
Nothing that guards the daemon is read from there: it is about what is shown, never about what is done.
Source: goal-documents section 5, editors.md section 1.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from stateward_daemon.documents import read_file
from stateward_engine.goals.codes import CODES
from stateward_engine.goals.suppression import LEVELS, Rules
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    import logging
    from collections.abc import Collection, Iterable, Iterator

# What one source says, each key checked; it leaves open what it does not name.
Given: TypeAlias = Mapping[str, Any]

NO_RULES: Final[Rules] = MappingProxyType({})
NOTHING: Final[Given] = MappingProxyType({})
OWN_FILE: Final = "stateward.toml"
SHARED_FILE: Final = "pyproject.toml"
FILES: Final = (OWN_FILE, SHARED_FILE)
TABLE: Final = "stateward"
RULES: Final = "rules"
SWITCHES: Final = ("code_lens", "inlay_hints")
_EXAMPLE: Final = 'rules = { todo_outside_region = "off" }'


class Configuration(NamedTuple):
    """What is to be seen of a document.

    Attributes:
        rules: Codes of problems that are switched off or re-ranked.
        code_lens: Whether editors show lines above sections and todos.
        inlay_hints: Whether they show words beside references and rows.
    """

    rules: Rules = NO_RULES
    code_lens: bool = True
    inlay_hints: bool = True


KEYS: Final = Configuration._fields
DEFAULT: Final = Configuration()


class Complaint(NamedTuple):
    """What is wrong with a key, which is the last of the names that lead to it."""

    names: tuple[str, ...]
    message: str


def configuration_for(document: Path, preferred: Given = NOTHING) -> Configuration:
    """Return what is to be seen of the document at an absolute path.

    Args:
        document: The path.
        preferred: What whoever looks at it prefers, where the project leaves it open.

    Raises:
        WireError: `invalid_request`; the file cannot be read, or says something that cannot be.
    """
    _, said = deciding_file(document)
    return merged(preferred, said)


def configuration_or_default(document: Path | None, log: logging.Logger) -> Configuration:
    """Return what is to be seen of a document, the default of what is no file; a file that is wrong is logged."""
    try:
        return DEFAULT if document is None else configuration_for(document)
    except WireError as error:
        log.warning("no configuration for %s: %s", document, error.message)
        return DEFAULT


def merged(first: Given, winner: Given) -> Configuration:
    """Return what two sources say together; of the rules, each code is a key of its own."""
    rules = {**first.get(RULES, NO_RULES), **winner.get(RULES, NO_RULES)}
    return Configuration(**{**first, **winner, RULES: MappingProxyType(rules)})


def deciding_file(document: Path) -> tuple[Path | None, Given]:
    """Return the file that decides about a document and what it says; none and nothing where there is none.

    Raises:
        WireError: As for `configuration_for`.
    """
    for directory in document.parents:
        for file in (directory / name for name in FILES):
            said = _said_by(file)
            if said is not None:
                return file, said
    return None, NOTHING


def places_of_files(document: Path, roots: Collection[Path]) -> Iterator[Path]:
    """Yield where a file may come up or change that decides about a document, as far as it is worth to look there.

    That is from the document up to the outermost of some directories, or in its own directory; and the file that
    decides now.
    """
    outer = [directory for directory in document.parents if directory in roots] or [document.parent]
    for directory in document.parents:
        yield from (directory / name for name in FILES)
        if directory == outer[-1]:
            break
    try:
        decides, _ = deciding_file(document)
    except WireError as error:
        # It is the one that has to be mended.
        decides = Path(error.data["path"])
    if decides is not None and not decides.is_relative_to(outer[-1]):
        yield decides


def checked(table: Mapping[str, Any]) -> tuple[Given, list[Complaint]]:
    """Return what a table says as far as it is right, and what is wrong with the rest."""
    said: dict[str, Any] = {}
    complaints: list[Complaint] = []
    for key, value in table.items():
        if key == RULES and isinstance(value, Mapping):
            wrong = list(_complaints_about(value))
            complaints += wrong
            bad = {complaint.names[-1] for complaint in wrong}
            said[RULES] = MappingProxyType({code: level for code, level in value.items() if code not in bad})
        elif key == RULES:
            complaints.append(Complaint((RULES,), "rules are a table: a code of a problem and its level, each"))
        elif key not in SWITCHES:
            complaints.append(Complaint((key,), _no_such("setting", key, KEYS)))
        elif isinstance(value, bool):
            said[key] = value
        else:
            complaints.append(Complaint((key,), f"{key} is true or false"))
    return MappingProxyType(said), complaints


def rules_mark(rules: Rules) -> str:
    """Return a short name of some rules, empty where there are none."""
    return f"-{sha256(repr(sorted(rules.items())).encode()).hexdigest()[:12]}" if rules else ""


def near(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that somebody may have meant, or `None`."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1)), None)


def _no_such(kind: str, word: str, known: Iterable[str]) -> str:
    meant = near(word, known)
    return f"there is no {kind} {word}" + (f"; did you mean {meant}?" if meant else "")


def _complaints_about(rules: Mapping[str, Any]) -> Iterator[Complaint]:
    for code, level in rules.items():
        names = RULES, code
        if code not in CODES:
            yield Complaint(names, _no_such("problem", code, CODES))
        elif CODES[code].refuses:
            yield Complaint(names, f"{code} refuses the document, and nobody can switch that off or re-rank it")
        elif level not in LEVELS:
            yield Complaint(names, f"the level of {code} is one of {', '.join(LEVELS)}")


# -- files -----------------------------------------------------------------------------------------------------------


def _said_by(file: Path) -> Given | None:
    """Return what a file says, or `None` when there is no file, or no table of ours in a shared one."""
    try:
        facts = file.stat()
    except (OSError, ValueError):
        return None
    return _read(file, facts.st_mtime_ns, facts.st_size, facts.st_ino)


@lru_cache(maxsize=64)
def _read(file: Path, *identity: int) -> Given | None:  # noqa: ARG001 - by it, an edit is noticed
    try:
        text = read_file(file).decode()
        table: Any = tomllib.loads(text)
    except WireError:
        return None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        if file.name == SHARED_FILE:
            # Others read it, too, and are the ones to complain.
            return None
        raise _wrong(file, None, f"this is no TOML: {error}") from None
    if file.name == SHARED_FILE:
        tools = table.get("tool", {})
        table = tools.get(TABLE) if isinstance(tools, dict) else None
        if table is None:
            return None
        if not isinstance(table, dict):
            raise _wrong(file, _line_of(text, TABLE), f"tool.{TABLE} is a table")
    said, complaints = checked(table)
    for complaint in complaints:
        raise _wrong(file, _line_of(text, complaint.names[-1]), complaint.message)
    return said


def _wrong(file: Path, line: int | None, complaint: str) -> WireError:
    """Return a complaint that begins with its place, as compilers write it."""
    place = f"{file}" if line is None else f"{file}:{line}"
    return WireError("invalid_request", f"{place}: {complaint}", path=str(file), line=line, example=_EXAMPLE)


def _line_of(text: str, name: str) -> int | None:
    """Return the number of the first line that gives a key or begins a table of a name, `None` where none does."""
    key = re.compile(rf"[^#]*(?<![\w-]){re.escape(name)}[\"']?\s*[=\].]")
    return next((number for number, line in enumerate(text.split("\n"), start=1) if key.match(line)), None)
