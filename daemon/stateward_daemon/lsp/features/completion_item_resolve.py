"""`completionItem/resolve`: what more there is to say about one thing that can be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.lsp.prose import Prose
from stateward_daemon.lsp.telling import Named, told_of

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, item: lsp.CompletionItem) -> lsp.CompletionItem:
    """Return the item with its documentation: what a key means and takes, facts of a todo, keys of a path."""
    prose = Prose(session.client.documents_in_markdown)
    told = told_of(session, prose, Named.read(item.data))
    if told is not None:
        item.documentation = prose.content([told])
    return item
