"""The method table: every method of the wire once, with its types, its rules, one line of meaning and one right call.

The daemon dispatches by it, the client library mirrors it, and the protocol page is generated from it. Its rows stand
by subject in the modules that it joins.
"""

from __future__ import annotations

from typing import Final

from stateward_protocol import goal_methods, state_methods, todo_methods
from stateward_protocol.method import Kind, Method
from stateward_protocol.state_methods import PROTOCOL_VERSION

__all__ = ["METHODS", "PREFIX", "PROTOCOL_VERSION", "Kind", "Method"]

# The same methods, for LSP clients that keep foreign names apart.
PREFIX: Final = "stateward/"

METHODS: Final[dict[str, Method]] = {
    method.name: method for method in (*state_methods.ROWS, *goal_methods.ROWS, *todo_methods.ROWS)
}
