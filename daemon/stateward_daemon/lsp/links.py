"""Links: what the visible text and the values of rows name that can be opened."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote_to_bytes

from stateward_daemon.lsp.by_passage import by_passage
from stateward_engine.goals.problems import shifted
from stateward_engine.goals.repository import read_repository
from stateward_engine.goals.todo_codec import INDENT, tokens
from stateward_engine.goals.visible import COMMENT_START

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.passages import Passage
    from stateward_engine.goals.todo_codec import Row

# An address; a change request of a repository that is named with it, or of that of the row; a relative path of several
# parts, which are never `..`. No absolute path is one, and nothing from home.
_TARGET: Final = re.compile(
    r"(?P<address>https?://[^\s<>\"'`\\\ud800-\udfff]++)"
    r"|(?<![\w./~@+-])(?P<repository>[A-Za-z0-9-]++/[\w.-]++)#(?P<number>[1-9][0-9]{0,8})(?![\w-])"
    r"|(?<![\w&#/])#(?P<own>[1-9][0-9]{0,8})(?![\w-])"
    r"|(?<![\w./~@+%-])(?P<file>(?:\./)?\.?[\w@+-]++(?:(?:/\.?|\.)[\w@+-]++)++)(?!/?\.\.)"
)
_REPOSITORY_KEY: Final = "task_repository"
_GITHUB: Final = "github.com"
_ESCAPES: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


class Link(NamedTuple):
    """Something that can be opened.

    Attributes:
        span: Where it is written.
        address: Its address on the web; empty for a file.
        file: The relative path of a file that there may be; empty for anything else.
        told: What it is, for a person.
    """

    span: Span
    address: str
    file: str
    told: str


@by_passage
def links_in(passage: Passage, held: int) -> list[Link]:
    """Return what a passage names, with its places in the passage; a file is there or not.

    Args:
        passage: The passage.
        held: How many of its first lines a todo section holds.
    """
    rows = _rows(passage, held) if "#" in passage.text or "%23" in passage.text else {}
    found = []
    for line, text in enumerate(passage.lines.texts):
        # Nearly all of what can be opened has one of these.
        if passage.is_hidden(line) or not _may_hold(text):
            continue
        repository = rows[line].fields.get(_REPOSITORY_KEY, "") if line in rows else ""
        is_comment = line < held and text.startswith(INDENT) and text.lstrip().startswith(COMMENT_START)
        links = _in_metadata(text, repository) if is_comment else _in_text(text, repository)
        found += [link._replace(span=shifted(link.span, passage.lines.starts[line])) for link in links]
    return found


def _rows(passage: Passage, held: int) -> dict[int, Row]:
    """Return the row that each line belongs to, as far as it belongs to one."""
    return {line: row for row in passage.rows if row.first < held for line in range(row.first, row.last + 1)}


def _may_hold(text: str) -> bool:
    return "/" in text or "." in text or "#" in text or "%2" in text


def _in_metadata(text: str, repository: str) -> Iterator[Link]:
    for token in tokens(text):
        if not _may_hold(token.value):
            continue
        value, places = _decoded(token.value)
        if token.key == _REPOSITORY_KEY:
            identity = read_repository(value)
            links = [_repository_link(value, identity)] if identity else []
        else:
            links = list(_in_text(value, repository))
        for link in links:
            start, end = link.span
            yield link._replace(span=(token.value_at + places[start], token.value_at + places[end]))


def _decoded(raw: str) -> tuple[str, Sequence[int]]:
    """Return a value without escapes, and where each of its characters and its end stand in `raw`.

    >>> _decoded("a%20%C3%A9")
    ('a \u00e9', [0, 1, 4, 10])
    """
    if "%" not in raw:
        return raw, range(len(raw) + 1)
    pieces, places, at = [], [], 0
    for match in _ESCAPES.finditer(raw):
        # What is no UTF-8 becomes something of the size of its byte, and is part of nothing that can be opened.
        piece = unquote_to_bytes(match[0]).decode("utf-8", "surrogateescape")
        sizes = (3 * len(char.encode("utf-8", "surrogateescape")) for char in piece)
        pieces += [raw[at : match.start()], piece]
        places += [*range(at, match.start()), *accumulate(sizes, initial=match.start())][:-1]
        at = match.end()
    return "".join([*pieces, raw[at:]]), [*places, *range(at, len(raw) + 1)]


def _in_text(text: str, repository: str) -> Iterator[Link]:
    for match in _TARGET.finditer(text):
        if match["address"]:
            address = _trimmed(match[0])
            yield Link((match.start(), match.start() + len(address)), address, "", f"Open {address}")
        elif match["file"]:
            yield Link(match.span(), "", match[0], f"Open the file {match[0]}")
        elif link := _request_link(match, repository):
            yield link


def _trimmed(address: str) -> str:
    """Return an address without what ends the sentence or the bracket that it stands in."""
    address = address.rstrip(".,;:!?*_")
    while address.endswith((")", "]")) and address.count(address[-1]) > address.count("(["[address[-1] == "]"]):
        address = address[:-1].rstrip(".,;:!?*_")
    return address


def _request_link(match: re.Match[str], repository: str) -> Link | None:
    """Return the link to a change request, `None` where nobody can say at which host it is, or how that names it."""
    host, _, own = repository.removeprefix("git:").partition("/")
    path = match["repository"] or own
    number = match["number"] or match["own"]
    host = host or _GITHUB
    if not path:
        return None
    if host == _GITHUB:
        address = f"https://{host}/{path}/pull/{number}"
    elif "gitlab" in host:
        address = f"https://{host}/{path}/-/merge_requests/{number}"
    else:
        return None
    return Link(match.span(), address, "", f"Open the pull request {path}#{number}")


def _repository_link(written: str, identity: str) -> Link:
    named = identity.removeprefix("git:")
    host, _, path = named.partition("/")
    # The port of a repository that is reached otherwise is not that of its pages.
    is_page = written.lower().startswith(("http:", "https:"))
    address = written if is_page else f"https://{host.partition(':')[0]}/{path}"
    return Link((0, len(written)), address, "", f"Open the repository {named}")
