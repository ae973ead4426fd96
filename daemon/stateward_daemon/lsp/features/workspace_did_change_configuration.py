"""`workspace/didChangeConfiguration`: the settings of the client have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.configuration import TABLE

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DidChangeConfigurationParams) -> None:
    """Ask what they are now; of a client that cannot be asked, take what it sends."""
    if session.client.answers_configuration:
        session.configured.ask(session.folders.open)
    elif isinstance(params.settings, dict) and TABLE in params.settings:
        session.configured.take(params.settings[TABLE])
