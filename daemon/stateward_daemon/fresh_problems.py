"""The problems of a document, in the answer of the mutation that changed it: what is wrong with it now."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stateward_daemon import convert
from stateward_daemon.steps import OnLane
from stateward_engine.authority.goal import MARKDOWN_AUTHORITY, find_goal
from stateward_engine.errors import EngineError
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps

# Problems in an answer, which somebody reads for another reason.
PROBLEMS_ANSWERED_MAX: Final = 20


def with_problems(caller: Caller, answer: Mapping[str, Any]) -> Steps:
    """Return an answer with `problems` and `problem_count` where its document was changed, else as it is.

    Nothing that goes wrong with them makes it fail. Callers that wait together and read the same state are told of one
    look, at what the document is after all of them.

    Args:
        caller: Who is answered.
        answer: Of a mutation of todos, or the report of a delivery.
    """
    if not _has_changed_document(answer):
        return answer
    goal_id = answer["goal_id"]
    job = partial(_look, caller, goal_id)
    try:
        told = yield OnLane(goal_id, job, ("problems", goal_id, caller.readable()))
    except (EngineError, WireError) as gone:
        caller.host.log.info("the problems of %s are not told: %s", goal_id, gone)
    except Exception:
        caller.host.log.exception("the problems of %s are not known", goal_id)
    else:
        return {**answer, **told}
    return answer


def _has_changed_document(answer: Mapping[str, Any]) -> bool:
    report = answer.get("projection_outbox", answer)
    if not report.get("changed"):
        return False
    # Only a delivery tells whether it was executed; in a document that is the authority, the change is the edit.
    return bool(report.get("executed", report.get("source_authority") == MARKDOWN_AUTHORITY))


def _look(caller: Caller, goal_id: str) -> dict[str, Any]:
    """Return the members; a job for the lane of the goal, where nobody of this process writes the document."""
    # Here, because no start should wait for what reads a document.
    from stateward_daemon.diagnosis import problems_to_see  # noqa: PLC0415

    goal = find_goal(caller.host.store.view, goal_id)
    goal.demand_on(caller.host.machine)
    path = Path(goal.path)
    document = caller.host.documents.read(path)
    problems = problems_to_see(caller, document, path)
    told = convert.gravest(problems, PROBLEMS_ANSWERED_MAX)
    return {"problems": convert.diagnostic_items(document, told), "problem_count": len(problems)}
