"""`textDocument/documentLink`: the files, repositories, pull requests and addresses that a document names."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from stateward_daemon.lsp.links import links_in
from stateward_daemon.lsp.uris import directory_of, uri_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.session import LspSession

# Editors ask after each edit; a document that names more files has links for the first ones.
FILES_LOOKED_FOR_MAX: Final = 2_000
LINKS_MAX: Final = 2_000


def handle(session: LspSession, params: lsp.DocumentLinkParams) -> list[lsp.DocumentLink]:
    """Return what can be opened: addresses, and files that there are beside the document or in its folder."""
    uri = params.text_document.uri
    reading, path = session.reading(uri), session.path(uri)
    if reading is None or path is None:
        return []
    files = _Files(list(_bases(session, uri, path)))
    found: list[lsp.DocumentLink] = []
    document = reading.goal
    for offset, (passage, held) in zip(document.layout.offsets, document.stretches(), strict=False):
        for link in links_in(passage, held):
            target = link.address or files.uri(link.file)
            if target and len(found) < LINKS_MAX:
                place = reading.range((offset + link.span[0], offset + link.span[1]))
                tooltip = link.told if session.client.shows_link_tooltips else None
                found.append(lsp.DocumentLink(place, target, tooltip))
    return found


def _bases(session: LspSession, uri: str, path: Path) -> Iterator[Path]:
    """Yield where the files of a document are looked for: beside it, then in the workspace folder that holds it."""
    yield path.parent
    folder = session.folders.folder_of(uri)
    if folder is not None and (root := directory_of(folder)) is not None:
        yield root


class _Files:
    """Which files there are, each looked for once. No link is followed, so nobody looks outside of the bases."""

    def __init__(self, bases: list[Path]) -> None:
        self._bases = bases
        self._known: dict[str, str | None] = {}

    def uri(self, relative: str) -> str | None:
        """Return the URI of a file, `None` where there is none."""
        if relative not in self._known:
            if len(self._known) == FILES_LOOKED_FOR_MAX:
                return None
            there = (base for base in self._bases if _is_file(base, relative))
            base = next(there, None)
            self._known[relative] = None if base is None else uri_of(base / relative)
        return self._known[relative]


def _is_file(base: Path, relative: str) -> bool:
    """Tell whether a regular file is at a path below a directory, with no link on the way to it."""
    at, mode = base, stat.S_IFDIR
    try:
        for name in Path(relative).parts:
            if not stat.S_ISDIR(mode):
                return False
            at /= name
            mode = os.lstat(at).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(mode)
