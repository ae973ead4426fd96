"""Reasons: how the authority says no, and the words of its ids."""

from __future__ import annotations

import re
from functools import reduce
from typing import Final

from stateward_engine.errors import Fact, InvalidRequest, Refused
from stateward_engine.json_value import PARAMS, Place

GOAL_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
# What names an operation, a lease or a turn: a word that logs, shells and paths of the state take as it is.
KEY: Final = re.compile(r"[A-Za-z0-9_.:@/-]{1,160}")


def refused(reason_code: str, message: str, *, member: str | None = None, **facts: Fact | None) -> Refused:
    """Return the refusal of a well-formed call.

    Args:
        reason_code: One of the words of authority.md.
        message: What is wrong and what to do.
        member: The member of the params that it is about, or of a member: `lease.ttl_seconds`.
        facts: What a caller needs to go on.
    """
    path = None if member is None else str(reduce(Place, member.split("."), PARAMS))
    return Refused(message, reason_code=reason_code, path=path, **facts)


def demand_word(pattern: re.Pattern[str], word: str, member: str, wanted: str, example: str) -> str:
    """Return `word`, which has to be one of a grammar.

    Raises:
        InvalidRequest: It is not; `wanted` says in words what would be, and `example` is one.
    """
    if pattern.fullmatch(word):
        return word
    place = Place(PARAMS, member)
    raise InvalidRequest(f"{place} is {wanted}", path=str(place), got=word[:160], wanted=wanted, example=example)
