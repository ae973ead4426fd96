"""`completionItem/resolve`: what more there is to say about one thing that can be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.lsp.prose import Prose
from stateward_daemon.lsp.telling import told_of

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, item: lsp.CompletionItem) -> lsp.CompletionItem:
    """Return the item with its documentation: what a key means and takes, facts of a todo, keys of a path."""
    if told := told_of(session, Prose(session.client.documents_in_markdown), item.data):
        item.documentation = told
    return item
