"""What is wrong with one row: a pure function of the lines that belong to it.

A row that is not `odd` (see `Todo`) has none of these problems, so nobody need look.
Source: goal-documents section 5.
"""

from __future__ import annotations

import re
from collections import defaultdict
from operator import add
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.fields import FIELDS, TODO_ID, read_field
from stateward_engine.goals.lines import indent_of, split_lines
from stateward_engine.goals.problems import Edit, Fix, Problem, problem, shifted
from stateward_engine.goals.regions import is_marker
from stateward_engine.goals.todo_codec import (
    INDENT,
    METADATA_WORD,
    STATUS_OF_MARKER,
    TODO_WORD,
    MetadataLine,
    TaskLine,
    box_agrees,
    read_comment,
    read_line,
    read_metadata,
    tokens,
)
from stateward_engine.goals.tokens import Finding, examine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stateward_engine.goals.lines import Line, Lines, Span

# As metadata begins, and not as a marker or what other programs write: `loopx:` alone says little.
METADATA_START: Final = re.compile(r"\s*(?:loopx:\s*(?:todo(?!\S)|(?=[a-z_]+=))|(?P<key>[a-z_][a-z0-9_]*)=)")
COMMENT: Final = re.compile(r"<!--(?P<body>.*?)-->")
WORD: Final = re.compile(r"\S+")
BOX: Final = re.compile(r"\[(?P<marker>[ xX-])\]")
# Where a value cannot be read, nobody may act on the row: the default would let somebody else act.
GUARDS: Final = frozenset({"status", "claimed_by", "bound_agent", "excluded_agents", "blocks_agent", "resume_when"})


class Placed(NamedTuple):
    """One token with its place in the text that the row stands in.

    Attributes:
        key: What it sets.
        raw: Its value, as it is written.
        span: Where all of it stands.
        alone: Whether its line says nothing else, so that without it the line would be text.
    """

    key: str
    raw: str
    span: Span
    alone: bool

    @property
    def key_span(self) -> Span:
        """Where its key stands."""
        return self.span[0], self.span[0] + len(self.key)

    @property
    def value_span(self) -> Span:
        """Where its value stands."""
        return self.span[0] + len(self.key) + 1, self.span[1]


def row_problems(text: str, at: int, newline: str) -> Iterator[Problem]:
    """Yield what is wrong with a row.

    Args:
        text: Its lines, from its task line to the last line that belongs to it, with what ends them.
        at: Where the text stands in the document.
        newline: What ends a new line behind the last one of the document, which may not end.
    """
    lines = split_lines(text)
    placed = placed_tokens(text, at)
    yield from _task_problems(lines, at)
    for line in lines:
        if is_metadata(line.text):
            yield from _stray_words(line.text, at + line.start)
        elif line.number == 1 or line.text.startswith(INDENT):
            yield from _comment_problems(line, at, line.terminator or newline)
    yield from _token_problems(placed)
    yield from _repeated(text, at, placed)
    yield from _status_problem(lines[0], at, placed)


def placed_tokens(text: str, at: int = 0) -> list[Placed]:
    """Return the tokens of the metadata lines of a row, in document order; arguments as of `row_problems`."""
    metadata = (line for line in split_lines(text) if is_metadata(line.text))
    return [token for line in metadata for token in _placed(line.text, at + line.start)]


def _placed(text: str, at: int) -> Iterator[Placed]:
    """Yield the tokens of a line of metadata that stands at `at`."""
    found = list(tokens(text))
    read = [token for token in found if read_field(token.key, token.value) is not None]
    for token in found:
        yield Placed(token.key, token.value, (at + token.at, at + token.end), read == [token])


def unreadable_guards(text: str) -> list[str]:
    """Return the keys of a row that say who may act on it, and whose value cannot be read.

    As long as there is one, nobody may claim or complete the row. Argument as of `row_problems`.
    """
    found = [(token, examine(token.key, token.raw)) for token in placed_tokens(text) if token.key in GUARDS]
    bad = (token.key for token, finding in found if finding and finding.code == "invalid_metadata_value")
    return list(dict.fromkeys(bad))


def is_metadata(text: str) -> bool:
    """Whether a line of a row is one of metadata: it belongs to the row, and a field of it is accepted."""
    return text.startswith(INDENT) and isinstance(read_line(text), MetadataLine) and not is_marker(text)


