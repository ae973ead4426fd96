"""The verbs that read and change state."""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stateward.printable import printable
from stateward_daemon.cli.given import json_of
from stateward_daemon.cli.printing import extent, health_word, note, problem_lines, show, show_json, show_table
from stateward_daemon.cli.reach import open_client
from stateward_daemon.exits import EXIT_OK, UsageFault
from stateward_protocol.errors import WireError
from stateward_protocol.notices import DiagnosticsChanged, StateChanged

if TYPE_CHECKING:
    from argparse import Namespace

    from stateward_protocol.messages import ChangedResult, PatchReceipt
    from stateward_protocol.notices import Notice

_INDENT: Final = 2
_PRIVATE_FILE: Final = 0o600
# Keys that a path can name; others are shown as JSON and have no path of their own.
_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")


def read(options: Namespace) -> int:
    """Print the values, keys or patches of paths."""
    with open_client(options) as client:
        if len(options.paths) == 1:
            answer = client.read_state(options.paths[0], projection=options.projection)
        else:
            answer = client.read_state(paths=options.paths, projection=options.projection)
    if options.json:
        show_json(answer)
        return EXIT_OK
    hints, stale_since = answer.pop("hint", []), answer.pop("stale_since", None)
    # A lone member needs no name: whoever asked for a value wants to see that value.
    show_json(next(iter(answer.values())) if len(answer) == 1 else answer, indent=_INDENT)
    for hint in hints:
        note("\n".join([f"hint: {printable(hint['message'])}", *(f"  {printable(path)}" for path in hint["paths"])]))
    if stale_since is not None:
        note(f"the database is out of reach; this is what was known at {stale_since}")
    return EXIT_OK


def patch(options: Namespace) -> int:
    """Merge a patch; print which scopes changed, and what the patch alone does not say."""
    body = sys.stdin.buffer.read() if options.patch == "-" else os.fsencode(options.patch)
    content = json_of(body, fault="invalid_patch")
    with open_client(options, changes=True) as client:
        receipt = client.patch_state(content, idempotency_key=options.idempotency_key, if_revision=options.if_revision)
    _show_changed(receipt, options)
    if not options.json and receipt.state_updates:
        show_json(msgspec.to_builtins(receipt.state_updates), indent=_INDENT)
    return EXIT_OK


def baseline(options: Namespace) -> int:
    """Print what a run starts with."""
    with open_client(options) as client:
        found = msgspec.to_builtins(client.baseline())
    show_json(found, indent=None if options.json else _INDENT)
    return EXIT_OK


def respond(options: Namespace) -> int:
    """Keep an answer in the session."""
    with open_client(options, changes=True) as client:
        return _show_changed(client.respond(options.text), options)


def fork(options: Namespace) -> int:
    """Begin a session with the state of another one."""
    with open_client(options, changes=True) as client:
        return _show_changed(client.fork_session(options.parent, options.child), options)


def browse(options: Namespace) -> int:
    """Print one level of keys and kinds, and how to go on."""
    with open_client(options) as client:
        if options.path is None:
            assert client.attached is not None  # noqa: S101 - `open_client` attaches
            roots = ["effective", *client.attached.wanted]
            answer = client.read_state(paths=roots, projection="keys")
            levels = list(zip(roots, answer["meta"], answer["keys"], strict=True))
        else:
            answer = client.read_state(options.path, projection="keys")
            levels = [(options.path, answer["meta"], answer["keys"])]
    if options.json:
        show_json(answer)
        return EXIT_OK
    for path, meta, keys in levels:
        show(f"{path}  {extent(meta)}")
        show_table(((_spelled(key), kind) for key, kind in (keys or {}).items()), indent="  ")
    note(_onward(*levels[0]))
    return EXIT_OK


