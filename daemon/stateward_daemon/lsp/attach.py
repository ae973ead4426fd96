"""Binding an editor to the owners it works with, as `attach` does for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from stateward_daemon.handlers import attach as agent_attach
from stateward_daemon.lsp.uris import path_of
from stateward_protocol.errors import WireError, explained
from stateward_protocol.messages import AttachParams
from stateward_protocol.methods import PROTOCOL_VERSION

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.lsp.client import Client

# People work in one editor per folder; those who want their own name it.
SESSION_DEFAULT: Final = "editor"
OPTIONS_PATH: Final = "$.params.initializationOptions.stateward"


def attach(caller: Caller, client: Client) -> None:
    """Bind the caller: to what its options say, else to its first workspace folder and the session of editors there.

    Raises:
        WireError: Its options are no params of `attach`, or are for another version of the protocol.
        InvalidRequest: They name owners that cannot be.

    Source: protocol.md section 2.
    """
    members = {
        "client": {"name": client.name, "version": client.version},
        "protocol": PROTOCOL_VERSION,
        "cwd": _first_directory(client.folders),
        **client.options,
    }
    members.setdefault("session", None if members["cwd"] is None else SESSION_DEFAULT)
    try:
        params = msgspec.convert(members, AttachParams)
    except msgspec.ValidationError as error:
        message, path = explained(str(error), OPTIONS_PATH)
        raise WireError("invalid_request", message, path=path) from None
    agent_attach.handle(caller, params)
    caller.attachment = caller.bound()._replace(kind="editor")


def _first_directory(folders: tuple[str, ...]) -> str | None:
    paths = map(path_of, folders)
    return next((str(path) for path in paths if path is not None and path.is_dir()), None)
