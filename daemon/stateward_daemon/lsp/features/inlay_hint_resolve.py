"""`inlayHint/resolve`: the tooltip of a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.lsp.prose import Prose
from stateward_daemon.lsp.telling import told_of

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, hint: lsp.InlayHint) -> lsp.InlayHint:
    """Return the hint with what is known of the todo or the path that it is about."""
    if told := told_of(session, Prose(session.client.shows_markdown), hint.data):
        hint.tooltip = told
    return hint
