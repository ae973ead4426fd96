"""Configured: what a person and the projects want to see of documents, as it is now.

What is wrong with it is told to the person, once, and the rest counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp

from stateward_daemon.configuration import (
    DEFAULT,
    KEYS,
    NOTHING,
    TABLE,
    Configuration,
    Given,
    checked,
    configuration_for,
    merged,
    near,
)
from stateward_daemon.lsp.uris import directory_of
from stateward_protocol.errors import WireError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

# The scope of what is said for no folder.
EVERYWHERE: Final = ""


class Configured:
    """The configuration of the documents of one client. Runs on the event loop, but for `of`."""

    def __init__(
        self, ask: Callable[[str, object], Future[Any]], tell: Callable[[str], None], changed: Callable[[], None]
    ) -> None:
        """Begin with what counts by itself.

        Args:
            ask: Sends a request to the client.
            tell: Tells the person a sentence, once; from any thread.
            changed: Called when something else may be to be seen of every document.
        """
        self._ask = ask
        self._tell = tell
        self._changed = changed
        # By the URI of a folder, what the settings of the client say for it.
        self._preferred: dict[str, Given] = {}
        # What it said while it introduced itself; it counts until there are settings for all folders.
        self._initial: Given = NOTHING
        self._asked = 0

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Take what the client said while it introduced itself."""
        self._initial = self._checked(settings)
        self._preferred = {EVERYWHERE: self._initial}

    def of(self, path: Path) -> Configuration:
        """Return what is to be seen of a document; a file of its project that is wrong counts as none."""
        preferred = self._preference(path)
        try:
            return configuration_for(path, preferred)
        except WireError as error:
            self._tell(error.message)
            return merged(preferred, NOTHING) if preferred else DEFAULT

    def ask(self, folders: Sequence[str]) -> None:
        """Ask the client for its settings: for all, and for each of its folders."""
        scopes = [EVERYWHERE, *folders]
        items = [lsp.ConfigurationItem(scope or None, TABLE) for scope in scopes]
        self._asked += 1
        number = self._asked

        def answered(future: Future[Any]) -> None:
            # An answer to an earlier question may come late.
            if number == self._asked and not future.cancelled() and future.exception() is None:
                answer = future.result()
                if isinstance(answer, list):
                    self._take(dict(zip(scopes, answer, strict=False)))

        self._ask(lsp.WORKSPACE_CONFIGURATION, lsp.ConfigurationParams(items)).add_done_callback(answered)

    def take(self, settings: object) -> None:
        """Take settings that the client sends by itself, whatever their shape is."""
        self._take({EVERYWHERE: settings})

    def _take(self, settings: Mapping[str, object]) -> None:
        before, self._preferred = self._preferred, {EVERYWHERE: self._initial}
        for scope, table in settings.items():
            if isinstance(table, dict):
                self._preferred[scope] = self._checked(table)
        if before != self._preferred:
            self._changed()

    def _checked(self, table: Mapping[str, Any]) -> Given:
        # The section has settings of the client itself, too; and a setting without a value is none.
        ours = {key: value for key, value in table.items() if value is not None and (key in KEYS or near(key, KEYS))}
        said, complaints = checked(ours)
        for names, message in complaints:
            self._tell(f"{shortened('.'.join((TABLE, *names)))}: {shortened(message)}")
        return said

    def _preference(self, path: Path) -> Given:
        """Return what the settings say for the innermost folder around a document."""
        around = [EVERYWHERE, *(scope for scope in self._preferred if scope and _holds(scope, path))]
        return self._preferred.get(max(around, key=len), NOTHING)


def _holds(folder: str, path: Path) -> bool:
    root = directory_of(folder)
    return root is not None and path.is_relative_to(root)
