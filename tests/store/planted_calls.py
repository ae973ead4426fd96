"""The system calls of a publication, one after the other, each a moment at which a test can do something else."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING, Any, Final

import pytest

from stateward_engine.store import linux_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CALLS: Final = [
    *((os, name) for name in ("open", "stat", "fstat", "listdir", "listxattr", "getxattr", "setxattr", "close")),
    *((os, name) for name in ("pwrite", "pread", "fdatasync", "fsync", "fchown", "fchmod", "rename", "link", "unlink")),
    (fcntl, "flock"),
    (fcntl, "fcntl"),
    (time, "sleep"),
    (linux_calls, "exchange_names"),
    (linux_calls, "rename_to_free_name"),
]


class Killed(BaseException):
    """The process ends here: nothing that would clean up after it runs."""


class Calls:
    """Counts the calls of what runs inside of `watched`, and does something before each.

    Attributes:
        names: Of the calls so far, in order.
        before: Is told the number of each call, from 0, and its name; what it raises, the call raises.
    """

    def __init__(self, before: Callable[[int, str], None] = lambda *_: None) -> None:
        self.names: list[str] = []
        self.before = before
        self._inside = False

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for module, name in CALLS:
                patch.setattr(module, name, self._watching(name, getattr(module, name)))
            yield

    def _watching(self, name: str, call: Any) -> Any:
        def watching(*arguments: Any, **named: Any) -> Any:
            # While a lease is held, the kernel makes those wait who want to write: nothing can happen there.
            if self._inside or arguments[1:] == (fcntl.F_SETLEASE, fcntl.F_UNLCK):
                return call(*arguments, **named)
            self._inside = True
            try:
                self.names.append(_called(name, arguments))
                self.before(len(self.names) - 1, self.names[-1])
            except BaseException:
                # What is closed is closed, whatever the call says.
                if name == "close":
                    call(*arguments)
                raise
            finally:
                self._inside = False
            return None if name == "sleep" else call(*arguments, **named)

        return watching


def _called(name: str, arguments: tuple[Any, ...]) -> str:
    """Return the name of a call. To close a file that was only read does not fail."""
    if name == "close" and fcntl.fcntl(arguments[0], fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        return "close what was read"
    return name


def once(number: int, act: Callable[[], object], *, but_not: set[str]) -> Callable[[int, str], None]:
    """Do `act` before the call of that number, unless it has one of these names."""

    def before(at: int, called: str) -> None:
        if at == number and called not in but_not:
            act()

    return before


def at_call(name: str, act: Callable[[], object], *, time: int = 1) -> Callable[[int, str], None]:
    """Do `act` before call `name`, the `time`th of that name from 1."""
    left = [time]

    def before(_: int, called: str) -> None:
        if called == name:
            left[0] -= 1
            if left[0] == 0:
                act()

    return before


def failing(number: int) -> Callable[[], object]:
    """Raise the error of that number."""

    def fail() -> object:
        raise OSError(number, os.strerror(number))

    return fail


def killing(number: int) -> Callable[[int, str], None]:
    """End the process before the call of that number: no later call does anything."""

    def before(at: int, _: str) -> None:
        if at >= number:
            raise Killed

    return before
