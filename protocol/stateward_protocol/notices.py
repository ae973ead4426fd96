"""What a client may be told unasked: the messages of subscriptions, and the notifications themselves."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from msgspec import Meta

from stateward_protocol.messages import DiagnosticItem, JsonValue, Owner, Result, StrictParams

Topic: TypeAlias = Literal["state", "goals", "todos"]


class SubscribeParams(StrictParams, frozen=True):
    """What to be told of, by whomever, this connection included.

    `state` is every change of a wanted scope, `todos` every operation on a goal of the store, and `goals` every change
    of the problems in the document of one.
    """

    topics: Annotated[list[Topic], Meta(min_length=1)]


class SubscribeResult(Result, frozen=True):
    """What the connection is told of from now on."""

    topics: list[Topic]
    ok: bool = True


class StateChanged(Result, frozen=True):
    """The notification `state_changed`: which wanted scopes changed since the last one, and their revision now.

    It has nothing of what changed: read what you need. One that you do not read is followed by none; once you read
    again, the next one tells of everything since.
    """

    method: ClassVar = "state_changed"

    scopes: list[Owner]
    revision: str


class TodosChanged(Result, frozen=True):
    """The notification `todos_changed`: which todos of a goal changed since the last one, and its revision now.

    A todo changes with its record, its claim and its lease. `todo_ids` is null where any may have changed.
    """

    method: ClassVar = "todos_changed"

    goal_id: str
    provider_revision: str
    todo_ids: list[str] | None = None


class DiagnosticsChanged(Result, frozen=True):
    """The notification `diagnostics_changed`: the problems of a goal's document are others than at the last one.

    `goal` is its id and `uri` that of its document. `projection_diagnostics` and `items` are as `goal_diagnostics`
    answers them to this connection, without the fixes, which quote the document. At most 100 items are told, the
    gravest ones; `problem_count` is how many there are. Where `items` is null, ask: the document cannot be read, or
    nobody knows what was missed.
    """

    method: ClassVar = "diagnostics_changed"

    goal: str
    uri: str
    projection_diagnostics: dict[str, JsonValue] | None = None
    items: list[DiagnosticItem] | None = None
    problem_count: int | None = None


Notice: TypeAlias = StateChanged | DiagnosticsChanged | TodosChanged
NOTICES: Final[dict[str, type[Notice]]] = {
    kind.method: kind for kind in (StateChanged, DiagnosticsChanged, TodosChanged)
}
