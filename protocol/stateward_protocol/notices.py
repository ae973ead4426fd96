"""What a client may be told unasked: the messages of subscriptions, and the notifications themselves."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from stateward_protocol.messages import Owner, Result, StrictParams

Topic: TypeAlias = Literal["state"]


class SubscribeParams(StrictParams, frozen=True):
    """What to be told of. `state` is every change of a wanted scope, by whomever, this connection included."""

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

    scopes: list[Owner]
    revision: str
