"""Refusals: how the authority says no."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import Refused
from stateward_engine.json_value import PARAMS, Place

if TYPE_CHECKING:
    from stateward_engine.errors import Fact

GOT_CHARACTERS_MAX: Final = 160


def refused(reason_code: str, message: str, *, member: str | None = None, **facts: Fact | None) -> Refused:
    """Return the refusal of a well-formed call.

    Args:
        reason_code: One of the words of authority.md.
        message: What is wrong and what to do.
        member: The member of the params that it is about, or of a member: `lease.ttl_seconds`.
        facts: What a caller needs to go on.
    """
    got = facts.get("got")
    if isinstance(got, str):
        # Whoever sent it has the rest.
        facts["got"] = got[:GOT_CHARACTERS_MAX]
    path = None if member is None else str(reduce(Place, member.split("."), PARAMS))
    return Refused(message, reason_code=reason_code, path=path, **facts)
