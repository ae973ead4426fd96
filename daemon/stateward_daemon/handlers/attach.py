"""`attach`: bind a connection to the owners that it works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from stateward_daemon import convert
from stateward_daemon.host import Attachment
from stateward_engine.state.read import PATH_LENGTH_MAX, PATHS_MAX
from stateward_engine.store.record import ENTRY_BYTES_MAX
from stateward_protocol import messages as m
from stateward_protocol.errors import WireError, shortened
from stateward_protocol.methods import PROTOCOL_VERSION

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, params: m.AttachParams) -> m.AttachResult:
    """Bind the caller, or bind it anew; the answer tells what it is bound to."""
    if params.protocol != PROTOCOL_VERSION:
        raise WireError(
            "invalid_request",
            f"this daemon ({caller.host.version}) speaks protocol {PROTOCOL_VERSION}; "
            "run `stateward daemon restart` with the stateward that your client belongs to",
            path="$.params.protocol",
            got=params.protocol,
            wanted=PROTOCOL_VERSION,
            daemon_version=caller.host.version,
        )
    wanted = None if params.wanted is UNSET else params.wanted
    selection = convert.selection(params.cwd, params.session, wanted, caller.host.machine)
    for scope in selection.wanted:
        # Refuses a damaged one, so that nobody works for long before they meet it.
        caller.host.store.view.scope(selection.identity(scope))
    # What a program calls itself is shown and decides nothing, so a long name is no reason to refuse its work.
    name, version = shortened(params.client.name), shortened(params.client.version)
    caller.attachment = Attachment("agent", name, version, selection, params.mode)
    host, view = caller.host, caller.host.store.view
    known = view.sessions.get(selection.cwd, {}) if selection.cwd is not None else {}
    return m.AttachResult(
        protocol=PROTOCOL_VERSION,
        daemon=m.DaemonInfo(version=host.version, pid=host.pid, store=str(host.place), provider=host.store.provider),
        cwd=convert.shown_cwd(selection.cwd, host.machine),
        session=selection.session,
        wanted=list(selection.wanted),
        mode=params.mode,
        history_limit=view.history_limit,
        limits=m.Limits(
            max_message_bytes=host.settings.max_message_bytes,
            max_entry_bytes=ENTRY_BYTES_MAX,
            queue_length_max=host.settings.queue_length_max,
            max_path_length=PATH_LENGTH_MAX,
            max_paths=PATHS_MAX,
        ),
        sessions=[
            m.KnownSession(id=session, changed_at=at)
            for session, at in sorted(known.items(), key=lambda item: item[1], reverse=True)
        ],
        stale_since=host.stale_since or UNSET,
    )
