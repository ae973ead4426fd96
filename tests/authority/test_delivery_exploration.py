"""Every way in which a delivery can go, over the functions that are shipped; and planted faults that this must find.

LX-090 LX-092 LX-109 LX-110 LX-122 LX-130 LX-131 LX-132 LX-133 LX-135 LX-139
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from authority.delivery_world import Violation, explore, first_world
from stateward_engine.authority import delivery as d
from stateward_engine.authority import delivery_reports

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# In an ordinary run; with more, the world is visited as far as it goes.
DEPTH: Final = int(os.environ.get("STATEWARD_DELIVERY_DEPTH", "12"))
# Nobody but the writers, to the end: here deliveries are overtaken as often as can be.
CHURN: Final = first_world(1)._replace(edits=0, crashes=0, faults=0, leases=2)
TO_THE_END: Final = 1000

shipped_advance, shipped_attempt, shipped_confirm = d.advance, d._attempt, d.confirm


class TestEveryInterleaving:
    def test_three_writers_an_editor_a_crash_and_an_outage_break_no_promise(self) -> None:
        states = explore(first_world(), DEPTH)

        print(f"{states} states to depth {DEPTH}")  # noqa: T201 - the figure of the run
        assert states > 50_000

    def test_writers_who_never_stop_break_no_promise(self) -> None:
        """LX-133: persistent churn ends as pending, and does not loop."""
        states = explore(CHURN, TO_THE_END)

        print(f"{states} states to the end")  # noqa: T201 - the figure of the run
        assert states > 5_000


def judging(**other: Any) -> Callable[[Mapping[str, Any], str], d.Confirmation]:
    """Return the authority's judgement with one member replaced in the rows of the table that `when` names."""
    when = other.pop("when")

    def confirm(readback: Mapping[str, Any], head: str) -> d.Confirmation:
        right = shipped_confirm(readback, head)
        equal = readback["provider_revision"] == head
        return right._replace(**other) if when(equal, readback) else right

    return confirm


def on_event(kind: type[d.Event], mutant: Callable[[d.Delivery, Any], tuple[d.Delivery, d.Action]]) -> Any:
    def advance(delivery: d.Delivery, event: d.Event) -> tuple[d.Delivery, d.Action]:
        return mutant(delivery, event) if isinstance(event, kind) else shipped_advance(delivery, event)

    return advance


def finish(delivery: d.Delivery) -> tuple[d.Delivery, d.Action]:
    readback = delivery.projection_readback()
    return delivery, d.Finish(d.Confirmation(readback, str(delivery.revision), "delivered", "finish"))


def believing(delivery: d.Delivery, confirmation: d.Confirmation) -> bool:
    """Take whatever the authority says."""
    return confirmation.projection_readback == delivery.projection_readback()


MUTANTS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    # The rows of the table.
    "equal and changed is called current": (
        "the status is delivered",
        {"confirm": judging(status="current", when=lambda equal, _: equal)},
    ),
    "equal and unchanged is called delivered": (
        "the status is current",
        {"confirm": judging(status="delivered", when=lambda equal, _: equal)},
    ),
    "equal is called pending": (
        "the status is delivered",
        {"confirm": judging(status="pending", when=lambda equal, _: equal)},
    ),
    "equal is retried": (
        "the status is delivered",
        {"confirm": judging(status="pending", next_action="retry", when=lambda equal, _: equal)},
    ),
    "the first overlap of the latest is not retried": (
        "an overlap is caught up, up to three times",
        {"confirm": judging(next_action="finish", when=lambda equal, told: not equal and told["attempt"] == 1)},
    ),
    "the second overlap of the latest is not retried": (
        "an overlap is caught up, up to three times",
        {"confirm": judging(next_action="finish", when=lambda equal, told: not equal and told["attempt"] == 2)},
    ),
    "the third overlap of the latest is retried": (
        "nothing is retried beyond what it may",
        {
            "confirm": judging(next_action="retry", when=lambda equal, told: not equal and told["target"] == "latest"),
            "_is_sound": believing,
        },
    ),
    "an overlap of a pin is retried": (
        "nothing is retried beyond what it may",
        {
            "confirm": judging(next_action="retry", when=lambda equal, told: not equal and told["target"] == "pinned"),
            "_is_sound": believing,
        },
    ),
    "an overlap is called delivered": (
        "the status is pending",
        {"confirm": judging(status="delivered", when=lambda equal, _: not equal), "_is_sound": believing},
    ),
    # What must never happen.
    "a file that was read back is enough": (
        "no false delivered",
        {"advance": on_event(d.FoundAgain, lambda delivery, _: finish(delivery))},
    ),
    "a missing confirmation is enough": (
        "what failed is pending",
        {"advance": on_event(d.Confirmed, lambda delivery, told: shipped_advance(delivery, told)
                             if told.confirmation else finish(delivery))},
    ),
    "a failure is forgotten": (
        "what failed is pending",
        {"advance": on_event(d.Failed, lambda delivery, _: finish(delivery))},
    ),
    "the file is not read back": (
        "no false delivered",
        {"advance": on_event(d.Published, lambda delivery, told: shipped_advance(
            shipped_advance(delivery, told)[0], d.FoundAgain()))},
    ),
    "there is a fourth attempt": (
        "nothing is retried beyond what it may",
        {"ATTEMPTS_MAX": 4},
    ),
    "what is retried is what was overtaken": (
        "an overlap is caught up, up to three times",
        {"_attempt": lambda delivery, revision: (
            delivery._replace(attempt=delivery.attempt + 1, revision=delivery.revision or revision),
            d.Render(delivery.revision or revision),
        )},
    ),
    "a pin that is not the head is shown all the same": (
        "a pin is never retargeted",
        {"_opened": d._attempt},
    ),
    "a pinned delivery is refused though it is the head": (
        "a pin is checked first",
        {"_opened": lambda delivery, head: (
            (delivery, d.Refuse(head)) if delivery.pinned else shipped_attempt(delivery, head)
        )},
    ),
    "a missing file is not made": (
        "what nobody disturbs succeeds",
        {"advance": on_event(d.Rendered, lambda delivery, _: (delivery, d.Publish(create=False)))},
    ),
    "once a file was made, files are made": (
        "what nobody disturbs succeeds",
        {"advance": on_event(d.Rendered, lambda delivery, told: (
            delivery._replace(recovered=delivery.recovered or not told.there),
            d.Publish(create=delivery.recovered or not told.there),
        ))},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    promise, functions = MUTANTS[name]
    for function, mutant in functions.items():
        monkeypatch.setattr(d, function, mutant)

    with pytest.raises(Violation, match=f"^{promise}$"):
        find_violation()


def test_a_caller_who_is_told_to_repeat_the_business_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(delivery_reports._RETRY, "retry_business_mutation", True)

    with pytest.raises(Violation, match="no business mutation is repeated"):
        find_violation()


def find_violation() -> None:
    """Look where overlaps are, then where everything else is."""
    explore(CHURN, TO_THE_END)
    explore(first_world(1), DEPTH)