def state_status(options: Namespace) -> int:
    """Print revisions and health."""
    with open_client(options) as client:
        status = client.state_status()
    if options.json:
        show_json(msgspec.to_builtins(status))
        return EXIT_OK
    show_table(
        [
            ("revision", status.revision),
            ("boundaries", status.boundaries),
            *((name, health_word(health)) for name, health in status.scopes.items()),
            ("writer", health_word(status.writer)),
        ]
    )
    return EXIT_OK


def watch(options: Namespace) -> int:
    """Print a line for each change, as it comes."""
    with open_client(options) as client:
        client.subscribe(options.topics)
        told = 0
        for told, change in enumerate(itertools.islice(client.changes(), options.count), start=1):  # noqa: B007
            if options.json:
                show_json(msgspec.to_builtins(change))
            else:
                show(_told(change))
            # Whoever reads this through a pipe waits for it.
            sys.stdout.flush()
        # Changes without end ended, or ended too soon.
        if told != options.count:
            raise WireError("store_unavailable", "changes are told by a daemon, and there is none here")
    return EXIT_OK


def _told(change: Notice) -> str:
    if isinstance(change, StateChanged):
        return f"{', '.join(change.scopes)} changed, revision {change.revision}"
    if isinstance(change, DiagnosticsChanged):
        return "\n".join([f"problems of {change.goal} changed", *problem_lines(change.items, change.problem_count)])
    what = "any todo" if change.todo_ids is None else ", ".join(change.todo_ids)
    return f"{what} of {change.goal_id} changed, revision {change.provider_revision}"


def configure(options: Namespace) -> int:
    """Change the setting and print it."""
    with open_client(options, changes=True) as client:
        setting = client.configure(history_limit=options.history_limit)
    if options.json:
        show_json(msgspec.to_builtins(setting))
    else:
        show_table([("history_limit", setting.history_limit)])
    return EXIT_OK


def export(options: Namespace) -> int:
    """Write the states to a file that only its owner can read: state is nobody else's business."""
    with open_client(options, start="never") as client:
        states = msgspec.to_builtins(client.export_state())
    if options.file == "-":
        show_json(states, indent=None if options.json else _INDENT)
        return EXIT_OK
    try:
        descriptor = os.open(options.file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _PRIVATE_FILE)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(json.dumps(states, ensure_ascii=False, indent=_INDENT) + "\n")
    except OSError as error:
        raise UsageFault(f"{options.file} cannot be written ({error.strerror})") from None
    note(f"exported {', '.join(states['scopes'])} to {options.file}")
    return EXIT_OK


def import_(options: Namespace) -> int:
    """Put exported states into fresh scopes."""
    try:
        with open(0 if options.file == "-" else options.file, "rb", closefd=options.file != "-") as file:
            body = file.read()
    except OSError as error:
        raise UsageFault(f"{options.file} cannot be read ({error.strerror})") from None
    states = json_of(body, fault="invalid_patch")
    if not isinstance(states, dict) or not isinstance(states.get("scopes"), dict):
        raise UsageFault('a file to import is an object with "scopes", as stateward export writes it')
    with open_client(options, changes=True) as client:
        receipt = client.import_state(states["scopes"])
    return _show_changed(receipt, options)


# -- shared ----------------------------------------------------------------------------------------------------------


def _show_changed(receipt: PatchReceipt | ChangedResult, options: Namespace) -> int:
    if options.json:
        show_json(msgspec.to_builtins(receipt))
    else:
        show(f"changed {', '.join(receipt.changed)}" if receipt.changed else "nothing changed")
    return EXIT_OK


def _spelled(key: str) -> str:
    return key if _NAME.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _onward(path: str, meta: dict[str, Any], keys: dict[str, str] | list[Any]) -> str:
    """Return the command that goes one level deeper, or shows what is here."""
    # Arrays have no keys but positions; the first one is as good an example as any.
    inner = [f".{key}" for key in keys if _NAME.fullmatch(key)] if isinstance(keys, dict) else []
    if meta["type"] == "array" and meta.get("length"):
        inner = ["[0]"]
    return f"go on with: stateward browse '{path}{inner[0]}'" if inner else f"read it with: stateward read '{path}'"
