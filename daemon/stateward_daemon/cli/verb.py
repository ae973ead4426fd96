"""What a row of the table of verbs is."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple

from stateward_daemon.cli.parser import VerbParser

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable


class Verb(NamedTuple):
    """One row of the table.

    Attributes:
        name: As typed.
        code: Its module in this package and its function, which takes the options and returns the exit status.
        summary: What it does, in sentences. The first one stands in the overview.
        example: A command that works.
        options: Functions that add its arguments.
        says_ok: Whether its JSON says so: `ok`, and of what is refused `status` as well.
    """

    name: str
    code: str
    summary: str
    example: str
    options: tuple[Callable[[VerbParser], None], ...]
    says_ok: bool = False

    def parser(self) -> VerbParser:
        """Return the parser of its arguments."""
        parser = VerbParser(self.name, self.summary, self.example)
        for add in self.options:
            add(parser)
        return parser

    def load(self) -> Callable[[Namespace], int]:
        """Import its code."""
        module, _, function = self.code.partition(":")
        loaded: Callable[[Namespace], int] = getattr(importlib.import_module(f"{__package__}.{module}"), function)
        return loaded
