"""JSON that a person or a program gave the command line, as an argument or in a file."""

from __future__ import annotations

import json
from typing import Any

from stateward_daemon.exits import UsageFault
from stateward_protocol.errors import WireError
from stateward_protocol.strict_json import Unsendable, decode


def json_of(body: bytes, *, fault: str = "invalid_request") -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value, read as strictly as the wire reads it.

    Args:
        body: The text as it came.
        fault: The category of the refusal of a value that JSON cannot carry.

    Raises:
        UsageFault: It is no JSON.
        WireError: It holds a lone surrogate or a number that is not finite.
    """
    try:
        return decode(body)
    except Unsendable as found:
        raise WireError(fault, f"{found.what} cannot be sent as JSON; replace it", path=found.path) from None
    except WireError as error:
        raise UsageFault(_complaint(body, error.message)) from None


def _complaint(body: bytes, message: str) -> str:
    """Return why `body` is no JSON; the reader of the wire speaks of frames, and here it was an argument or a file."""
    text = body.decode("utf-8", "replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as fault:
        if fault.pos >= len(text.rstrip()) or fault.msg.startswith("Unterminated string"):
            return f"the given JSON ends too early, after {len(text)} characters; send all of it"
    except RecursionError:
        pass
    return message.replace("the frame", "the given text")
