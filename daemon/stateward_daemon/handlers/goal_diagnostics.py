"""`goal_diagnostics`: the problems of a goal document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stateward_daemon import convert
from stateward_engine.errors import EngineError, UnwantedOwner
from stateward_engine.state.read import ReadRequest, read
from stateward_engine.state.references import mention_spans

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_daemon.host import Caller
    from stateward_engine.goals.problems import Problem
    from stateward_protocol import messages as m


def handle(caller: Caller, params: m.DocumentParams) -> m.GoalDiagnosticsResult:
    """Answer what an editor shows, with places in code points, and which references the caller's state cannot read."""
    document = caller.document(params.path, params.text)
    # Here, because no start should wait for what reads a document.
    from stateward_daemon.rules import rules_or_none  # noqa: PLC0415
    from stateward_engine.goals.problems import in_order  # noqa: PLC0415
    from stateward_engine.goals.state_problems import state_problems  # noqa: PLC0415
    from stateward_engine.goals.suppression import ruled  # noqa: PLC0415

    found: Iterable[Problem] = document.problems
    if caller.bound().mode != "off":
        found = in_order([*found, *state_problems(document, mention_spans, lambda path: _refusal(caller, path))])
    rules = rules_or_none(None if params.path is None else Path(params.path), caller.host.log)
    return convert.goal_diagnostics(document, ruled(found, rules))


def _refusal(caller: Caller, path: str) -> str | None:
    """Return why the caller cannot read a path, `None` when it can or does not work with its owner."""
    try:
        # Keys and kinds, so that nothing large is copied; in a batch, so that a hint is no answer.
        read(caller.host.store.view, caller.selection(), ReadRequest((path,), batch=True, projection="keys"))
    except UnwantedOwner:
        return None
    except EngineError as error:
        return str(error)
    return None
