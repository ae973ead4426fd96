"""Delivery: how the display of a promoted goal catches up with its authority, as a state machine. Pure.

A delivery looks at nothing and writes nothing. It is told what happened (an event) and says what to do next (an
action): `begin`, then `advance` for each event, until the action is `Finish` or `Refuse`. Whoever drives it has neither
to count attempts nor to know which revision is meant.

The authority judges whether a display is delivered, by `confirm` and on a fresh read, not by what the writer of the
file remembers; a delivery checks what it is told and takes nothing for success that is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, assert_never

from stateward_engine.authority.delivery_failures import Failure
from stateward_engine.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

ATTEMPTS_MAX: Final = 3
DELIVERED: Final = ("delivered", "current")
# A file alone acknowledges nothing.
UNCONFIRMED: Final = Failure(
    "todo_projection_authority_unavailable",
    "MissingConfirmation",
    "the file was written, and the authority has not confirmed that it shows the head",
)

Target: TypeAlias = Literal["latest", "pinned"]
DeliveryStatus: TypeAlias = Literal["delivered", "current", "pending"]
NextAction: TypeAlias = Literal["retry", "finish"]


# -- the authority's side --------------------------------------------------------------------------------------------


class Confirmation(NamedTuple):
    """What the authority says of a display that was read back.

    Attributes:
        projection_readback: What it was told: `provider_revision`, `changed`, `attempt`, `target`, and nothing else.
        observed_provider_revision: Its head at that moment. It promises nothing of later ones.
        status: Whether the display is delivered.
        next_action: Whether to render once more, the head that was just observed.
    """

    projection_readback: Mapping[str, object]
    observed_provider_revision: str
    status: DeliveryStatus
    next_action: NextAction


def confirm(projection_readback: Mapping[str, Any], head: str) -> Confirmation:
    """Judge a display that was read back against the head of a fresh read.

    Args:
        projection_readback: `provider_revision` that was rendered, whether any attempt `changed` the bytes, the
            `attempt` from 1, and the `target`.
        head: The revision of the goal now.

    Raises:
        InvalidRequest: The readback has other members.

    Source: authority.md section 5, the table.
    """
    if not _is_readback(projection_readback):
        raise InvalidRequest(
            "a projection_readback has provider_revision, changed, attempt from 1 to 3 and target, and nothing else",
            path="$.params.projection_readback",
            wanted='{"provider_revision": "file:s:1", "changed": true, "attempt": 1, "target": "latest"}',
        )
    status: DeliveryStatus = "pending"
    next_action: NextAction = "finish"
    if projection_readback["provider_revision"] == head:
        status = "delivered" if projection_readback["changed"] else "current"
    elif projection_readback["target"] == "latest" and projection_readback["attempt"] < ATTEMPTS_MAX:
        next_action = "retry"
    return Confirmation(projection_readback, head, status, next_action)


def _is_readback(given: Mapping[str, Any]) -> bool:
    return (
        given.keys() == {"provider_revision", "changed", "attempt", "target"}
        and isinstance(given["provider_revision"], str)
        and isinstance(given["changed"], bool)
        and type(given["attempt"]) is int
        and 1 <= given["attempt"] <= ATTEMPTS_MAX
        and given["target"] in ("latest", "pinned")
    )


# -- states, actions, events -----------------------------------------------------------------------------------------


class Delivery(NamedTuple):
    """How far one delivery has come.

    Attributes:
        pinned: The one revision that may be shown; `None` for the latest.
        attempt: Which one is going on, from 1; 0 before the first.
        revision: What is rendered in it.
        changed: Whether any attempt changed the bytes of the document.
        recovered: Whether one made the document anew.
    """

    pinned: str | None = None
    attempt: int = 0
    revision: str | None = None
    changed: bool = False
    recovered: bool = False

    @property
    def target(self) -> Target:
        """What the delivery is about."""
        return "latest" if self.pinned is None else "pinned"

    def projection_readback(self) -> dict[str, object]:
        """Return what the authority is told of the attempt."""
        return {
            "provider_revision": self.revision,
            "changed": self.changed,
            "attempt": self.attempt,
            "target": self.target,
        }


@dataclass(frozen=True, slots=True)
class Read:
    """Read the head of the authority; answered by `HeadRead`."""


@dataclass(frozen=True, slots=True)
class Render:
    """Render `revision`, which was read last, onto what stands in the file; answered by `Rendered`."""

    revision: str


@dataclass(frozen=True, slots=True)
class Publish:
    """Put the rendering in place durably, also when it changes nothing; answered by `Published`.

    Attributes:
        create: Only where there is no file; otherwise only in the place of one.
    """

    create: bool


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Read the file again and find the sections in it that were rendered; answered by `FoundAgain`."""


