"""`goal check`: the linter of goal documents. It needs neither daemon nor store, and only `--fix` writes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from stateward_daemon import convert
from stateward_daemon.cli.goal_files import STANDARD_INPUT, distinct, files_of, read_named, replace_file
from stateward_daemon.cli.linter import count_line, finding_lines, github_lines
from stateward_daemon.cli.printing import complain, note, show_json
from stateward_daemon.cli.sarif import sarif_log
from stateward_daemon.configuration import configuration_for
from stateward_daemon.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE, UsageFault
from stateward_engine.goals.document import read_bytes
from stateward_engine.goals.mending import mend
from stateward_engine.goals.suppression import Rules, ruled
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Sequence

    from stateward_protocol import messages as m

Given = TypeVar("Given")


class Checked(NamedTuple):
    """One document and what was found in it.

    Attributes:
        path: Its name, as it is shown.
        text: What it says.
        found: Its problems, with places in code points.
    """

    path: str
    text: str
    found: m.GoalDiagnosticsResult


def check(options: Namespace) -> int:
    """Print the problems of documents; the exit status tells whether any of them counts.

    What is wrong with one file keeps nothing from the others: it is told at the end, and the status is that of it.
    """
    faults: list[UsageFault] = []
    found = _each(files_of, options.files, faults)
    names = distinct(file for files in found for file in files)
    status = (_show_differences if options.diff else _show_problems)(names, options, faults)
    # A file that could not be read to mend it cannot be read to check it either.
    for text in dict.fromkeys(map(str, faults)):
        complain(text)
    return EXIT_USAGE if faults else status


def _each(act: Callable[[str], Given], names: Iterable[str], faults: list[UsageFault]) -> list[Given]:
    """Return what `act` gives for each name for which it can, and add why not to the faults for the others."""
    given = []
    for name in names:
        try:
            given.append(act(name))
        except UsageFault as fault:
            faults.append(fault)
        except WireError as error:
            faults.append(UsageFault(f"{name}: {error.message}", error.category))
    return given


def _show_problems(names: Sequence[str], options: Namespace, faults: list[UsageFault]) -> int:
    fixed_count = _fix(names, faults) if options.fix else 0
    checked = _each(lambda name: _check(name, options.stdin_filename), names, faults)
    if faults and not checked:
        # There is nothing to report on, so that the fault is the answer.
        raise UsageFault("\n".join(dict.fromkeys(map(str, faults))), faults[0].category)
    items = [item for document in checked for item in document.found.items]
    form = "json" if options.json else options.format
    _report(checked, form)
    if form == "text":
        note(count_line(items, len(checked), fixed_count))
    counting = {"error", "warning", "info"} if options.strict else {"error", "warning"}
    return EXIT_FINDINGS if any(item.severity in counting for item in items) else EXIT_OK


def _check(name: str, stdin_filename: str | None) -> Checked:
    shown = _shown_name(name, stdin_filename)
    document = read_bytes(read_named(name))
    found = convert.goal_diagnostics(document, ruled(document.problems, _rules(shown)))
    return Checked(shown, document.text, found)


def _shown_name(name: str, stdin_filename: str | None) -> str:
    return stdin_filename or name if name == STANDARD_INPUT else name


def _rules(name: str) -> Rules:
    try:
        return configuration_for(Path(name).absolute()).rules
    except WireError as error:
        raise UsageFault(error.message) from None


def _report(checked: Sequence[Checked], form: str) -> None:
    if form == "json":
        show_json({"files": [{"path": each.path, **msgspec.to_builtins(each.found)} for each in checked]})
    elif form == "sarif":
        show_json(sarif_log([(each.path, each.found.items) for each in checked]), indent=2)
    else:
        for each in checked:
            lines = (
                github_lines(each.path, each.found.items)
                if form == "github"
                else finding_lines(each.path, each.text, each.found.items)
            )
            for line in lines:
                # Not `show`: the lines are safe already, and may have color.
                print(line)


# -- mending ---------------------------------------------------------------------------------------------------------


def _fix(names: Sequence[str], faults: list[UsageFault]) -> int:
    """Make the safe fixes in files, and return how many problems that mended."""
    if STANDARD_INPUT in names:
        raise UsageFault("standard input cannot be fixed; --diff shows what would be, and a file can be")
    return sum(_each(_fix_file, names, faults))


def _fix_file(name: str) -> int:
    rules = _rules(name)
    _, count = _mended(read_named(name), rules)
    # What has nothing to fix is not even looked at by what writes, which takes no link and no file of somebody else.
    if count:

        def merge(data: bytes) -> bytes:
            nonlocal count
            after, count = _mended(data, rules)
            return after

        replace_file(name, merge)
    return count


def _mended(data: bytes, rules: Rules) -> tuple[bytes, int]:
    """Return the bytes of a document with its safe fixes, and how many there are; what is no UTF-8 stays."""
    try:
        mended = mend(data.decode(), rules)
    except UnicodeDecodeError:
        return data, 0
    return mended.text.encode(), len(mended.fixed)


def _show_differences(names: Sequence[str], options: Namespace, faults: list[UsageFault]) -> int:
    """Print what `--fix` would change, as a patch."""
    return EXIT_FINDINGS if any(_each(lambda name: _differs(name, options.stdin_filename), names, faults)) else EXIT_OK


def _differs(name: str, stdin_filename: str | None) -> bool:
    """Print what `--fix` would change in one file, and return whether it would."""
    from stateward_daemon.cli.differences import difference  # noqa: PLC0415 - only this needs it

    shown = _shown_name(name, stdin_filename)
    data = read_named(name)
    after, count = _mended(data, _rules(shown))
    if count:
        sys.stdout.write(difference(shown, data.decode(), after.decode(), exact=not sys.stdout.isatty()))
    return count > 0
