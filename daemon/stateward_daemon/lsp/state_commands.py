"""Commands that are about no todo: to show a value or a projection, and to begin anew."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp

from stateward_daemon.handlers import state_document
from stateward_daemon.lsp.uris import path_of
from stateward_daemon.steps import OnLane
from stateward_daemon.virtual import projection_uri, rooted, state_uri
from stateward_engine.state.paths import parse
from stateward_protocol.errors import WireError, shortened
from stateward_protocol.virtual_messages import StateDocumentParams

if TYPE_CHECKING:
    from concurrent.futures import Future

    from stateward_daemon.lsp.session import LspSession
    from stateward_daemon.steps import Steps
    from stateward_protocol.virtual_messages import StateDocumentResult

# Characters of a value in a message: more than that fills the screen.
MESSAGE_LENGTH_MAX: Final = 1_000


def read_state(session: LspSession, given: dict[str, Any]) -> Steps:
    """Show a value of the state: that of `path`, or with the `projection` `keys` its keys; or what a `uri` names."""
    uri, path = given.get("uri"), given.get("path")
    if isinstance(path, str):
        projection = given.get("projection", "value")
        if projection not in ("value", "keys"):
            raise _wrong("projection", "a value or its keys can be shown", projection, '[{"path": "cwd.lazy"}]')
        uri = state_uri(rooted(parse(path), session.caller.selection()), projection)
    if not isinstance(uri, str):
        raise _wrong("path", "name what to read by its path", path or uri, '[{"path": "cwd.lazy.plan"}]')
    return (yield from _show(session, uri))


def show_projection(session: LspSession, given: dict[str, Any]) -> Steps:
    """Show the projection of the document at `uri`, with the unsaved changes of this client."""
    uri = given.get("uri")
    path = (session.path(uri) or path_of(uri)) if isinstance(uri, str) else None
    if path is None:
        example = '[{"uri": "file:///home/ada/project/ACTIVE_GOAL_STATE.md"}]'
        raise _wrong("uri", "name a goal document by its URI", uri, example)
    return (yield from _show(session, projection_uri(path)))


def restart(session: LspSession, _given: dict[str, Any]) -> Steps:
    """Forget what was read for this client, look at everything again, and show it anew.

    The daemon stays: others use it, and what it holds is never older than the disk.
    """
    yield from ()
    for buffer in list(session.buffers.values()):
        buffer.forget()
        session.file_changed(buffer.path, session.documents.digest(buffer.path))
    session.folders.change(added=())
    uris = {*session.buffers, *session.folders.goals.values()}
    for uri in uris:
        session.showing.begin_anew(uri)
        session.showing.show(uri)
    session.served.show_all()
    session.showing.tell(
        "everything was read anew; the daemon runs on for others: stateward daemon restart starts another"
    )
    return {"documents": len(uris)}


def _show(session: LspSession, uri: str) -> Steps:
    """Have the client open a virtual document, or else show its beginning in a message."""
    read = partial(state_document.handle, session.caller, StateDocumentParams(uri=uri))
    # Others need not wait for a long one.
    document: StateDocumentResult = yield OnLane(uri, read)
    if session.client.opens_virtual:
        params = lsp.ShowDocumentParams(document.uri, take_focus=True)
        session.ask(lsp.WINDOW_SHOW_DOCUMENT, params).add_done_callback(partial(_opened, session, document))
    else:
        session.showing.tell(_message(document))
    return document


def _opened(session: LspSession, document: StateDocumentResult, future: Future[Any]) -> None:
    if future.cancelled():
        return
    if future.exception() is not None or not (future.result() or {}).get("success"):
        session.showing.tell(_message(document))


def _message(document: StateDocumentResult) -> str:
    text = document.text.rstrip("\n")
    if len(text) > MESSAGE_LENGTH_MAX:
        text = f"{text[:MESSAGE_LENGTH_MAX]}\n(the first {MESSAGE_LENGTH_MAX} of {len(text)} characters)"
    return f"{document.uri}\n{text}"


def _wrong(name: str, problem: str, got: object, example: str) -> WireError:
    path = f"$.params.arguments[0].{name}"
    return WireError("invalid_request", problem, path=path, got=shortened(str(got)), example=example)
