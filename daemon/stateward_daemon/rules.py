"""Rules of a project: which problems of its goal documents are switched off or re-ranked.

They stand in the `rules` table of `stateward.toml`, or in `[tool.stateward.rules]` of `pyproject.toml`: in the
directory of the document, or else in the nearest one above. The command line and the editors read the same ones.
Nothing that guards the daemon is read from there: rules decide about words, never about what is done.
Source: goal-documents section 5, editors.md section 1.
"""

from __future__ import annotations

import difflib
import tomllib
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stateward_daemon.documents import read_file
from stateward_engine.goals.codes import CODES
from stateward_engine.goals.suppression import LEVELS, Rules
from stateward_protocol.errors import WireError, explained

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator
    from pathlib import Path

NO_RULES: Final[Rules] = MappingProxyType({})
OWN_FILE: Final = "stateward.toml"
SHARED_FILE: Final = "pyproject.toml"
TABLE: Final = "stateward"
_EXAMPLE: Final = 'rules = { todo_outside_region = "off" }'


class _Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    # Any value: a complaint of msgspec does not name the key.
    rules: dict[str, Any] = {}


def rules_for(document: Path) -> Rules:
    """Return the rules for the document at an absolute path; none where no file gives any.

    Raises:
        WireError: `invalid_request`; the file cannot be read, or says something that no rule can say.
    """
    for directory in document.parents:
        for file in (directory / OWN_FILE, directory / SHARED_FILE):
            rules = _rules_of(file)
            if rules is not None:
                return rules
    return NO_RULES


def rules_or_none(document: Path | None, log: logging.Logger) -> Rules:
    """Return the rules for a document, none for what is no file; a file that is wrong counts as none, and is logged."""
    try:
        return NO_RULES if document is None else rules_for(document)
    except WireError as error:
        log.warning("no rules for %s: %s", document, error.message)
        return NO_RULES


def rules_mark(rules: Rules) -> str:
    """Return a short name of some rules, empty where there are none."""
    return f"-{sha256(repr(sorted(rules.items())).encode()).hexdigest()[:12]}" if rules else ""


def _rules_of(file: Path) -> Rules | None:
    """Return the rules that a file gives, or `None` when there is no file, or no table of ours in a shared one."""
    try:
        facts = file.stat()
    except (OSError, ValueError):
        return None
    return _read(file, facts.st_mtime_ns, facts.st_size, facts.st_ino)


@lru_cache(maxsize=64)
def _read(file: Path, *identity: int) -> Rules | None:  # noqa: ARG001 - by it, an edit is noticed
    try:
        table: Any = tomllib.loads(read_file(file).decode())
    except WireError:
        return None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        if file.name == SHARED_FILE:
            # Others read it, too, and are the ones to complain.
            return None
        raise WireError("invalid_request", f"{file} is no TOML: {error}", path=str(file)) from None
    if file.name == SHARED_FILE:
        tools = table.get("tool", {})
        table = tools.get(TABLE) if isinstance(tools, dict) else None
        if table is None:
            return None
    return _checked(table, file)


def _checked(table: Any, file: Path) -> Rules:  # noqa: ANN401 - any TOML value
    try:
        rules = msgspec.convert(table, _Configuration).rules
    except msgspec.ValidationError as error:
        message, path = explained(str(error), "")
        section = "[rules]" if file.name == OWN_FILE else f"[tool.{TABLE}.rules]"
        complaint = f"{file}: {message}; rules stand in {section} and nothing else does"
        raise WireError("invalid_request", complaint, path=path, example=_EXAMPLE) from None
    for complaint in _complaints(rules):
        raise WireError("invalid_request", f"{file}: {complaint}", path=str(file), example=_EXAMPLE)
    return MappingProxyType(rules)


def _complaints(rules: dict[str, Any]) -> Iterator[str]:
    for code, level in rules.items():
        if code not in CODES:
            near = difflib.get_close_matches(code, CODES, n=1)
            yield f"there is no problem {code}" + (f"; did you mean {near[0]}?" if near else "")
        elif CODES[code].refuses:
            yield f"{code} refuses the document, and nobody can switch that off or re-rank it"
        elif level not in LEVELS:
            yield f"the level of {code} is one of {', '.join(LEVELS)}"