def sounds_like_metadata(body: str) -> bool:
    """Whether the inside of a comment is meant as metadata: it begins as such, or with a key that there is."""
    start = METADATA_START.match(body)
    return start is not None and (start["key"] is None or start["key"] in FIELDS)


def is_sound(comment: str) -> bool:
    """Whether all of a metadata comment is read as it is written, so that nothing new is wrong once it is read."""
    fields, odd = read_comment(comment)
    return bool(fields) and not odd


def as_metadata(body: str) -> str | None:
    """Return the inside of a comment as a metadata comment on one line, `None` if nothing of it could be read."""
    words = " ".join(body.split())
    comment = f"<!-- {words if words.startswith(METADATA_WORD) else f'{METADATA_WORD}{TODO_WORD} {words}'} -->"
    return comment if read_metadata(comment) else None


# -- the task line ---------------------------------------------------------------------------------------------------


def _task_problems(lines: Lines, at: int) -> Iterator[Problem]:
    line = lines[0]
    span = shifted(line.span, at)
    task = read_line(line.text)
    if isinstance(task, TaskLine) and not task.text:
        yield problem("empty_todo_text", "this box has nothing behind it; say what is to be done", span)
    if line.text.startswith(INDENT):
        message = (
            "this row is indented, and read as a row of its own; "
            "the section cannot be rendered until it stands at the start of its line"
        )
        yield problem("nested_todo", message, span, fix=_margin_fix(lines, at))


def _margin_fix(lines: Lines, at: int) -> Fix | None:
    """Return the repair of an indented row: it moves to the margin with its lines, those below it stay indented."""
    indent = indent_of(lines.texts[0])
    if not all(text.startswith(indent) for text in lines.texts if text.strip()):
        return None
    rest = [text[len(indent) :] for text in lines.texts]
    below = [text if not text.strip() or text.startswith(INDENT) else f"  {text}" for text in rest[1:]]
    instead = "".join(map(add, [rest[0], *below], lines.terminators))
    return Fix("move the row to the start of its line", (Edit((at, at + len(lines.text)), instead),))


def _status_problem(line: Line, at: int, placed: Sequence[Placed]) -> Iterator[Problem]:
    status = next((token for token in reversed(placed) if token.key == "status" and _value(token)), None)
    box = BOX.search(line.text)
    if status is None or box is None or box_agrees(box["marker"], word := str(_value(status))):
        return
    marker = next((marker for marker, meant in STATUS_OF_MARKER.items() if meant == word), " ")
    message = (
        f"the box says {STATUS_OF_MARKER[box['marker']]} and the metadata {word}, which wins; let both say the same"
    )
    span = shifted(box.span(), at)
    fix = Fix(f"let the box say {word}", (Edit(span, f"[{marker}]"),))
    yield problem("marker_status_conflict", message, span, [(status.value_span, "this status wins")], fix=fix)


# -- metadata ----------------------------------------------------------------------------------------------------------


def _token_problems(placed: Iterable[Placed]) -> Iterator[Problem]:
    for token in placed:
        finding = examine(token.key, token.raw)
        if finding is None:
            continue
        span = token.key_span if finding.code == "unknown_metadata_key" else token.value_span
        yield problem(finding.code, finding.message, span, fix=_token_fix(token, finding, span))


def _token_fix(token: Placed, finding: Finding, span: Span) -> Fix | None:
    bare = token.raw.strip("\"'")
    if finding.instead:
        instead, title = finding.instead, f"write {finding.instead}"
    elif finding.code == "invalid_todo_id":
        instead = nearest_id(bare)
        title = f"give the row the id {instead}"
    else:
        instead = bare if bare != token.raw and examine(token.key, bare) is None else ""
        title = "remove the quotation marks"
    return Fix(title, (Edit(span, instead),), safe=finding.code == "normalised_value") if instead else None


def nearest_id(written: str) -> str:
    """Return the right id that is nearest to one that is none, empty when there is none."""
    word = re.sub(r"[^a-z0-9_-]+", "_", written.lower().removeprefix("todo_")).strip("_")
    return todo_id if TODO_ID.fullmatch(todo_id := f"todo_{word}") else ""


