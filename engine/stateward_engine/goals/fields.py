"""The field table: what each metadata key means and how its value is read.

A reader takes a decoded, compacted value and returns what it means, or `None` for a value that fails.
What fails is dropped: a field is either right or absent. Strings that name things are lower-cased on the way.
"""

from __future__ import annotations

import re
from binascii import a2b_qp
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import unquote_to_bytes

from stateward_engine.goals.compact import compact
from stateward_engine.goals.repository import read_repository
from stateward_engine.goals.resume import read_resume_when
from stateward_engine.json_value import Json

# What a value is depends on its key: strings, booleans, integers, lists of strings or of objects.
# Rows share values that are written alike, so nobody changes one in place.
Fields: TypeAlias = Mapping[str, Any]
Reader: TypeAlias = Callable[[str], Json]

# What percent-encoding leaves as it is and quoted-printable does not, and the other way round.
NOT_PLAIN: Final = re.compile(rb"=|%(?![0-9A-Fa-f]{2})")
TODO_ID: Final = re.compile(r"todo_[a-z0-9_-]{3,64}")
TODO_ID_IN_A_LIST: Final = re.compile(r"(?<![A-Za-z0-9_-])todo_[A-Za-z0-9_-]+")
LIST_SEPARATOR: Final = re.compile(r"[,;|]")
CAPABILITY: Final = re.compile(r"[a-z][a-z0-9_:-]{0,63}")
NODE_REF: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,95}")
AGENT: Final = re.compile(r"[a-z][a-z0-9_.:@-]{0,79}")
REPLAN_OBLIGATION: Final = re.compile(r"replan-[0-9a-f]{16}")
SCOPE_KEY: Final = re.compile(r"\*|[a-z0-9][a-z0-9_.:@*/-]{0,95}")
UNSAFE_IN_SCOPE: Final = re.compile(r"[\s<>]")
# Longer runs of digits count nothing that happens, and converting them takes quadratic time.
GENERATION: Final = re.compile(r"[0-9]{1,18}")

# A write scope is a path pattern that people read in a list.
WRITE_SCOPE_CHARACTERS_MAX: Final = 160

# What is kept of values lives as long as the process, so its number bounds its memory.
KEPT_TOKENS_MAX: Final = 4096

SCOPE_KINDS: Final = frozenset(
    {"private_read", "write_scope", "resource", "production", "public_claim", "direction", "other"}
)
SCOPE_GRANULARITIES: Final = frozenset({"action", "lane", "goal", "project", "global"})
DECISION_OUTCOMES: Final = ("approve", "reject", "cancel")
REMOVED_POLICIES: Final = ("primary_review", "review_handoff")


def decode_value(raw: str) -> str:
    """Return the value of a token as its author meant it: percent-decoded, then compacted.

    Bytes that are not UTF-8 become U+FFFD, a malformed escape stays as it is, and `+` is a plus sign.
    Source: goal-documents 1.5.

    >>> decode_value("a%20%20b%2Fc+%zz%E6")
    'a b/c+%zz\ufffd'
    """
    # Most escapes are the spaces of a sentence and the plus sign of a time; plain replacements cost nearly nothing.
    value = raw.replace("%20", " ").replace("%2B", "+")
    if "%" in value:
        # A buffer can hold half a character, which has no bytes.
        escaped = value.encode("utf-8", "surrogatepass")
        # Quoted-printable is the same with another sign, and decoded in C.
        is_plain = NOT_PLAIN.search(escaped) is None
        decoded = a2b_qp(escaped.replace(b"%", b"=")) if is_plain else unquote_to_bytes(escaped)
        value = decoded.decode("utf-8", "replace")
    return compact(value)


def read_field(key: str, raw: str) -> Json:
    """Return the value of one token, or `None` when the key is unknown or the value normalizes to nothing.

    Source: goal-documents 1.5 and 3.1.
    """
    reader = FIELDS.get(key)
    return reader(decode_value(raw) if "%" in raw else raw) if reader else None


def _text(value: str) -> str | None:
    return value or None


