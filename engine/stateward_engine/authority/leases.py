"""Leases: who may work on a todo, until when, and under which key."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stateward_engine.authority.goal import Members


def is_live(lease: Members, now: str) -> bool:
    """Tell whether a lease is neither released nor expired; whether its owner may still use it is another question."""
    return bool(lease["status"] == "active" and now < lease["expires_at"])
