"""What the daemon says of methods and their members, in the words of a shell: verbs and options.

The same answer goes to programs, which know methods and params; so it is put into these words only where people read
it.
"""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from stateward.printable import printable
from stateward_daemon.cli.parser import OWNERS
from stateward_daemon.cli.verbs import VERBS
from stateward_protocol.methods import METHODS

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping

    from stateward_daemon.cli.verb import Verb

# Methods whose verb is called otherwise, as a sentence means them.
_OTHERWISE: Final = {
    "read_state": "read",
    "patch_state": "patch",
    "export_state": "export",
    "import_state": "import",
    "fork_session": "fork",
    "shutdown_daemon": "daemon stop",
    "goal_projection": "goal show",
    "goal_diagnostics": "goal check",
    "project_markdown": "todo project-markdown --execute",
    "authority_shadow_bootstrap": "authority bootstrap",
    "authority_shadow_qualify": "authority qualify",
}
# Of a member that is an object, the option that asks for it; the options of its own members have their names.
_OBJECTS: Final = {"lease": "idempotency_key"}
# What may stand at the root of a patch: owners, or planes where one owner is wanted.
_PATCH_ROOTS: Final = frozenset({*OWNERS, "intents", "strategy", "tactics", "artifacts", "lazy"})

_PLACE: Final = re.compile(r"\$\.params((?:\.\w+|\[\d+\])+)")
# A member at the start of a sentence about it, one in backquotes, and one whose name is no word of English.
_MEMBER: Final = re.compile(r"^[a-z_]+(?:\.[a-z_]+)*(?=: )|`[a-z_]+`|(?<![\w.\"'-])[a-z]+(?:_[a-z]+)+(?![\w=\"'-])")


def in_shell(text: str, verb: Verb | None = None) -> str:
    """Return a sentence with verbs where it names methods, and options of `verb` where it names members.

    >>> in_shell("make one with goal_new")
    'make one with stateward goal new'
    >>> in_shell("null is no value; to remove a field, name it in `clear`", VERBS["todo update"])
    'null is no value; to remove a field, name it in --clear'
    """
    verbs = _verbs()
    text = re.sub(rf"\b(?:{'|'.join(verbs)})\b", lambda found: f"stateward {verbs[found[0]]}", text)
    if verb is None:
        return text
    spelled = verb.parser().spelled()
    text = _PLACE.sub(lambda found: option_of(found[0], spelled) or found[0], text)
    return _MEMBER.sub(lambda found: option_of(f"$.params.{found[0].strip('`')}", spelled) or found[0], text)


def option_of(place: str, spelled: Mapping[str, str]) -> str | None:
    """Return the option, or the word, that gives a member of the params; `None` where the verb has none.

    Args:
        place: Of the member, as errors name it: `$.params.lease.ttl_seconds`.
        spelled: The options of the verb by param.
    """
    found = _PLACE.fullmatch(place)
    members = re.findall(r"\.(\w+)", found[1]) if found else []
    inner = members[1:] if members[:1] == ["lease"] else []
    return next((spelled[name] for name in (*inner, *map(_known, members[:1])) if name in spelled), None)


def _known(member: str) -> str:
    return _OBJECTS.get(member, member)


@cache
def _verbs() -> dict[str, str]:
    """Return the verbs of methods; a name of one word is a word of English as well."""
    derived = {re.sub(r"[ -]", "_", name): name for name in VERBS}
    return {name: verb for name, verb in {**derived, **_OTHERWISE}.items() if name in METHODS and "_" in name}


# -- examples --------------------------------------------------------------------------------------------------------


def example_command(verb: Verb, example: object, options: Namespace | None = None) -> str | None:
    """Return an example as a command; `None` where the verb that failed cannot say it.

    An example is a command already, or JSON text: right params of the method behind the verb, or a right patch.

    Args:
        verb: The verb that failed.
        example: Of the refusal.
        options: What was typed, for the goal that an example takes for granted.
    """
    text = str(example)
    if text.startswith(("stateward ", "STATEWARD_")):
        return printable(text)
    try:
        right = json.loads(text)
    except ValueError:
        return None
    words = _words_of(verb, right, options) if isinstance(right, dict) else []
    return printable(shlex.join(["stateward", *words])) if words else None


def _words_of(verb: Verb, right: dict[str, Any], options: Namespace | None) -> list[str]:
    """Return the words of a command, none where there is no such command."""
    words: list[str] = []
    match verb.name, right:
        case "browse", {"path": str(path), "projection": "keys"}:
            words = ["browse", path]
        case "read" | "browse", {"path": str(path)}:
            words = ["read", path, *_projection_words(right)]
        case "read" | "browse", {"paths": [str(), *_] as paths}:
            words = ["read", *map(str, paths), *_projection_words(right)]
        case "patch", {"patch": dict(patch)}:
            words = ["patch", json.dumps(patch, ensure_ascii=False)]
        case "patch", _ if _is_patch(right):
            words = ["patch", json.dumps(right, ensure_ascii=False)]
        case "configure", {"history_limit": int(limit)}:
            words = ["configure", "--history-limit", str(limit)]
        case _ if verb.says_ok:
            words = _goal_words(verb, {"goal_id": getattr(options, "goal_id", None), **right})
    return words


def _is_patch(right: dict[str, Any]) -> bool:
    roots = [isinstance(value, dict) for name, value in right.items() if name in _PATCH_ROOTS]
    return len(roots) == len(right) and bool(roots) and all(roots)


def _projection_words(right: dict[str, Any]) -> list[str]:
    return ["--projection", str(right["projection"])] if "projection" in right else []


def _goal_words(verb: Verb, right: Mapping[str, Any]) -> list[str]:
    """Return the command whose options say params of a method about goals."""
    spelled = verb.parser().spelled()
    params = {name: value for name, value in right.items() if value is not None}
    lease = params.pop("lease", {})
    params |= lease if isinstance(lease, dict) else {}
    if not params.keys() <= spelled.keys():
        return []
    return [*verb.name.split(), *(word for name, value in params.items() for word in _given(spelled[name], value))]


def _given(option: str, value: object) -> Iterator[str]:
    values = value if isinstance(value, list) else [value]
    for one in values:
        if option.startswith("-"):
            yield option
        if one is not True:
            yield one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