@dataclass(frozen=True, slots=True)
class Confirm:
    """Read the authority afresh and let it `confirm` the delivery's `projection_readback`; answered by `Confirmed`."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The end: the judgement of the authority, or what failed."""

    result: Confirmation | Failure


@dataclass(frozen=True, slots=True)
class Refuse:
    """The end, with nothing written: the pinned revision is not the head."""

    head: str


Action: TypeAlias = Read | Render | Publish | ReadBack | Confirm | Finish | Refuse


@dataclass(frozen=True, slots=True)
class HeadRead:
    """The head of the authority is `revision`."""

    revision: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """The rendering is ready; `there` tells whether there is a file to put it in."""

    there: bool


@dataclass(frozen=True, slots=True)
class Published:
    """The rendering is in place; `changed` tells whether the file held other bytes before."""

    changed: bool


@dataclass(frozen=True, slots=True)
class FoundAgain:
    """The file, read again, shows what was rendered."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The authority has judged; `None` when its answer was none."""

    confirmation: Confirmation | None


@dataclass(frozen=True, slots=True)
class Failed:
    """What was to be done could not be."""

    failure: Failure


Event: TypeAlias = HeadRead | Rendered | Published | FoundAgain | Confirmed | Failed


def begin(pinned: str | None = None) -> tuple[Delivery, Action]:
    """Return a new delivery and what to do first.

    Args:
        pinned: The one revision to show; `None` for the latest.
    """
    return Delivery(pinned), Read()


def advance(delivery: Delivery, event: Event) -> tuple[Delivery, Action]:
    """Return the delivery after an event, and what to do next."""
    match event:
        case HeadRead(revision):
            return _opened(delivery, revision)
        case Rendered(there):
            return delivery._replace(recovered=delivery.recovered or not there), Publish(create=not there)
        case Published(changed):
            return delivery._replace(changed=delivery.changed or changed), ReadBack()
        case FoundAgain():
            return delivery, Confirm()
        case Confirmed(confirmation):
            return _judged(delivery, confirmation)
        case Failed(failure):
            return delivery, Finish(failure)
    assert_never(event)


def _opened(delivery: Delivery, head: str) -> tuple[Delivery, Action]:
    # Before anything is written: a pinned delivery is of its revision or of none.
    return (delivery, Refuse(head)) if delivery.pinned not in (None, head) else _attempt(delivery, head)


def _attempt(delivery: Delivery, revision: str) -> tuple[Delivery, Action]:
    return delivery._replace(attempt=delivery.attempt + 1, revision=revision), Render(revision)


def _judged(delivery: Delivery, confirmation: Confirmation | None) -> tuple[Delivery, Action]:
    if confirmation is None or not _is_sound(delivery, confirmation):
        return delivery, Finish(UNCONFIRMED)
    if confirmation.next_action == "retry":
        return _attempt(delivery, confirmation.observed_provider_revision)
    return delivery, Finish(confirmation)


def _is_sound(delivery: Delivery, confirmation: Confirmation) -> bool:
    """Tell whether a confirmation is about this attempt, and claims nothing that its own facts deny."""
    caught_up = confirmation.observed_provider_revision == delivery.revision
    if confirmation.projection_readback != delivery.projection_readback():
        return False
    if confirmation.next_action == "retry":
        return not caught_up and delivery.pinned is None and delivery.attempt < ATTEMPTS_MAX
    return caught_up == (confirmation.status in DELIVERED)
