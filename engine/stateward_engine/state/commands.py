"""Commands: what clients ask the one writer to change, already checked as far as no state is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from stateward_engine.errors import InvalidRequest
from stateward_engine.json_value import PARAMS, Json, Place, preview
from stateward_engine.state.view import HISTORY_LIMIT_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.state.patch import ScopedPatch
    from stateward_engine.state.view import Planes, ScopeName, Selection


@dataclass(frozen=True, slots=True)
class PatchState:
    """Apply an authored patch to what is current (state.md section 8).

    Attributes:
        selection: Who asks.
        patch: The patch, already parsed against `selection.wanted`.
        idempotency_key: The same key and patch again is answered from the kept receipt.
        if_revision: What `revision_of` said to the client; refuse when a wanted scope has moved on.
    """

    selection: Selection
    patch: ScopedPatch
    idempotency_key: str | None = None
    if_revision: str | None = None


@dataclass(frozen=True, slots=True)
class ImportState:
    """Set whole states of scopes that never had any, with a new origin.

    Attributes:
        selection: Who asks.
        scopes: The states, already parsed against `selection.wanted`.
    """

    selection: Selection
    scopes: Mapping[ScopeName, Planes]


@dataclass(frozen=True, slots=True)
class Configure:
    """Set the store's durable history limit; `parse_history_limit` makes it from what a client sent."""

    history_limit: int


Command: TypeAlias = PatchState | ImportState | Configure


def parse_history_limit(value: Json) -> int:
    """Return the history limit that a client sent.

    Raises:
        InvalidRequest: Not an integer from 0 to `HISTORY_LIMIT_MAX`.

    Source: state.md section 7.1.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HISTORY_LIMIT_MAX:
        return value
    wanted = f"an integer from 0 to {HISTORY_LIMIT_MAX}"
    raise InvalidRequest(
        f"history_limit must be {wanted}",
        path=str(Place(PARAMS, "history_limit")),
        got=preview(value),
        wanted=wanted,
        example='{"history_limit": 7}',
    )
