"""From a call to its handler: the loading of it, the decoding of params, and what a wrong call is told."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import msgspec

from stateward_engine.state.read import parse_request
from stateward_protocol.errors import GOT_CHARACTERS_MAX, WireError, explained, shortened
from stateward_protocol.messages import StrictParams
from stateward_protocol.methods import METHODS, PREFIX, Kind, Method
from stateward_protocol.state_methods import ROWS as STATE_METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stateward_daemon.host import Caller

# Params come decoded by the table, so a handler's own type is narrower than this one.
Handler: TypeAlias = "Callable[[Caller, Any], Any]"

HANDLERS: Final = "stateward_daemon.handlers"

# Where a wrong call is likely to be a known misunderstanding, the engine explains it better than types can.
EXPLANATIONS: Final[dict[str, Callable[[dict[str, Any]], object]]] = {"read_state": parse_request}

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
# Members and elements of a place, as in `.wanted[0]`.
_PLACE: Final = re.compile(r"[^.\[\]]+|\.\.\.")
_MISSING: Final = re.compile(r"missing required field `(\w+)`")
# What msgspec says of a wrong choice and of a pattern that does not match: a value, and an expression.
_UNHELPFUL: Final = ("Invalid enum value", "Expected `str` matching regex")


class Prepared(NamedTuple):
    """A call whose method is known and whose params have the right types.

    Attributes:
        method: Its row of the method table.
        caller: Who calls.
        params: The struct that the row names.
    """

    method: Method
    caller: Caller
    params: msgspec.Struct

    def run(self) -> Any:  # noqa: ANN401 - a result struct, a dict, or a command for the writer
        """Call the handler. A method that writes gives a command, every other its result.

        Raises:
            WireError: The call is refused.
            EngineError: The same, by the engine.
        """
        return handler_of(self.method)(self.caller, self.params)


def handler_of(method: Method) -> Handler:
    """Return the handler of a method: what the module of its name has. The first call of each loads it.

    A daemon that nobody asks about goals, or about the past, starts without what answers such questions.
    """
    if not is_loaded(method) and method.kind is Kind.GOAL:
        # The writer would load it, and everybody would wait for that.
        import_module("stateward_engine.authority.decide")
    handler: Handler = import_module(f"{HANDLERS}.{method.name}").handle
    return handler


def load_core() -> None:
    """Load what answers calls that are not about goals, before there is anybody who could want for descriptors."""
    for method in STATE_METHODS:
        handler_of(method)


def is_loaded(method: Method) -> bool:
    """Tell whether the handler of a method can be had at once."""
    return f"{HANDLERS}.{method.name}" in sys.modules


def find_method(name: str) -> Method | None:
    """Return the row of a method, with or without the prefix; `None` for a name that is none of ours."""
    return METHODS.get(name.removeprefix(PREFIX))


def unknown_method(name: str, names: Iterable[str] = METHODS) -> WireError:
    """Return the refusal of a name that nobody serves, with the nearest of `names`, which somebody does."""
    import difflib  # noqa: PLC0415 - only a wrong call pays for it

    # Comparing takes the product of the lengths, and no name of ours is that long.
    near = difflib.get_close_matches(shortened(name).removeprefix(PREFIX), [*names], n=1)
    suggestion = {"did_you_mean": near[0]} if near else {}
    return WireError("unknown_method", "there is no such method", got=shortened(name), **suggestion)


def prepare(caller: Caller, method: Method, params: dict[str, Any]) -> Prepared:
    """Return the call ready to run.

    Raises:
        WireError: `invalid_request` with the place, what came, what is wanted and a right call; `store_unavailable` for
            a read of what is too old.
        EngineError: The same, where the engine explains the mistake.
    """
    if method.needs_attach:
        caller.bound()
    if method.kind is Kind.READ:
        caller.host.demand_fresh()
    try:
        return Prepared(method, caller, msgspec.convert(params, method.params))
    except msgspec.ValidationError as error:
        explain = EXPLANATIONS.get(method.name)
        if explain is not None:
            explain(params)
        raise _invalid_params(method, params, str(error)) from None


def _invalid_params(method: Method, params: dict[str, Any], complaint: str) -> WireError:
    # Only a wrong call pays for it.
    from stateward_protocol.schema import type_words  # noqa: PLC0415

    message, path = explained(complaint, "$.params")
    place = _PLACE.findall(path.removeprefix("$.params"))
    missing = _MISSING.search(complaint)
    if missing:
        place.append(missing[1])
        path = f"{path}.{missing[1]}"
    wanted = type_words(method.params, *place)
    if complaint.startswith(_UNHELPFUL):
        message = f"expected {wanted}"
    known = list(method.params.__struct_fields__)
    facts: dict[str, Any] = {"path": path, "wanted": wanted, "example": json.dumps(method.example)}
    if not missing:
        facts["got"] = _preview(params, place)
    unknown = [name for name in params if name not in known]
    if unknown and issubclass(method.params, StrictParams):
        facts |= {"path": f"$.params.{unknown[0]}", "got": shortened(unknown[0]), "wanted": known}
        message = f"{method.name} has no member of that name"
    return WireError("invalid_request", message, **facts)


def _preview(params: Any, place: Iterable[str]) -> str:  # noqa: ANN401 - JSON
    """Return the beginning of what stands at a place of params, or as near to it as the place says.

    A text is told as it is, and everything else as JSON.
    """
    found = params
    for step in place:
        # Where msgspec does not say which member it is.
        if step == "...":
            break
        found = found[int(step)] if isinstance(found, list) else found[step]
    # Bit by bit, because what came may be long.
    return shortened(
        found if isinstance(found, str) else "".join(islice(_ENCODER.iterencode(found), GOT_CHARACTERS_MAX))
    )
