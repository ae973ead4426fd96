"""Performing: a handler of several steps is taken through them, one after the other. Runs on the event loop."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from stateward_daemon import convert
from stateward_daemon.steps import OnLane
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_daemon.host import Host
    from stateward_daemon.lanes import Waiting
    from stateward_daemon.steps import Step, Steps
    from stateward_engine.store.group import Outcome
    from stateward_engine.store.writer import Ticket


class Performance:
    """One handler on its way."""

    def __init__(
        self, host: Host, steps: Steps, done: Callable[[Any], None], failed: Callable[[Exception], None]
    ) -> None:
        """Be ready to begin.

        Args:
            host: Who serves the caller.
            steps: The handler.
            done: Called with its answer.
            failed: Called instead, when it raises.
        """
        self._host = host
        self._steps = steps
        self._done = done
        self._failed = failed
        # What takes back the first step, as long as it has not begun.
        self._ticket: Ticket | Waiting | None = None

    def begin(self) -> None:
        """Take the first step; the others follow.

        Raises:
            WireError: `shutting_down`.
        """
        demand_running(self._host)
        self._go_on(partial(next, self._steps), first=True)

    def cancel(self) -> bool:
        """Take back what has not begun; tell whether nothing has happened, and neither `done` nor `failed` will be.

        What has happened cannot be taken back, and what follows from it should not.
        """
        return self._ticket is not None and self._ticket.cancel()

    def _go_on(self, resume: Callable[[], Step], *, first: bool = False) -> None:
        """Resume the handler and have its next step taken; one that cannot be is told to the handler."""
        self._ticket = None
        try:
            step = resume()
            try:
                ticket = self._take(step)
            except Exception as error:  # noqa: BLE001 - what came before may have been committed
                self._go_on(partial(self._steps.throw, error))
                return
            if first:
                self._ticket = ticket
        except StopIteration as end:
            self._done(end.value)
        except Exception as error:  # noqa: BLE001 - the request is answered, whatever broke
            self._steps.close()
            self._failed(error)

    def _take(self, step: Step) -> Ticket | Waiting:
        """Have one step taken, and the handler resumed then; return what takes it back."""
        if isinstance(step, OnLane):
            return self._host.lanes.run(
                step,
                lambda result: self._go_on(partial(self._steps.send, result)),
                lambda error: self._go_on(partial(self._steps.throw, error)),
            )
        return self._host.store.submit(step, self._committed)

    def _committed(self, outcome: Outcome) -> None:
        """Give the handler what its command came to."""
        try:
            resume = partial(self._steps.send, convert.receipt(outcome))
        except Exception as error:  # noqa: BLE001 - the handler is told, whatever broke
            resume = partial(self._steps.throw, error)
        self._go_on(resume)


def demand_running(host: Host) -> None:
    """Refuse what changes anything once the daemon is ending.

    Raises:
        WireError: `shutting_down`.
    """
    if host.stopping:
        raise WireError("shutting_down", "the daemon is ending; repeat the call on a new connection", retryable=True)
