"""Private validation declarations: how the completion of a todo is checked, which only its own document may say.

Everybody else learns that there is one, and its digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from stateward_engine.goals.digests import value_sha256
from stateward_engine.json_value import canonical

if TYPE_CHECKING:
    from stateward_engine.json_value import Json

# Exactly these four keys, null where nothing is declared.
Declaration: TypeAlias = "Mapping[str, Json]"

COMMAND: Final = "validation_command"
ARGUMENTS: Final = "validation_command_argv"
LABEL: Final = "validation_label"
TIMEOUT: Final = "validation_timeout_seconds"
DECLARATION_KEYS: Final = (COMMAND, ARGUMENTS, LABEL, TIMEOUT)
WANTED: Final = "an object of validation_command, validation_command_argv, validation_label, validation_timeout_seconds"


def complete_declaration(given: object) -> Declaration | None:
    """Return a declaration with all of its keys; `None` for one with another key or a value of a wrong type."""
    if not isinstance(given, Mapping) or not given.keys() <= set(DECLARATION_KEYS):
        return None
    declaration = {key: given.get(key) for key in DECLARATION_KEYS}
    arguments, timeout = declaration[ARGUMENTS], declaration[TIMEOUT]
    fits = (
        all(isinstance(declaration[key], str | None) for key in (COMMAND, LABEL))
        and (arguments is None or (isinstance(arguments, list) and all(isinstance(word, str) for word in arguments)))
        and (timeout is None or type(timeout) is int)
    )
    return declaration if fits else None


def declaration_sha256(declaration: Declaration) -> str:
    """Return the digest by which a record names its declaration.

    Source: goal-documents 4.5.
    """
    return value_sha256(declaration)


def declared_fields(declaration: Declaration) -> dict[str, Json]:
    """Return what is written of a declaration as metadata: the argument vector is JSON text there.

    >>> declared_fields({"validation_command_argv": ["make", "test"], "validation_timeout_seconds": 60})
    {'validation_command_argv': '["make","test"]', 'validation_timeout_seconds': 60}
    """
    return {
        key: canonical(value) if key == ARGUMENTS else value for key, value in declaration.items() if value is not None
    }
