"""Everywhere: the goal documents that an editor works with, and where in them something is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stateward_daemon.lsp.mentions import mentions
from stateward_daemon.lsp.uris import uri_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.mentions import Mention, Subject
    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.authority.goal import Goal


class Known(NamedTuple):
    """A document that an editor works with.

    Attributes:
        uri: As the client spells it, or as it is spelt here where the client has never named it.
        path: Of its file.
        reading: The text that the client's positions in it are about.
        goal: The registered goal whose document it is.
    """

    uri: str
    path: Path
    reading: Reading
    goal: Goal | None


class Found(NamedTuple):
    """What mentions a subject in a document."""

    known: Known
    mentions: list[Mention]


def known_documents(session: LspSession, first: str | None = None) -> Iterator[Known]:
    """Yield the documents that are open, in a folder, or those of registered goals, each once; from any thread.

    Args:
        session: Of the editor.
        first: The URI of the one that comes before all others.
    """
    uris: dict[Path, str] = {}
    if first is not None and (path := session.path(first)):
        uris[path] = first
    for buffer in list(session.buffers.values()):
        uris.setdefault(buffer.path, buffer.uri)
    for path, uri in session.folders.all_goals().items():
        uris.setdefault(path, uri)
    goals = session.caller.host.goals_here()
    for path in map(Path, goals):
        uris.setdefault(path, uri_of(path))
    for path, uri in uris.items():
        held = session.buffers.get(uri)
        reading = session.read_file(path) if held is None else held.reading()
        if reading is not None:
            yield Known(uri, path, reading, goals.get(str(path)))


def find_everywhere(session: LspSession, uri: str, subject: Subject) -> list[Found]:
    """Return where a subject is mentioned, first in the document that it was met in; from any thread.

    A document that has a row of that id means its own. So where the subject is a todo of one document, others that have
    one of the same id are left out; where it is met outside of its document, all that have such a row are meant.
    """
    known = list(known_documents(session, uri))
    if not subject.is_path:
        has_row = {one.uri for one in known if one.reading.goal.todos_named(subject.name)}
        if uri in has_row:
            known = [one for one in known if one.uri == uri or one.uri not in has_row]
    found = (Found(one, mentions(one.reading.goal, subject)) for one in known)
    return [one for one in found if one.mentions]
