"""The problems in the documents of all registered goals, kept current as long as somebody wants to be told of them.

A document is looked at when its file or the rules of its project change, when its goal moves on or a lease of it runs
out, and when the state changes that its text refers to. That is done in a thread, one look per goal at a time, and once
for everybody: only what references tell differs between those who work with other owners. Runs where views are
published.
Source: protocol.md section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

from stateward_daemon import convert
from stateward_daemon.grounds import Expiry, Grounds, goal_ground, state_ground
from stateward_daemon.lookout import Lookout
from stateward_engine.authority.goal import goals_by_path
from stateward_protocol.errors import WireError
from stateward_protocol.notices import DiagnosticsChanged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stateward_daemon.host import Host
    from stateward_engine.authority.goal import Goal
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.problems import Problem
    from stateward_engine.state.view import Selection, View

# Problems that a notification tells.
PROBLEMS_TOLD_MAX: Final = 100

# One who is told, as far as that makes a difference: the owners whose state it reads, `None` for one that reads none.
Viewer: TypeAlias = "Selection | None"


class Findings(NamedTuple):
    """The problems of a document as one viewer sees them.

    Attributes:
        notice: What is told of them.
        problems: All of them, where that is more; otherwise none.
    """

    notice: DiagnosticsChanged
    problems: list[Problem]


class _Look(NamedTuple):
    """What a look at a document found.

    Attributes:
        findings: What each viewer sees.
        others: The viewers that saw something else before, or nothing yet.
        has_moved: Whether, at a first look, the document is another one than when it began to be followed.
        has_references: Whether the text refers to the state.
    """

    findings: dict[Viewer, Findings]
    others: set[Viewer]
    has_moved: bool
    has_references: bool


@dataclass(slots=True)
class _Kept:
    """What is known of one goal.

    Attributes:
        path: Where its document is.
        digest: Of the document when it began to be followed, `None` where there was none to be read.
        has_moved: Whether something has happened since the findings were made.
        is_due: Whether it has to be looked at.
        is_looked_at: Whether that is going on.
        has_references: Whether the findings rest on the state.
        grounds: What they rest on for each viewer, as of the beginning of the last look.
        findings: What is known.
    """

    path: Path
    digest: str | None
    has_moved: bool
    is_due: bool = True
    is_looked_at: bool = False
    has_references: bool = True
    grounds: dict[Viewer, Grounds] = field(default_factory=dict)
    findings: dict[Viewer, Findings] = field(default_factory=dict)


class GoalProblems:
    """The problems of the goals of one host."""

    def __init__(
        self,
        host: Host,
        later: Callable[[float, Callable[[], None]], Any],
        changed: Callable[[str, Viewer], None],
    ) -> None:
        """Follow nothing yet.

        Args:
            host: Whose goals.
            later: As for `Subscriptions`.
            changed: Called with a goal and a viewer who sees other problems of its document than before.
        """
        self._host = host
        self._changed = changed
        self._lookout = None if host.watcher is None else Lookout(host.watcher)
        self._kept: dict[str, _Kept] = {}
        self._viewers: set[Viewer] = set()
        self._view: View | None = None
        self._expiry = Expiry(later, self._look_again)

    def follow(self, viewers: Iterable[Viewer], view: View) -> None:
        """Keep what these viewers see, and nobody else, as things are in `view`, which is what readers see now."""
        self._viewers = set(viewers)
        if self._viewers:
            self._look(view, is_first=self._view is None)
            return
        self._expiry.close()
        for goal_id in list(self._kept):
            self._forget(goal_id)
        self._view = None

    def file_changed(self, path: Path) -> None:
        """Look again at what the file at `path`, which was written, came or went, is or decides about."""
        # Here, as in `_look_at`.
        from stateward_daemon.configuration import FILES  # noqa: PLC0415

        for kept in self._kept.values():
            if kept.path == path or (path.name in FILES and kept.path.is_relative_to(path.parent)):
                kept.is_due = kept.has_moved = True
        self._look_again()

    def notice(self, goal_id: str, viewer: Viewer) -> DiagnosticsChanged | None:
        """Return what there is to tell of a goal, `None` of one that was given up."""
        kept = self._kept.get(goal_id)
        findings = None if kept is None else kept.findings.get(viewer)
        return None if findings is None else findings.notice

    # -- inside ------------------------------------------------------------------------------------------------------

    def _look_again(self) -> None:
        if self._view is not None:
            self._look(self._view)

    def _look(self, view: View, *, is_first: bool = False) -> None:
        """Have the documents looked at whose problems may be others in `view`.

        Args:
            view: What readers see now.
            is_first: Whether its goals are those that there were before anybody followed; others are told of.
        """
        self._view = view
        goals = {goal.goal_id: goal for goal in goals_by_path(view, self._host.machine).values()}
        for goal_id, kept in list(self._kept.items()):
            if goal_id not in goals or str(kept.path) != goals[goal_id].path:
                self._forget(goal_id)
        states = {viewer: state_ground(view, viewer) for viewer in self._viewers}
        for goal_id, goal in goals.items():
            if goal_id not in self._kept:
                self._kept[goal_id] = self._begin(Path(goal.path), has_moved=not is_first)
            kept = self._kept[goal_id]
            ground = goal_ground(view, goal)
            grounds = {
                viewer: Grounds(ground, state if kept.has_references else "") for viewer, state in states.items()
            }
            others = [viewer for viewer in grounds if grounds[viewer] != kept.grounds.get(viewer)]
            kept.is_due = kept.is_due or bool(others)
            kept.has_moved = kept.has_moved or any(viewer in kept.grounds for viewer in others)
            if kept.is_due and not (kept.is_looked_at or self._host.stopping):
                kept.is_due, kept.is_looked_at, kept.grounds = False, True, grounds
                job = partial(_look_at, self._host, view, goal, grounds, kept)
                self._host.work(job, partial(self._end, goal_id, kept), partial(self._failed, goal_id, kept))
        self._expiry.wait(goals.values())

    def _begin(self, path: Path, *, has_moved: bool) -> _Kept:
        # In this order: what is written in between is reported.
        if self._lookout is not None:
            self._lookout.add(path)
        return _Kept(path, self._host.documents.digest(path), has_moved)

    def _forget(self, goal_id: str) -> None:
        kept = self._kept.pop(goal_id)
        if self._lookout is not None:
            self._lookout.discard(kept.path)

    def _end(self, goal_id: str, kept: _Kept, look: _Look) -> None:
        """Take what a look found, unless it is old by now: then look again."""
        kept.is_looked_at = False
        if self._kept.get(goal_id) is not kept:
            return
        if kept.is_due:
            self._look_again()
            return
        kept.has_references = look.has_references
        if not look.has_references:
            kept.grounds = {viewer: grounds.without_state() for viewer, grounds in kept.grounds.items()}
        # Who sees something for the first time is told of it only if it has come since he began to look.
        is_change = kept.has_moved or look.has_moved or not look.others.isdisjoint(kept.findings)
        kept.findings, kept.has_moved = look.findings, False
        for viewer in look.others & self._viewers if is_change else ():
            self._changed(goal_id, viewer)

    def _failed(self, goal_id: str, kept: _Kept, error: Exception) -> None:
        self._host.log.error("the problems of %s are not known", goal_id, exc_info=error)
        kept.is_looked_at = False
        if kept.is_due:
            self._look_again()


def _look_at(host: Host, view: View, goal: Goal, viewers: Iterable[Viewer], kept: _Kept) -> _Look:
    """Look at the document of a goal; in a thread, for it waits for the disk and may take long.

    Args:
        host: Who serves the viewers.
        view: What is known of the goal and the state.
        goal: The goal.
        viewers: Who wants to see the problems.
        kept: What is known of them; it stays as it is meanwhile.
    """
    # Here, because no start should wait for what reads a document.
    from stateward_daemon.configuration import configuration_or_default  # noqa: PLC0415
    from stateward_daemon.diagnosis import problems_in, with_references  # noqa: PLC0415
    from stateward_engine.goals.suppression import ruled  # noqa: PLC0415

    try:
        document = host.documents.read(kept.path)
    except WireError:
        unread = Findings(DiagnosticsChanged(goal=goal.goal_id, uri=kept.path.as_uri()), [])
        findings, has_references = dict.fromkeys(viewers, unread), False
    else:
        rules = configuration_or_default(kept.path, host.log).rules
        common = problems_in(host, view, document, kept.path)
        has_references = document.has_reference_sign
        readers = dict.fromkeys(viewers if has_references else [None])
        seen = {
            reader: _findings(kept, goal, document, list(ruled(with_references(common, view, document, reader), rules)))
            for reader in readers
        }
        findings = {viewer: seen[viewer if has_references else None] for viewer in viewers}
    others = {viewer for viewer in viewers if kept.findings.get(viewer) != findings[viewer]}
    # After the document was read, so that nothing that was written in between is taken for what was there.
    has_moved = not kept.findings and host.documents.digest(kept.path) != kept.digest
    return _Look(findings, others, has_moved, has_references)


def _findings(kept: _Kept, goal: Goal, document: GoalDocument, problems: list[Problem]) -> Findings:
    told = convert.gravest(problems, PROBLEMS_TOLD_MAX)
    notice = DiagnosticsChanged(
        goal=goal.goal_id,
        uri=kept.path.as_uri(),
        projection_diagnostics=cast("dict[str, Any] | None", document.diagnostics),
        items=convert.diagnostic_items(document, [problem._replace(fix=None) for problem in told]),
        problem_count=len(problems),
    )
    return Findings(notice, [] if told is problems else problems)