class Choice:
    """The reader of a value that is one of a few words.

    Attributes:
        members: The words that may be written.
    """

    def __init__(self, *members: str, retired: Iterable[str] = ()) -> None:
        """Take the words that may be written, and those that are only read any longer."""
        self.members = members
        # The rows of a document share the word that is found here, instead of holding one each.
        self._words = {word: word for word in (*members, *retired)}

    def __call__(self, value: str) -> str | None:
        """Return the word, `None` when it is none of them."""
        return self._words.get(value.lower())


class Token:
    """The reader of a value that names something.

    Attributes:
        pattern: What it may be, in lower case.
    """

    def __init__(self, pattern: str) -> None:
        """Take what it may be."""
        self.pattern = pattern
        self._fits = re.compile(pattern).fullmatch

    def __call__(self, value: str) -> str | None:
        """Return the value in lower case, `None` when it may not be that."""
        return lowered if self._fits(lowered := value.lower()) else None


def _flag(*, true: Iterable[str], false: Iterable[str]) -> Reader:
    meaning = dict.fromkeys(true, True) | dict.fromkeys(false, False)

    def read(value: str) -> bool | None:
        return meaning.get(value.lower())

    return read


def _distinct(read_member: Callable[[str], str | None], value: str) -> list[str]:
    """Return the members that can be read, each once, in the order of their first occurrence."""
    members = [read_member(compact(member)) for member in LIST_SEPARATOR.split(value)]
    return list(dict.fromkeys(filter(None, members)))


def _list_of(read_member: Callable[[str], str | None]) -> Reader:
    def read(value: str) -> list[str] | None:
        return _distinct(read_member, value) or None

    return read


def _write_scope(value: str) -> str | None:
    safe = (
        len(value) <= WRITE_SCOPE_CHARACTERS_MAX
        and not value.startswith(("/", "~"))
        and ".." not in value.split("/")
        and not UNSAFE_IN_SCOPE.search(value)
    )
    return value if safe else None


def _capability(value: str) -> str | None:
    name = value.lower().replace("-", "_").replace(" ", "_")
    return name if CAPABILITY.fullmatch(name) else None


def _node_ref(value: str) -> str | None:
    return value if NODE_REF.fullmatch(value) else None


def _agent(value: str) -> str | None:
    name = value.lower().replace(" ", "-")
    return name if AGENT.fullmatch(name) else None


def _excluded_agents(value: str) -> list[str] | None:
    names = {_agent(compact(member)) for member in value.split(",")}
    return sorted(name for name in names if name) or None


def _todo_ids(value: str) -> list[str] | None:
    names = (name.lower() for name in TODO_ID_IN_A_LIST.findall(value))
    return list(dict.fromkeys(name for name in names if TODO_ID.fullmatch(name))) or None


def _replan_obligation(value: str) -> str | None:
    return value if REPLAN_OBLIGATION.fullmatch(value) else None


def _generation(value: str) -> int | None:
    return int(value) if GENERATION.fullmatch(value) else None


def _scope(value: str) -> str | None:
    """Return a decision scope in its written form, `kind:granularity:scope_key`."""
    lowered = value.lower()
    kind, _, rest = lowered.partition(":")
    granularity, _, key = rest.partition(":")
    fits = kind in SCOPE_KINDS and granularity in SCOPE_GRANULARITIES and SCOPE_KEY.fullmatch(key)
    return lowered if fits else None


def _scope_object(scope: str) -> dict[str, Json]:
    kind, granularity, key = scope.split(":", 2)
    return {"schema_version": "decision_scope_v0", "kind": kind, "granularity": granularity, "scope_key": key}


def _decision_scope(value: str) -> dict[str, Json] | None:
    scope = _scope(value)
    return _scope_object(scope) if scope else None


def _decision_scopes(value: str) -> list[Json] | None:
    return [_scope_object(scope) for scope in _distinct(_scope, value)] or None


