"""What a row of the method table is."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from msgspec import Struct


class Kind(Enum):
    """What a method needs and touches."""

    CONNECTION = "is answered on any connection, attached or not"
    CONTROL = "concerns the daemon itself, and needs `attach`"
    READ = "answers from the captured view, and needs `attach`"
    WRITE = "goes through the writer, and needs `attach`"
    DOCUMENT = "reads a document, and needs `attach`"
    GOAL = "decides about a goal, by way of its document and the writer, and needs `attach`"
    MAINTENANCE = "goes through the writer for the store as a whole, attached or not"


class Method(NamedTuple):
    """One row of the table.

    Attributes:
        name: As sent, without the prefix.
        kind: What it needs and touches.
        params: The struct that its params are decoded into.
        result: The struct of its answer, or `dict` where the shape follows the request.
        summary: What it does, as one sentence.
        example: Params of a right call.
    """

    name: str
    kind: Kind
    params: type[Struct]
    result: type[Struct | dict[str, Any]]
    summary: str
    example: dict[str, Any]

    @property
    def needs_attach(self) -> bool:
        """Whether a connection must be bound to its owners first."""
        return self.kind not in (Kind.CONNECTION, Kind.MAINTENANCE)

    @property
    def writes(self) -> bool:
        """Whether its handler gives a command for the writer."""
        return self.kind in (Kind.WRITE, Kind.MAINTENANCE)
