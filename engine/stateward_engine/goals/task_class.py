"""Inferred task classes: what kind of work a row is when its metadata does not say.

Two kinds can be inferred. `continuous_monitor` is work that waits for or watches something; everything else is
`advancement_task`.
"""

from __future__ import annotations

import re
from typing import Final

ADVANCEMENT: Final = "advancement_task"
MONITOR: Final = "continuous_monitor"

_ADVANCING_KINDS: Final = frozenset(
    {
        "advance",
        "analyze",
        "benchmark_run",
        "codex_run",
        "compact_blocker_writeback",
        "compare",
        "execute",
        "fix",
        "implement",
        "rebuild",
        "rebuild_score",
        "repair",
        "run",
        "run_eval",
        "test",
        "validate",
        "writeback",
    }
)
_MONITORING_KINDS: Final = frozenset({"external_evidence", "monitor", "observe", "poll", "watch"})

_ACTING_VERBS: Final = (
    "implement|add|make|fix|build|wire|define|compare|run|execute|test|validate|rebuild|repair|archive|publish|merge|write|"
    "attribute|collect|aggregate|generate|produce|materialize|rerun|repeat|eval|evaluate|score"
)
_ACTING_PHRASES: Final = (
    "implementation slice|validation-backed patch|smoke fixture|regression suite|readiness scan|source preflight|"
    "setup-readiness scan"
)
_WATCHING_VERBS: Final = "observe|poll|watch"

# Each row is a chain: one of the first words, then anything, then one of the next, and so on.
_GATES: Final = (
    ("do not", "launch|run|execute|start", "until"),
    ("only|just", "after|when|once", "owner|user|credential|approval|prerequisite|evidence"),
    ("credential|gcp|gcs|gcp_project|gcp_sa_key|gs://", "missing|required|provide|proof|prerequisite|gate|gated"),
    ("readiness|proof", "before any formal", "run"),
    ("remaining formal", "path"),
    ("route|input", "absent"),
    ("0", "candidates?"),
)
_WAITS: Final = (
    ("blocked|gated|waiting", "owner|user|credential|substrate|proof|prerequisite|evidence"),
    ("dependency monitor|observation lane|monitor-only",),
)


def _words(alternatives: str) -> str:
    # A lookaround asks for the end of a word only where a word ends, unlike `\b`, which fails behind `gs://`.
    return rf"(?<!\w)(?:{alternatives})(?:(?<!\w)|(?!\w))"


def _chain(links: tuple[str, ...]) -> str:
    # Atomic: if a chain exists, then also one that takes the first fit of each link. Without trying others, the time is
    # linear in the text, whatever somebody writes into it.
    return "".join(rf"(?>.*?{_words(link)})" for link in links)


def _leading(verbs: str) -> str:
    return rf"(?:\A|.*[:\uff1a])\s*(?:{verbs})\b"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_IS_GATE: Final = _any(*map(_chain, _GATES))
_IS_ACTION: Final = _any(_leading(_ACTING_VERBS), rf".*{_words(_ACTING_PHRASES)}")
_IS_WAIT: Final = _any(*map(_chain, _WAITS), _leading(_WATCHING_VERBS))
# Nearly all texts hold no word that a monitor starts with, which one search settles.
_HINT: Final = re.compile(_words("|".join([*(links[0] for links in (*_GATES, *_WAITS)), _WATCHING_VERBS])))


def infer_task_class(action_kind: str | None, text: str) -> str:
    """Return the class of a row without an explicit one, by its action kind or else by its text.

    Args:
        action_kind: The field of that name; a kind that decides nothing counts as none.
        text: The compacted, clipped text, priority prefix included: behind a prefix no verb leads.

    Source: goal-documents 3.3.

    >>> infer_task_class(None, "waiting for owner evidence")
    'continuous_monitor'
    """
    if action_kind in _ADVANCING_KINDS:
        return ADVANCEMENT
    if action_kind in _MONITORING_KINDS:
        return MONITOR
    lowered = text.lower()
    if not _HINT.search(lowered):
        return ADVANCEMENT
    waits = _IS_GATE.match(lowered) or (_IS_WAIT.match(lowered) and not _IS_ACTION.match(lowered))
    return MONITOR if waits else ADVANCEMENT
