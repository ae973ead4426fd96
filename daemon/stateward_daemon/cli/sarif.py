"""Findings as SARIF 2.1.0, which code hosts and editors show beside the lines.

Source: the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from msgspec import UNSET

from stateward_engine.goals.codes import CODES, PAGES, page_of
from stateward_protocol import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stateward_protocol import messages as m

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}
_INDEX_OF_RULE: Final = {code: index for index, code in enumerate(CODES)}


def sarif_log(checked: Sequence[tuple[str, Sequence[m.DiagnosticItem]]]) -> dict[str, Any]:
    """Return the log of one run over files, each with its name and its findings."""
    driver = {
        "name": "stateward",
        "version": __version__,
        "informationUri": PAGES,
        "rules": [
            {
                "id": name,
                "shortDescription": _message(code.meaning),
                "helpUri": page_of(name),
                "defaultConfiguration": {"level": LEVELS[code.severity]},
            }
            for name, code in CODES.items()
        ],
    }
    run = {
        "tool": {"driver": driver},
        # As the engine counts, and unlike the default, which is UTF-16.
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": _artifact(path), "encoding": "utf-8"} for path, _ in checked],
        "results": [_result(path, item) for path, items in checked for item in items],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(path: str, item: m.DiagnosticItem) -> dict[str, Any]:
    related = [
        {**_location(path, other.range), "id": number, "message": _message(other.message)}
        for number, other in enumerate(item.related, start=1)
    ]
    return {
        "ruleId": item.code,
        "ruleIndex": _INDEX_OF_RULE[item.code],
        "level": LEVELS[item.severity],
        "message": _message(item.message),
        "locations": [_location(path, item.range)],
        **({"relatedLocations": related} if related else {}),
        **({} if item.fix is UNSET else {"fixes": [_fix(path, item.fix)]}),
    }


def _fix(path: str, fix: m.Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(edit.range), "insertedContent": {"text": edit.text}} for edit in fix.edits
    ]
    change = {"artifactLocation": _artifact(path), "replacements": replacements}
    return {"description": _message(fix.title), "artifactChanges": [change]}


def _location(path: str, place: m.Range) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": _region(place)}}


def _region(place: m.Range) -> dict[str, int]:
    return {
        "startLine": place.start.line + 1,
        "startColumn": place.start.character + 1,
        "endLine": place.end.line + 1,
        "endColumn": place.end.character + 1,
    }


def _artifact(path: str) -> dict[str, str]:
    spelled = quote(os.fsencode(path))
    return {"uri": f"file://{spelled}" if path.startswith("/") else spelled}


def _message(text: str) -> dict[str, str]:
    # Braces stand for arguments there.
    return {"text": text.replace("{", "{{").replace("}", "}}")}
