"""`goal new`: a first goal document. It needs no daemon and no store unless they are to know it; overwrites nothing."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from stateward_daemon.cli.goal_calls import call
from stateward_daemon.cli.goal_files import create_file
from stateward_daemon.cli.goal_store_verbs import registered
from stateward_daemon.cli.patterns import is_directory
from stateward_daemon.cli.printing import show, show_json
from stateward_daemon.documents import GOAL_FILE_NAME
from stateward_daemon.exits import EXIT_OK, UsageFault
from stateward_engine.errors import InvalidRequest
from stateward_engine.goals.template import new_document
from stateward_engine.json_value import encodable

if TYPE_CHECKING:
    from argparse import Namespace


def new(options: Namespace) -> int:
    """Create a document from the template, and have the store know it where that is wanted."""
    path = Path(options.file)
    if is_directory(options.file):
        path /= GOAL_FILE_NAME
    for name in ("objective", "next_action"):
        if not encodable(getattr(options, name)):
            raise UsageFault(f"--{name.replace('_', '-')} is not UTF-8; check the locale and what quotes the text")
    if options.register:
        answer = call(options, "goal_new", path=os.path.abspath(path))  # noqa: PTH100 - sent as text
        return registered(options, answer)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        text = new_document(options.goal_id, options.objective, now, options.next_action)
    except InvalidRequest as fault:
        wanted = fault.facts.get("wanted")
        raise UsageFault(f"{fault}; wanted {wanted}" if wanted else str(fault)) from None
    create_file(str(path), text.encode())
    if options.json:
        show_json({"path": str(path), "goal_id": options.goal_id})
    else:
        show(f"created {path}; add the first todo below `## Agent Todo`, and check it with stateward goal check")
    return EXIT_OK
