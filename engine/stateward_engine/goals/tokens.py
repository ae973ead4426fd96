"""One token of metadata, examined for whoever mends it: what its key takes, and what became of its value."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote_to_bytes

from stateward_engine.goals.compact import compact
from stateward_engine.goals.encode import encode_value, written
from stateward_engine.goals.fields import FIELDS, KEPT_TOKENS_MAX, LIST_SEPARATOR, decode_value, read_field
from stateward_engine.json_value import Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


MALFORMED_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_COMMA: Final = re.compile(",")

# Keys whose value is a list, and what separates its members. Source: goal-documents 1.5 and 3.1.
LISTS: Final[dict[str, re.Pattern[str]]] = {
    "required_write_scopes": LIST_SEPARATOR,
    "required_capabilities": LIST_SEPARATOR,
    "target_capabilities": LIST_SEPARATOR,
    "explore_result_node_refs": LIST_SEPARATOR,
    "required_decision_scopes": LIST_SEPARATOR,
    "decision_scope_outcomes": _COMMA,
    "excluded_agents": _COMMA,
    "successor_todo_ids": LIST_SEPARATOR,
}

_AGENT: Final = "the id of an agent: a letter, then letters, digits and _ . : @ - (at most 80)"
_TODO_ID: Final = "`todo_` and 3 to 64 of a-z, 0-9, _ and -"
_CAPABILITIES: Final = "names of a letter, then letters, digits and _ : - (at most 64), separated by commas"
_SCOPE: Final = "`kind:granularity:scope_key`, such as `direction:goal:release-2.4`"
_FLAG: Final = "`true` or `false`"
_TEXT: Final = "a text that is not empty"
# What a key takes, to go on with "KEY takes". Source: goal-documents 3.1 to 3.4.
TAKES: Final[dict[str, str]] = dict.fromkeys(FIELDS, _TEXT) | {
    "todo_id": _TODO_ID,
    "status": "`open`, `done`, `blocked` or `deferred`",
    "role": "`user` or `agent`",
    "task_class": "`advancement_task`, `continuous_monitor`, `user_gate`, `user_action` or `blocker`",
    "action_kind": "a letter, then letters, digits, _ and - (at most 64)",
    "task_domain": "a letter, then letters, digits and _ . - (at most 64)",
    "capability_binding_ref": "`namespace:name`",
    "task_repository": "`git:host/path`, or an address of the repository without password or query",
    "continuation_policy": "`independent_handoff` or `same_agent_non_delivery`",
    "removed_continuation_policy": "`primary_review` or `review_handoff`",
    "required_write_scopes": "relative path patterns without `..` (at most 160 characters each), separated by commas",
    "required_capabilities": _CAPABILITIES,
    "target_capabilities": _CAPABILITIES,
    "explore_result_node_refs": "names of a letter, then letters, digits and _ . : - (at most 96)",
    "decision_scope": _SCOPE,
    "required_decision_scopes": f"{_SCOPE}, several separated by commas",
    "decision_outcome": "`approve`, `reject` or `cancel`",
    "decision_scope_outcomes": "`outcome|kind:granularity:scope_key|todo_id`, several separated by commas",
    "claimed_by": _AGENT,
    "last_actor_agent_id": _AGENT,
    "bound_agent": _AGENT,
    "goal_bound": _FLAG,
    "blocks_agent": _AGENT,
    "excluded_agents": "ids of agents, separated by commas",
    "global_gate": _FLAG,
    "unblocks_todo_id": _TODO_ID,
    "successor_todo_ids": f"ids of todos, separated by commas; each is {_TODO_ID}",
    "completion_continuation": "`active_goal`, `successor` or `no_followup`",
    "completion_recovery": "`same_turn_terminal_closeout` or `lifecycle_reentry_terminal_closeout`",
    "replan_obligation_id": "`replan-` and 16 lower-case hexadecimal digits",
    "resume_when": "`todo_done:ID`, `monitor_changed:ID`, `pr_merged:#N`, `capacity_available:NAME` or "
    "`resume_at:` and a time such as `2026-07-01T08:00:00Z`",
    "resume_monitor_generation": "a whole number from 0",
    "no_followup": _FLAG,
    "superseded_by": _TODO_ID,
}

# Whatever stands there is the value, so only its escapes can be wrong.
FREE_TEXTS: Final = frozenset(key for key, phrase in TAKES.items() if phrase is _TEXT)
REPLACEMENT: Final = "\ufffd"


# Keys whose values every row has of its own.
OWN_KEYS: Final = frozenset({"todo_id", "note", "evidence", "reason", "completed_at", "updated_at", "result_hash"})
KEPT_CHARACTERS_MAX: Final = 128
# No key is empty.
ODD_KEY: Final = ""
ODD: Final = (ODD_KEY, None)


class Finding(NamedTuple):
    """What is to be told about one token.

    Attributes:
        code: `invalid_todo_id`, `invalid_metadata_value`, `unknown_metadata_key` or `normalised_value`.
        message: What is wrong and what to do.
        instead: What to write in the place of the value (of the key, when that is unknown), or `None`.
    """

    code: str
    message: str
    instead: str | None


@lru_cache(maxsize=KEPT_TOKENS_MAX)
def examine(key: str, raw: str) -> Finding | None:
    """Return what is to be told about `key=raw`, or `None` when it is read as it is written.

    >>> examine("status", "in_progress").code, examine("claimed_by", "Kiro").instead
    ('invalid_metadata_value', 'kiro')
    """
    if key not in FIELDS:
        near = get_close_matches(key, FIELDS, n=1, cutoff=0.8)
        hint = f"did you mean {near[0]}?" if near else "it is kept as it stands, and nobody acts on it"
        return Finding("unknown_metadata_key", f"there is no key {key}; {hint}", near[0] if near else None)
    value = read_field(key, raw)
    if value is None:
        return _invalid(key, "this value is dropped")
    if fault := _bad_escape(raw):
        return Finding("invalid_metadata_value", fault, None)
    if key in LISTS:
        return _examine_list(key, raw)
    return _differing(value, decode_value(raw)) if isinstance(value, str) else None


def is_odd(key: str, raw: str, value: Json) -> bool:
    """Whether there is something to tell about `key=raw`, which was read as a `value` that is not `raw` itself.

    A reader asks this of every token, so it is quick about notes, which are long and never twice the same.
    """
    if value is not None and key in FREE_TEXTS:
        return REPLACEMENT in str(value) or MALFORMED_ESCAPE.search(raw) is not None
    return examine(key, raw) is not None


class _Words(dict[str, tuple[str, Json]]):
    """What each word of a metadata comment says, as key and value, or `ODD` for one that there is something to tell of.

    Rows repeat their statuses, agents, scopes and capabilities, and a dictionary finds those again without running a
    line of ours.
    """

    def __missing__(self, word: str) -> tuple[str, Json]:
        key, _, raw = word.partition("=")
        value = read_field(key, raw)
        pair = ODD if value is None or (value != raw and is_odd(key, raw, value)) else (key, value)
        if key not in OWN_KEYS and len(word) <= KEPT_CHARACTERS_MAX:
            if len(self) >= KEPT_TOKENS_MAX:
                self.clear()
            self[word] = pair
        return pair


_read_word: Final = _Words().__getitem__


def keys_of(words: Iterable[str]) -> frozenset[str]:
    """Return the keys of words of metadata comments, and `ODD_KEY` if there is something to tell about one of them."""
    return frozenset(map(itemgetter(0), map(_read_word, words)))


def read_words(words: Sequence[str]) -> tuple[dict[str, Json], bool]:
    """Return the accepted fields of the words of a metadata comment, and whether anything in them is odd.

    Later words overwrite earlier ones.
    Source: goal-documents 1.5.
    """
    fields = dict(map(_read_word, words))
    if len(fields) == len(words) and ODD_KEY not in fields:
        return fields, False
    fields = {}
    for key, _, raw in (word.partition("=") for word in words):
        value = read_field(key, raw)
        if value is not None:
            fields[key] = value
    return fields, True


def _invalid(key: str, consequence: str) -> Finding:
    if key == "todo_id":
        message = f"{key} takes {TAKES[key]}; the id is dropped, and the row has a generated one"
        return Finding("invalid_todo_id", message, None)
    return Finding("invalid_metadata_value", f"{key} takes {TAKES[key]}; {consequence}", None)


def _bad_escape(raw: str) -> str | None:
    if "%" not in raw:
        return None
    if MALFORMED_ESCAPE.search(raw):
        return "this percent sign is no escape; write `%25` for the sign, or two hexadecimal digits behind it"
    try:
        unquote_to_bytes(raw.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return "the escapes of this value are no UTF-8; encode each byte of each character"
    return None


def _examine_list(key: str, raw: str) -> Finding | None:
    members = [member for part in LISTS[key].split(decode_value(raw)) if (member := compact(part))]
    read = [FIELDS[key](member) for member in members]
    if None in read:
        return _invalid(key, "a member that is anything else is dropped")
    return _differing(written(read), ",".join(members))


def _differing(value: str, found: str) -> Finding | None:
    if value == found:
        return None
    return Finding("normalised_value", f"this is read as `{value}`; write it like that", encode_value(value))
