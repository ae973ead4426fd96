"""Every test of this folder has a home of its own."""

from __future__ import annotations

import pytest

from command_line import run, serve
from private_places import folder, user

__all__ = ["folder", "run", "serve", "user"]


@pytest.fixture(autouse=True)
def at_home(user: None) -> None:
    """Nothing more than `user`."""
