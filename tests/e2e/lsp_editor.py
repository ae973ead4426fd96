"""A pytest-lsp client over `stateward lsp` or straight on the socket, which keeps every diagnostic that it is sent."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.io_ import run_async
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from wire import Daemon

PATIENCE_S = 20.0


class Editor(LanguageClient):
    """An editor for one workspace folder."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.published: list[lsp.PublishDiagnosticsParams] = []
        self.refreshes = 0
        self.said: list[str] = []
        self._arrived = asyncio.Condition()
        self._writer: asyncio.StreamWriter | None = None
        self._take_in()

    def _take_in(self) -> None:
        # pygls' decorators and `stop` have no types.
        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        async def published(params: lsp.PublishDiagnosticsParams) -> None:
            async with self._arrived:
                self.published.append(params)
                self._arrived.notify_all()

        @self.feature(lsp.WORKSPACE_DIAGNOSTIC_REFRESH)  # type: ignore[untyped-decorator]
        async def refresh(_params: None) -> None:
            async with self._arrived:
                self.refreshes += 1
                self._arrived.notify_all()

        @self.feature(lsp.WINDOW_LOG_MESSAGE)  # type: ignore[untyped-decorator]
        def said(params: lsp.LogMessageParams) -> None:
            self.said.append(params.message)

        @self.feature(lsp.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        def shown(params: lsp.ShowMessageParams) -> None:
            self.said.append(params.message)

    async def start_unix(self, path: Path) -> None:
        """Connect to the daemon's socket without the bridge."""
        reader, self._writer = await asyncio.open_unix_connection(path)
        self.protocol.set_writer(self._writer)
        reading = run_async(stop_event=self._stop_event, reader=reader, protocol=self.protocol)
        self._async_tasks.append(asyncio.create_task(reading))

    async def introduce(self, folder: Path, **capabilities: Any) -> lsp.InitializeResult:
        """Initialize for a workspace folder."""
        result = await self.initialize_session(
            lsp.InitializeParams(
                capabilities=lsp.ClientCapabilities(**capabilities),
                workspace_folders=[lsp.WorkspaceFolder(folder.as_uri(), folder.name)],
            )
        )
        assert isinstance(result, lsp.InitializeResult)
        return result

    async def diagnostics_of(
        self, uri: str, fits: Callable[[lsp.PublishDiagnosticsParams], bool], *, after: int = 0
    ) -> lsp.PublishDiagnosticsParams:
        """Return the first diagnostics for `uri` that fit, of those that came after the first `after`."""

        def found() -> lsp.PublishDiagnosticsParams | None:
            return next((p for p in self.published[after:] if p.uri == uri and fits(p)), None)

        async with self._arrived:
            await asyncio.wait_for(self._arrived.wait_for(found), PATIENCE_S)
        result = found()
        assert result is not None
        return result

    async def refreshed(self, *, after: int) -> None:
        """Wait until the server has asked more than `after` times to pull diagnostics again."""
        async with self._arrived:
            await asyncio.wait_for(self._arrived.wait_for(lambda: self.refreshes > after), PATIENCE_S)

    async def hang_up(self) -> None:
        """End without a word, as an editor that crashed does."""
        if self._writer is not None:
            self._writer.close()
        await super().stop()  # type: ignore[no-untyped-call]


@contextlib.asynccontextmanager
async def through_bridge(daemon: Daemon) -> AsyncIterator[Editor]:
    """Run `stateward lsp` as an editor does."""
    editor = Editor()
    program, *arguments = daemon.command("lsp")
    await editor.start_io(program, *arguments, env=daemon.environment, cwd=daemon.cwd)
    try:
        yield editor
    finally:
        if editor.protocol.writer is not None:
            editor.protocol.writer.close()
        await editor.stop()  # type: ignore[no-untyped-call]


@contextlib.asynccontextmanager
async def on_socket(daemon: Daemon) -> AsyncIterator[Editor]:
    """Connect without the bridge."""
    editor = Editor()
    await editor.start_unix(daemon.socket)
    try:
        yield editor
    finally:
        await editor.hang_up()


def codes(params: lsp.PublishDiagnosticsParams) -> list[str]:
    """Return the codes of published diagnostics, in order."""
    return [str(diagnostic.code) for diagnostic in params.diagnostics]
