"""Plain rows: rows as programs write them. One pattern takes a whole run of them, without a line of ours per row.

A plain row has a text and one line of metadata, whose fields stand in the order of the table, each once and each read
as it is written. So nothing about it has to be told, and what else it says is read when somebody asks.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Final

from stateward_engine.goals.compact import compact
from stateward_engine.goals.fields import FIELDS, TODO_ID, Choice, Token
from stateward_engine.goals.todo_codec import Row, box_agrees, is_odd_row, read_body, written_status
from stateward_engine.goals.todos import DONE_STATUSES, REFERRING_KEYS
from stateward_engine.goals.tokens import FREE_TEXTS, ODD_KEY, keys_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_END: Final = r"(?:\r\n|\n)"
_HEX: Final = "[0-9A-Fa-f]"
_LATER_BYTE: Final = f"%[89ABab]{_HEX}"
# The escapes of nearly all characters; the others are left to those who look closely.
_ESCAPE: Final = f"%(?:[2-7]{_HEX}|(?:C[2-9A-Fa-f]|D{_HEX}|(?:E[1-9CEce]|F0%9F){_LATER_BYTE}){_LATER_BYTE})"
_PLAIN: Final = "[!-$&-;=?-~]*+"
_VALUE: Final = f"(?! ){_PLAIN}(?:{_ESCAPE}{_PLAIN})*+"
# In front stands nothing that could be a space: a text of spaces alone is none.
_TEXT: Final = f"(?!%(?:20|C2|E[123])){_VALUE}"
_NAME: Final = "[a-z0-9_.:@-]*+"
_AGENT: Final = f"(?=[a-z])(?![^ ]{{81}}){_NAME}(?:%40{_NAME})*"
# What may stand behind a key in a plain row.
_PATTERNS: Final = {
    **dict.fromkeys(FREE_TEXTS, _TEXT),
    **dict.fromkeys(("claimed_by", "last_actor_agent_id", "bound_agent", "blocks_agent"), _AGENT),
    **dict.fromkeys(("goal_bound", "global_gate", "no_followup"), "true|false"),
    **{key: "|".join(reader.members) for key, reader in FIELDS.items() if isinstance(reader, Choice)},
    **{key: reader.pattern for key, reader in FIELDS.items() if isinstance(reader, Token)},
}
# The other values take a closer look, and some of these name other rows.
_EXAMINED: Final = [key for key in FIELDS if key not in _PATTERNS or key in REFERRING_KEYS]
_TASK_TEXT: Final = r"(?!\s)[^\r\n<]*+(?:<(?!!--)[^\r\n<]*+)*+"
# Below such a row stands another one: whatever else stands there may add to it.
_BEFORE_A_TASK: Final = r"(?=- \[[ xX-]\] [^\r\n])"
_SEEN_OF_A_TASK: Final = len("- [x] t")
# Metadata that gives an id is no text, and what it says beside that is read with care.
_METADATA: Final = rf"  <!-- loopx:(?=(?:[^<>\r\n]* )?todo_id={TODO_ID.pattern} )(todo [^<>\r\n]*+)>(?<=-->)"
_ROW: Final = re.compile(rf"- \[([ xX-])\] ({_TASK_TEXT}){_END}{_METADATA}{_END}({_END}*){_BEFORE_A_TASK}")


def _field(key: str) -> str:
    return f"(?:{key}=(?:{_PATTERNS.get(key, _VALUE)}) |)"


@cache
def _rows() -> re.Pattern[str]:
    """Return the pattern of a plain row, or else of all the rest.

    Its groups are the box, the id, the status, the examined fields that stand together, each such stretch by itself,
    and the rest.
    """
    # Not at the top: it takes long to compile, and only long texts are worth that.
    others = (key for key in FIELDS if key not in {"todo_id", "status"})
    stretches = ((examined, "".join(map(_field, keys))) for examined, keys in groupby(others, _EXAMINED.__contains__))
    fields = "".join(f"({stretch})" if examined else stretch for examined, stretch in stretches)
    metadata = rf"  <!-- loopx:todo todo_id=({TODO_ID.pattern}) (?:status=({_PATTERNS['status']}) |){fields}-->"
    return re.compile(rf"- \[([ xX-])\] {_TASK_TEXT}{_END}{metadata}{_END}{_END}*{_BEFORE_A_TASK}|(.+)", re.DOTALL)


class Run:
    """Consecutive plain rows.

    Attributes:
        ids: The id of each.
        end: Offset behind them.
        line_count: How many lines they have.
        open_count: How many are open.
        done_count: How many are done or deferred.
        is_near: Whether no blank line stands below the last one.
        refers: Whether one of them may name other rows.
        sound: Whether nothing has to be told of them, which the pattern alone does not say.
    """

    def __init__(self, source: str, start: int, seen: int, line: int) -> None:
        """Read the plain rows of a text that has at least one at an offset, and is looked at up to `seen`."""
        *rows, (*_, rest) = _rows().findall(source, start, seen)
        self._source, self._start, self._line = source, start, line
        self.end = seen - len(rest)
        self.line_count = source.count("\n", start, self.end)
        markers, self.ids, statuses, *examined, _ = zip(*rows, strict=True)
        kinds = Counter(zip(markers, statuses, strict=True))
        counts: Counter[str] = Counter()
        for (marker, status), count in kinds.items():
            counts[written_status(marker, status)] += count
        self.open_count = counts["open"]
        self.done_count = sum(counts[status] for status in DONE_STATUSES)
        self.is_near = source.endswith(("-->\n", "-->\r\n"), start, self.end)
        keys = keys_of("".join(set().union(*examined)).split())
        self.refers = not keys.isdisjoint(REFERRING_KEYS)
        self.sound = ODD_KEY not in keys and all(box_agrees(marker, status) for marker, status in kinds if status)

    def rows(self) -> Iterator[Row]:
        """Yield what each row says."""
        at, line = self._start, self._line
        while at < self.end and (simple := find_row(self._source, at, line)):
            yield simple.row
            at, line = simple.end, line + simple.line_count


class SimpleRow:
    """A row with one line of metadata that gives its id, whatever else that says.

    Attributes:
        row: What it says.
        end: Offset behind it, and behind the blank lines below it.
        line_count: How many lines that are.
        is_near: Whether there are no blank lines.
    """

    __slots__ = ("end", "is_near", "line_count", "row")

    def __init__(self, match: re.Match[str], line: int) -> None:
        """Read what the pattern found; `line` is the index of the first line in its passage."""
        marker, text, body, blank = match.groups()
        fields, odd = read_body(body[: -len("--")])
        text = compact(text)
        self.row = Row(line, line + 1, marker, text, fields, line + 1, odd or is_odd_row(marker, text, fields))
        self.end, self.line_count, self.is_near = match.end(), 2 + blank.count("\n"), not blank


def find_run(source: str, start: int, end: int, line: int) -> Run | None:
    """Return the plain rows that stand at an offset and end in front of another one, `None` when there are none.

    The last row above anything but a task line is never one of them.

    Args:
        source: A text.
        start: Where a line begins in it.
        end: Where no row may end behind.
        line: Index of that line in its passage.
    """
    seen = end + _SEEN_OF_A_TASK
    match = _rows().match(source, start, seen)
    return Run(source, start, min(seen, len(source)), line) if match and match[1] else None


def find_row(source: str, start: int, line: int) -> SimpleRow | None:
    """Return the row that stands at an offset, if it is a simple one and another one follows it.

    Arguments as of `find_run`.
    """
    match = _ROW.match(source, start)
    return SimpleRow(match, line) if match else None
