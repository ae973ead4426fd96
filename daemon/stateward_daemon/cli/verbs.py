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

# Words that others use for what a verb does; the nearest word would be another one.
_MEANT: Final = {
    "todo done": ["todo complete"],
    "todo finish": ["todo complete"],
    "todo close": ["todo complete"],
    "todo remove": ["todo archive-completed", "todo update"],
    "todo delete": ["todo archive-completed", "todo update"],
    "todo release": ["lease release"],
    "todo start": ["todo claim"],
    "todo take": ["todo claim"],
    "todo show": ["todo list"],
    # Nobody has such a verb.
    "goal remove": [],
    "goal delete": [],
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
    typed = " ".join(argument for argument in arguments[:2] if not argument.startswith("-"))
    group = f"{arguments[0]} " if is_group(arguments[0]) else ""
    near = _MEANT[typed] if typed in _MEANT else _nearest(typed, group)
    meant = " or ".join(f"stateward {name}" for name in near)
    hint = f"did you mean {meant}?" if near else f"see stateward {group}--help"
    raise UsageFault(f"there is no verb {typed}; {hint}")


def _nearest(typed: str, group: str) -> list[str]:
    """Return the verb whose name is nearest; in a group its second word decides."""
    import difflib  # noqa: PLC0415 - only a mistake needs it

    names = [name.removeprefix(group) for name in VERBS if name.startswith(group)]
    return [f"{group}{name}" for name in difflib.get_close_matches(typed.removeprefix(group), names, n=1)]


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
