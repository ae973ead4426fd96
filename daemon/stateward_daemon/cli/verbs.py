"""The table of verbs: what each does, an example that works, its options, and where its code is.

Its rows stand by subject in the modules that it joins.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from stateward_daemon.cli import daemon_rows, goal_rows, state_rows, store_rows, todo_rows
from stateward_daemon.cli.parser import described, terminal_width
from stateward_daemon.exits import UsageFault

if TYPE_CHECKING:
    from stateward_daemon.cli.verb import Verb

VERBS: Final[dict[str, Verb]] = {
    verb.name: verb
    for verb in (*state_rows.ROWS, *store_rows.ROWS, *goal_rows.ROWS, *todo_rows.ROWS, *daemon_rows.ROWS)
}


def is_group(word: str) -> bool:
    """Whether verbs of two words begin with `word`."""
    return any(name.startswith(f"{word} ") for name in VERBS)


def find_verb(arguments: list[str]) -> tuple[Verb, list[str]]:
    """Return the verb that the arguments begin with, and the rest of them.

    Raises:
        UsageFault: There is none of that name; the nearest known one is named.
    """
    found = _verb_at(arguments, 0)
    if found is not None:
        return found, arguments[len(found.name.split()) :]
    if arguments[0].startswith("-"):
        raise UsageFault(f"options come after the verb, as in: {_with_options_behind(arguments)}")
    import difflib  # noqa: PLC0415 - only a mistake needs it

    typed = " ".join(argument for argument in arguments[:2] if not argument.startswith("-"))
    near = difflib.get_close_matches(typed, VERBS, n=1) or [name for name in VERBS if name.startswith(f"{typed} ")]
    hint = f"did you mean stateward {near[0]}?" if near else "see stateward --help"
    raise UsageFault(f"there is no verb {typed}; {hint}")


def _verb_at(arguments: list[str], at: int) -> Verb | None:
    names = (" ".join(arguments[at : at + count]) for count in (2, 1))
    return next((VERBS[name] for name in names if name in VERBS), None)


def _with_options_behind(arguments: list[str]) -> str:
    """Return what was meant by arguments that begin with options."""
    for at in range(1, len(arguments)):
        verb = _verb_at(arguments, at)
        if verb is not None:
            words = len(verb.name.split())
            return shlex.join(["stateward", *arguments[at : at + words], *arguments[:at], *arguments[at + words :]])
    return "stateward read cwd.tactics --json; see stateward --help"


def overview(group: str = "") -> str:
    """Return the help of the program: every verb, or those of a group, with its first sentence."""
    chosen = [verb for verb in VERBS.values() if verb.name.startswith(f"{group} " if group else "")]
    column = max(len(verb.name) for verb in chosen) + 4
    width = terminal_width()
    verbs = [
        line
        for verb in chosen
        for line in described(verb.name, verb.summary.partition(". ")[0].rstrip(".") + ".", width, column)
    ]
    about = [] if group else ["", "  Working state that coding agents, their editors and their people share."]
    more = f"  stateward {group + ' ' if group else ''}VERB --help tells more of each"
    return "\n".join(
        [
            f"Usage: stateward {group + ' ' if group else ''}VERB [OPTIONS] [ARGUMENTS]",
            *about,
            "",
            "Verbs:",
            *verbs,
            "",
            f"{more}.",
            *([] if group else ["  stateward --version tells which one this is."]),
            "",
        ]
    )