def _stray_words(text: str, at: int) -> Iterator[Problem]:
    """Yield a problem for each run of words in a metadata line that are no tokens."""
    inside = COMMENT.search(text)
    if inside is None:
        return
    start = text.index(METADATA_WORD) + len(METADATA_WORD)
    covered = {token.at: token.end for token in tokens(text)}
    first_token = min(covered, default=len(text))
    run: list[Span] = []
    for word in WORD.finditer(text, start, inside.end("body")):
        rest = (covered.get(word.start(), word.start()), word.end())
        is_first_word = not run and word.start() <= first_token and word[0] == TODO_WORD
        is_stray = rest[0] < rest[1] and not is_first_word
        if run and not is_stray:
            yield _stray(text, run, at)
            run = []
        if is_stray:
            run.append(rest)
        # A quotation ends here, and what follows is another matter.
        if is_stray and word[0].endswith('"'):
            yield _stray(text, run, at)
            run = []
    if run:
        yield _stray(text, run, at)


def _stray(text: str, run: Sequence[Span], at: int) -> Problem:
    first, end = run[0][0], run[-1][1]
    message = "this is no `key=value`, so it is not read; a value has no spaces: write `%20` for each"
    return problem("stray_metadata_text", message, (at + first, at + end), fix=_quoted_fix(text, first, end, at))


def _quoted_fix(text: str, first: int, end: int, at: int) -> Fix | None:
    """Return the repair of a quoted value with spaces, whose later words are the run from `first` to `end`."""
    before = next((token for token in tokens(text) if token.end == first - 1), None)
    if before is None or not before.value.startswith('"') or not text[first:end].endswith('"'):
        return None
    encoded = "%20".join(text[before.value_at : end].strip('"').split())
    if examine(before.key, encoded) is not None:
        return None
    return Fix("write the quoted value without spaces", (Edit((at + before.value_at, at + end), encoded),))


def _repeated(text: str, at: int, placed: Iterable[Placed]) -> Iterator[Problem]:
    groups: dict[str, list[Placed]] = defaultdict(list)
    for token in placed:
        if token.key in FIELDS:
            groups[token.key].append(token)
    for key, group in groups.items():
        read = [token for token in group if _value(token) is not None] or group
        winner = read[-1]
        for token in group:
            if token is not winner:
                message = f"{key} stands {len(group)} times in this row, and the last one that can be read counts"
                start, end = token.span
                # The first token can stand right behind the colon.
                has_gap = text[start - at - 1].isspace()
                edit = Edit((start - has_gap, end), "")
                fix = Fix("remove the value that does not count", (edit,), safe=token.raw == winner.raw)
                related = [(winner.span, "this one counts")]
                yield problem("repeated_metadata_key", message, token.span, related, fix=None if token.alone else fix)


def _value(token: Placed) -> object:
    return read_field(token.key, token.raw)


# -- comments in the text of a row -------------------------------------------------------------------------------------


def _comment_problems(line: Line, at: int, newline: str) -> Iterator[Problem]:
    for comment in COMMENT.finditer(line.text):
        if sounds_like_metadata(comment["body"]):
            is_own_line = line.number > 1 and comment[0] == line.text.strip()
            start = at + line.start
            yield from _misshapen(line, comment, start) if is_own_line else [_misplaced(line, comment, start, newline)]


def _misshapen(line: Line, comment: re.Match[str], start: int) -> Iterator[Problem]:
    """Yield what keeps a comment on a line of its own from being metadata."""
    span = shifted(comment.span(), start)
    if comment["body"].lstrip().startswith(METADATA_WORD):
        yield from _token_problems(_placed(line.text, start))
        yield from _stray_words(line.text, start)
        return
    message = f"this comment does not begin with `{METADATA_WORD}{TODO_WORD}`, so it is read as text of the row"
    instead = as_metadata(comment["body"])
    fix = Fix("make it metadata", (Edit(span, instead),), is_sound(instead)) if instead else None
    yield problem("stray_metadata_text", message, span, fix=fix)


def _misplaced(line: Line, comment: re.Match[str], start: int, newline: str) -> Problem:
    """Return the problem of a metadata comment behind text, which moves to a line of its own."""
    instead = as_metadata(comment["body"])
    fix = None
    if instead:
        indent = indent_of(line.text)
        before, after = line.text[: comment.start()].rstrip(), line.text[comment.end() :].rstrip()
        # A continuation is indented already, and its metadata stands below it.
        below = f"{indent}  {instead}" if line.number == 1 else f"{indent}{instead}"
        edit = Edit((start + len(before), start + len(line.text)), f"{after}{newline}{below}")
        fix = Fix("move the metadata to a line of its own", (edit,), is_sound(instead))
    message = "metadata is read on an indented line of its own; here it is text of the row"
    return problem("metadata_on_task_line", message, shifted(comment.span(), start), fix=fix)
