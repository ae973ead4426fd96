"""The one place that converts wire and engine types, a function each way."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from msgspec import UNSET

from stateward_engine.authority.goal import all_goals
from stateward_engine.errors import EngineError, InvalidRequest
from stateward_engine.state.machines import named_on, path_on
from stateward_engine.state.view import SCOPES, Identity, Selection
from stateward_engine.store.group import Rejected
from stateward_protocol import messages as m
from stateward_protocol.errors import WireError
from stateward_protocol.goal_messages import GoalEntry, GoalListResult
from stateward_protocol.record_messages import GoalRenderResult

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterable, Mapping, Sequence

    from stateward_daemon.positions import LineIndex
    from stateward_engine.authority.goal import Machine
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.problems import Fix, Problem
    from stateward_engine.state.view import View
    from stateward_engine.store.group import Outcome
    from stateward_engine.store.store import Store


# The gravest first.
_GRAVITY: Final = get_args(m.Severity)


def wire_error(error: EngineError) -> WireError:
    """Return the error answer for a refusal of the engine."""
    facts: dict[str, Any] = dict(error.facts)
    if error.retryable:
        facts["retryable"] = True
    return WireError(error.category, str(error), **facts)


def refusal(error: Exception, log: logging.Logger) -> WireError:
    """Return what to answer for an exception of any kind.

    One that is no refusal is a mistake of ours: it is logged, and the answer names the log line and quotes nothing.
    """
    if isinstance(error, WireError):
        return error
    if isinstance(error, EngineError):
        return wire_error(error)
    incident = os.urandom(6).hex()
    log.error("incident %s", incident, exc_info=error)
    return WireError("internal", "the daemon made a mistake; its log names this incident", incident=incident)


def receipt(outcome: Outcome) -> Mapping[str, Any]:
    """Return what a mutation is answered.

    Raises:
        WireError: It was refused, or its outcome is not known.
        Exception: A mistake of ours in deciding it.
    """
    if not isinstance(outcome, Rejected):
        return outcome.receipt
    if isinstance(outcome.error, EngineError):
        raise wire_error(outcome.error)
    raise outcome.error


def writer_health(store: Store) -> m.WriterHealth:
    """Return whether mutations are taken, and why not."""
    health, outage = store.health, store.outage
    reason = None if health == "ok" else health
    return m.WriterHealth(ok=health == "ok", reason=reason, stale_since=UNSET if outage is None else outage.since)


def damaged_scopes(view: View, machine: Machine | None) -> list[m.DamagedScope]:
    """Return the scopes that cannot be trusted."""
    return [
        m.DamagedScope(
            kind=identity.kind,
            cwd=shown_cwd(identity.cwd, machine),
            session=identity.session,
            file=damage.file,
            reason=damage.reason,
            goal_id=identity.goal,
        )
        for identity, damage in view.damaged.items()
    ]


def goal_list(view: View) -> GoalListResult:
    """Return the registered goals."""
    return GoalListResult(
        goals=[
            GoalEntry(
                goal_id=goal.goal_id,
                **goal.place(),
                promoted=goal.promoted,
                handoff_mode=goal.handoff_mode,
                provider_revision=goal.provider_revision,
            )
            for goal in all_goals(view)
        ]
    )


def selection(
    cwd: str | None, session: str | None, wanted: Sequence[m.Owner] | None, machine: Machine | None
) -> Selection:
    """Return the owners that a client asked to be bound to.

    Args:
        cwd: An absolute path of an existing directory, or `None`.
        session: A session id, or `None`.
        wanted: Owners by name; `None` is every owner that is given.
        machine: That of the client, in a store that several share.

    Raises:
        InvalidRequest: for a directory that is not there, a session without a cwd, or an owner without what names it.
    """
    if cwd is not None and (not os.path.isabs(cwd) or "\0" in cwd or not os.path.isdir(cwd)):  # noqa: PTH112, PTH117
        raise InvalidRequest(
            "cwd is the absolute path of an existing directory",
            path="$.params.cwd",
            got=cwd,
            example='{"cwd": "/home/ada/project"}',
        )
    if session is not None and cwd is None:
        raise InvalidRequest("a session needs a cwd", path="$.params.session", wanted="cwd and session together")
    given = {"global": True, "cwd": cwd is not None, "session": session is not None}
    asked = [scope for scope in SCOPES if given[scope]] if wanted is None else list(wanted)
    if not asked or len(set(asked)) != len(asked):
        raise InvalidRequest("wanted lists one to three distinct owners", path="$.params.wanted", wanted=list(SCOPES))
    for scope in asked:
        if not given[scope]:
            raise InvalidRequest(
                f"wanted names {scope}, so {scope} must be given", path=f"$.params.{scope}", wanted=f"a {scope}"
            )
    return Selection(_named(cwd, machine), session, tuple(scope for scope in SCOPES if scope in asked))


def _named(cwd: str | None, machine: Machine | None) -> str | None:
    """Return what names a directory of this machine in the store."""
    # For Linux two slashes say what one says, and here they would name another machine.
    return None if cwd is None else named_on(f"/{os.path.realpath(cwd).lstrip('/')}", machine and machine.id)


def shown_cwd(name: str | None, machine: Machine | None) -> str | None:
    """Return the path of a directory of this machine from its name; that of another machine keeps its name."""
    return None if name is None else path_on(name, machine and machine.id)


def identity(
    kind: m.StreamKind, cwd: str | None, session: str | None, goal_id: str | None, machine: Machine | None
) -> Identity:
    """Return the identity of one stream; the directory of a scope need not exist any more.

    Raises:
        InvalidRequest: What names the stream is missing.
    """
    if kind == "goal" or kind == "display":  # noqa: PLR1714 - which types are told apart by
        if goal_id is None:
            raise InvalidRequest(
                f"the {kind} stream is named by its goal",
                path="$.params.goal_id",
                wanted="a goal_id",
                example='{"scope": "goal", "goal_id": "rollback"}',
            )
        return Identity(kind, goal=goal_id)
    return _identity_of_scope(kind, cwd, session, machine)


def _identity_of_scope(scope: m.Owner, cwd: str | None, session: str | None, machine: Machine | None) -> Identity:
    given = {"global": True, "cwd": cwd is not None, "session": cwd is not None and session is not None}
    if not given[scope]:
        named = "a cwd" if scope == "cwd" else "a cwd and a session"
        raise InvalidRequest(
            f"the {scope} scope is named by {named}",
            path="$.params",
            wanted=named,
            example='{"scope": "cwd", "cwd": "/home/ada/project"}',
        )
    return Selection(_named(cwd, machine), session, (scope,)).identity(scope)


def projection(document: GoalDocument, *, goal_id: str | None, source_ref: str) -> dict[str, Any]:
    """Return the projection object of a document, under the names that the caller gives it.

    Raises:
        UnsafeDocument: The document is refused.
    """
    if document.refusal is not None:
        raise document.refusal
    assert document.projection is not None  # noqa: S101 - a document has one or the other
    # Here, because whoever has a document has loaded what reads one, and others should not.
    from stateward_engine.goals.projection import named  # noqa: PLC0415

    return named(document.projection, goal_id=goal_id, source_ref=source_ref)


def goal_diagnostics(document: GoalDocument, problems: Iterable[Problem]) -> m.GoalDiagnosticsResult:
    """Return problems of a document, with places in code points.

    Args:
        document: What the text says.
        problems: Those of its problems that are shown, and what others found in it.
    """
    return m.GoalDiagnosticsResult(
        projection_diagnostics=cast("dict[str, Any] | None", document.diagnostics),
        items=diagnostic_items(document, problems),
    )


def diagnostic_items(document: GoalDocument, problems: Iterable[Problem]) -> list[m.DiagnosticItem]:
    """Return problems of a document as the wire shows them, with places in code points."""
    # Here, as in `projection`.
    from stateward_daemon.positions import LineIndex  # noqa: PLC0415

    index = LineIndex(document.text)
    return [_diagnostic_item(problem, index) for problem in problems]


def gravest(problems: list[Problem], count: int) -> list[Problem]:
    """Return the gravest `count` of some problems, in the order that they have; all of them where there are no more."""
    if len(problems) <= count:
        return problems
    by_gravity = sorted(range(len(problems)), key=lambda at: _GRAVITY.index(problems[at].severity))
    return [problems[at] for at in sorted(by_gravity[:count])]


def rendering(
    document: GoalDocument,
    records: Sequence[Any],
    provider_revision: str,
    private_validation: Mapping[str, Any],
) -> GoalRenderResult:
    """Return a document with canonical records in place.

    Raises:
        UnsafeDocument: The document is refused, or cannot take sections without guessing.
        EngineError: A record or the revision is refused.
    """
    if document.refusal is not None:
        raise document.refusal
    # Here, because few who read documents render.
    from stateward_engine.goals.render import render  # noqa: PLC0415

    rendered = render(document.text, records, provider_revision, private_validation)
    return GoalRenderResult(**{name: getattr(rendered, name) for name in GoalRenderResult.__struct_fields__})


def _diagnostic_item(problem: Problem, index: LineIndex) -> m.DiagnosticItem:
    """Return one problem as the wire shows it."""
    return m.DiagnosticItem(
        range=code_point_range(problem.span, index),
        severity=problem.severity,
        code=problem.code,
        message=problem.message,
        related=[m.Related(range=code_point_range(span, index), message=text) for span, text in problem.related],
        fix=UNSET if problem.fix is None else _fix(problem.fix, index),
    )


def _fix(fix: Fix, index: LineIndex) -> m.Fix:
    edits = [m.TextEdit(range=code_point_range(edit.span, index), text=edit.text) for edit in fix.edits]
    return m.Fix(title=fix.title, safe=fix.safe, edits=edits)


def code_point_range(span: tuple[int, int], index: LineIndex) -> m.Range:
    """Return a span of code-point offsets as lines and characters in code points."""
    (start_line, start), (end_line, end) = index.position(span[0]), index.position(span[1])
    return m.Range(start=m.Position(line=start_line, character=start), end=m.Position(line=end_line, character=end))