def _scope_outcome(value: str) -> tuple[str, dict[str, Json]] | None:
    """Return one `outcome|scope|source_todo_id` as the scope it is about and its object."""
    match [compact(part) for part in value.split("|")]:
        case [outcome, written_scope, source]:
            outcome, scope, source = outcome.lower(), _scope(written_scope), source.lower()
            if outcome in DECISION_OUTCOMES and scope and TODO_ID.fullmatch(source):
                return scope, {
                    "schema_version": "todo_decision_scope_outcome_v0",
                    "outcome": outcome,
                    "decision_scope": _scope_object(scope),
                    "source_todo_id": source,
                }
    return None


def _scope_outcomes(value: str) -> list[Json] | None:
    outcomes = (_scope_outcome(member) for member in value.split(","))
    # A dict keeps the place of the first outcome of a scope and the content of the last.
    return list(dict(outcome for outcome in outcomes if outcome).values()) or None


_TRUE: Final = ("1", "true", "yes", "y")
_FALSE: Final = ("0", "false", "no", "n")
_GATE: Final = _flag(true=(*_TRUE, "global_gate", "global-gate"), false=_FALSE)

# In rendering order. Source: goal-documents 3.1.
FIELDS: Final[Mapping[str, Reader]] = {
    "todo_id": Token(TODO_ID.pattern),
    "status": Choice("open", "done", "blocked", "deferred"),
    "role": Choice("user", "agent"),
    "task_class": Choice("advancement_task", "continuous_monitor", "user_gate", "user_action", "blocker"),
    "action_kind": Token(r"[a-z][a-z0-9_-]{0,63}"),
    "task_domain": Token(r"[a-z][a-z0-9_.-]{0,63}"),
    "capability_binding_ref": Token(r"[a-z][a-z0-9_.-]{0,31}:[a-z][a-z0-9_.:-]{2,95}"),
    "task_repository": read_repository,
    # The removed policies are read here too; a line that names one keeps it under the next key.
    "continuation_policy": Choice("independent_handoff", "same_agent_non_delivery", retired=REMOVED_POLICIES),
    "removed_continuation_policy": Choice(*REMOVED_POLICIES),
    "required_write_scopes": _list_of(_write_scope),
    "required_capabilities": _list_of(_capability),
    "target_capabilities": _list_of(_capability),
    "explore_result_node_refs": _list_of(_node_ref),
    "decision_scope": _decision_scope,
    "required_decision_scopes": _decision_scopes,
    "decision_outcome": Choice(*DECISION_OUTCOMES),
    "decision_scope_outcomes": _scope_outcomes,
    "claimed_by": _agent,
    "last_actor_agent_id": _agent,
    "bound_agent": _agent,
    "goal_bound": _GATE,
    "blocks_agent": _agent,
    "excluded_agents": _excluded_agents,
    "global_gate": _GATE,
    "unblocks_todo_id": Token(TODO_ID.pattern),
    "successor_todo_ids": _todo_ids,
    "completion_continuation": Choice("active_goal", "successor", "no_followup"),
    "completion_recovery": Choice("same_turn_terminal_closeout", "lifecycle_reentry_terminal_closeout"),
    "replan_obligation_id": _replan_obligation,
    "resume_when": read_resume_when,
    "resume_monitor_generation": _generation,
    "no_followup": _flag(true=(*_TRUE, "no_followup", "no-followup"), false=_FALSE),
    "target_key": _text,
    "monitor_effect_id": _text,
    "cadence": _text,
    "next_due_at": _text,
    "expires_at": _text,
    "last_checked_at": _text,
    "result_hash": _text,
    "consecutive_no_change": _text,
    "material_change": _text,
    "material_change_generation": _text,
    "max_no_change_before_replan": _text,
    "watch_only": _text,
    "note": _text,
    "evidence": _text,
    "reason": _text,
    "completed_at": _text,
    "updated_at": _text,
    "completion_turn_key": _text,
    "completion_receipt_id": _text,
    "validation_command": _text,
    "validation_command_argv": _text,
    "validation_label": _text,
    "validation_timeout_seconds": _text,
    "superseded_by": Token(TODO_ID.pattern),
}
