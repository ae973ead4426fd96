"""Golden transcripts: what went over a wire as JSON lines, with a word in the place of what differs from run to run."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

GOLDEN: Final = Path(__file__).parent / "golden"
# Members that differ from run to run, or from machine to machine.
VOLATILE: Final = {
    "pid", "store", "socket", "log", "uptime_s", "connections", "queue_length", "sequence", "store_bytes", "changed_at",
    "version",
}  # fmt: skip
# The same of digests of what was decided at a time of its own.
TIMED: Final = VOLATILE | {
    "completion_receipt_id", "records_sha256", "rendered_sha256", "section_record_sha256", "shadow_sha256",
    "source_sha256",
}  # fmt: skip
# A revision begins with the id of the store.
STORE_ID: Final = re.compile(r"\bfile:[0-9a-f]{16}:")
TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

# What stands in the document of a goal.
GOAL: Final = """\
---
status: active
---
# Goal

## Next Action

- Go on.

## Agent Todo

- [ ] [P1] Rehearse the rollback
  <!-- loopx:todo todo_id=todo_rehearse -->
- [x] [P2] Write the plan
  <!-- loopx:todo todo_id=todo_plan status=done -->
"""


def steady(value: Any, words: Mapping[str, str], volatile: set[str]) -> Any:
    """Return `value` with a word in the place of what differs from run to run: members by name, texts by `words`."""
    if isinstance(value, dict):
        return {k: f"<{k}>" if _differs(k, v, volatile) else steady(v, words, volatile) for k, v in value.items()}
    if isinstance(value, list):
        return [steady(item, words, volatile) for item in value]
    if isinstance(value, str):
        for word, text in words.items():
            value = value.replace(text, f"<{word}>")
        return TIME.sub("<time>", STORE_ID.sub("file:<store>:", value))
    return value


def _differs(name: str, value: Any, volatile: set[str]) -> bool:
    # The version of a program is a text; that of a lease counts.
    return (
        name in volatile
        and value is not None
        and not isinstance(value, list)
        and (name, type(value)) != ("version", int)
    )


def golden_of(name: str, lines: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """Return the lines of the golden file `name`; where golden files are being written, it gets `lines` first."""
    file = GOLDEN / name
    if lines is not None and os.environ.get("STATEWARD_GOLDEN") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
