"""Settings of the daemon: options of `daemon run`, else `STATEWARD_<NAME>`, else the defaults here.

What guards the daemon is never read from a workspace, where a stranger's checkout could change it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from stateward_protocol.errors import WireError, explained
from stateward_protocol.framing import MESSAGE_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping

ENVIRONMENT_PREFIX = "STATEWARD_"

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(ge=0.01)]
MachineId = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$(?!\n)", description="letters, digits and . _ - (at most 64)")
]


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What bounds one daemon.

    Attributes:
        max_message_bytes: A longer message is refused before it is read.
        client_stall_s: A client that does not read its answers for so long is dropped.
        idle_exit_s: The daemon ends after so long without clients; 0 is never.
        header_timeout_s: A header block that takes longer ends the connection.
        body_timeout_s: The same for a body.
        connections_max: Further connections are refused.
        queue_length_max: Mutations that may wait for the writer; further ones are `busy`.
        machine: What this machine is called in a store that several share, in the place of the name of its system.
        database_connect_s: How long the database of a store may take to accept a connection.
        database_statement_s: How long it may take for a statement; then a mutation is refused, or its outcome unknown.
        database_lock_s: How long a mutation waits for somebody else who holds the head of the ledger.
        database_poll_s: How often the head is looked at when the database tells of no change.
        max_stale_s: Reads fail when the database has not been reached for longer; 0 is never.
        store_file_system: `any` also takes a store on a file system that other machines may share.
    """

    max_message_bytes: Count = MESSAGE_BYTES_MAX
    client_stall_s: Seconds = 30.0
    idle_exit_s: Annotated[float, Meta(ge=0)] = 1800.0
    header_timeout_s: Seconds = 5.0
    body_timeout_s: Seconds = 30.0
    connections_max: Count = 1024
    queue_length_max: Count = 4096
    machine: MachineId | None = None
    database_connect_s: Seconds = 5.0
    database_statement_s: Seconds = 10.0
    database_lock_s: Seconds = 3.0
    database_poll_s: Seconds = 5.0
    max_stale_s: Annotated[float, Meta(ge=0)] = 0.0
    store_file_system: Literal["local", "any"] = "local"

    @classmethod
    def from_environment(
        cls, overrides: Mapping[str, object] | None = None, environment: Mapping[str, str] | None = None
    ) -> Settings:
        """Return the settings of this process.

        Args:
            overrides: Values by field name that win over the environment; `None` values do not count.
            environment: Defaults to the process environment.

        Raises:
            WireError: `invalid_request`, naming the setting and what it takes.
        """
        environment = os.environ if environment is None else environment
        given: dict[str, object] = {}
        for name in cls.__struct_fields__:
            text = environment.get(ENVIRONMENT_PREFIX + name.upper())
            if text is not None:
                given[name] = text
        given.update({name: value for name, value in (overrides or {}).items() if value is not None})
        try:
            # Not strict: the environment has text for every number.
            return msgspec.convert(given, cls, strict=False)
        except msgspec.ValidationError as error:
            complaint, path = explained(str(error), "")
            name = path.removeprefix(".")
            variable = ENVIRONMENT_PREFIX + name.upper()
            raise WireError("invalid_request", f"the setting {name} ({variable}) does not fit: {complaint}") from None
