"""The client library of stateward: working state that coding agents, editors and people share.

>>> import stateward
>>> with stateward.connect(cwd="/home/ada/project", session="s1") as client:  # doctest: +SKIP
...     client.patch_state({"cwd": {"tactics": {"next": "run the tests"}}})
...     client.read_state("effective.tactics")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stateward.async_client import AsyncClient
    from stateward.client import Client
    from stateward.opening import Start, connect
    from stateward_protocol import __version__
    from stateward_protocol.errors import WireError as StatewardError

__all__ = ["AsyncClient", "Client", "Start", "StatewardError", "__version__", "connect"]

# Loaded by whoever asks for them: the daemon uses a module of this package and none of these, and only an asynchronous
# client needs asyncio.
_PLACES: Final = {
    "AsyncClient": ("stateward.async_client", "AsyncClient"),
    "Client": ("stateward.client", "Client"),
    "Start": ("stateward.opening", "Start"),
    "StatewardError": ("stateward_protocol.errors", "WireError"),
    "__version__": ("stateward_protocol", "__version__"),
    "connect": ("stateward.opening", "connect"),
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the package has by that name
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    found = globals()[name] = getattr(importlib.import_module(module), attribute)
    return found
