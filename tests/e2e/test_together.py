"""Editors and agents on one daemon at once: each sees what the others do, and none of them can end it for the rest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from lsp_editor import codes, on_socket, through_bridge
from lsprotocol import types as lsp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wire import Daemon

GOOD: Final = """\
---
status: active
---
# Goal

## Next Action

- Go on.

## Agent Todo

- [ ] One
  <!-- loopx:todo todo_id=todo_one -->
"""
BAD: Final = GOOD.replace("  <!-- loopx:todo todo_id=todo_one -->\n", "")
WORSE: Final = GOOD + "- [ ] 🌊 Two 二\n  <!-- loopx:todo todo_id=todo_one -->\n"


def document(daemon: Daemon, text: str) -> Path:
    path = daemon.cwd / "ACTIVE_GOAL_STATE.md"
    path.write_text(text, encoding="utf-8")
    return path


def save_by_rename(path: Path, text: str) -> None:
    """Save as most editors do: another file takes the place of the old one."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.rename(path)


def opened(path: Path, text: str) -> lsp.DidOpenTextDocumentParams:
    return lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(path.as_uri(), "markdown", 1, text))


async def test_two_editors_and_two_agents_share_one_daemon(start: Callable[[], Daemon]) -> None:
    """DM-001, DM-007: and one editor's `exit` and one killed client leave the others served."""
    daemon = start()
    path = document(daemon, GOOD)
    uri = path.as_uri()
    async with through_bridge(daemon) as first, on_socket(daemon) as second:
        for editor in (first, second):
            await editor.introduce(daemon.cwd)
            editor.text_document_did_open(opened(path, GOOD))
            assert codes(await editor.diagnostics_of(uri, lambda p: p.version == 1)) == []
        with daemon.agent("one") as one, daemon.agent("two") as two:
            one.call("patch_state", {"patch": {"cwd": {"tactics": {"from": "one"}}}})
            assert two.call("read_state", {"path": "cwd.tactics.from"}) == {"value": "one"}

            for text, wanted in ((BAD, ["implicit_todo_ids"]), (WORSE, ["duplicate_todo_ids"] * 2), (GOOD, [])):
                seen = {editor: len(editor.published) for editor in (first, second)}
                save_by_rename(path, text)
                for editor, after in seen.items():
                    fresh = await editor.diagnostics_of(uri, lambda p: codes(p) == wanted, after=after)  # noqa: B023
                    assert {diagnostic.source for diagnostic in fresh.diagnostics} <= {"stateward"}

            await first.shutdown_session()
            two.close()
            assert one.call("ping") == {"ok": True}
            save_by_rename(path, BAD)
            await second.diagnostics_of(uri, lambda p: codes(p) == ["implicit_todo_ids"], after=seen[second])
    assert daemon.process is not None
    assert daemon.process.poll() is None


async def test_a_killed_daemon_comes_back_behind_the_bridge(start: Callable[[], Daemon]) -> None:
    """The bridge starts another one, tells it what was open, and says so; the editor goes on typing."""
    daemon = start()
    path = document(daemon, GOOD)
    uri = path.as_uri()
    async with through_bridge(daemon) as editor:
        await editor.introduce(daemon.cwd)
        editor.text_document_did_open(opened(path, GOOD))
        await editor.diagnostics_of(uri, lambda p: p.version == 1)
        seen = len(editor.published)
        daemon.kill()
        editor.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(2, uri), [lsp.TextDocumentContentChangeWholeDocument(BAD)]
            )
        )
        fresh = await editor.diagnostics_of(uri, lambda p: p.version == 2, after=seen)
        assert codes(fresh) == ["implicit_todo_ids"]
        assert any("restarted" in message for message in editor.said)
        await editor.shutdown_session()
    daemon.run("daemon", "stop")


async def test_pull_diagnostics_know_what_is_unchanged(daemon: Daemon) -> None:
    path = document(daemon, BAD)
    uri = path.as_uri()
    pulls = {
        "text_document": lsp.TextDocumentClientCapabilities(diagnostic=lsp.DiagnosticClientCapabilities()),
        "workspace": lsp.WorkspaceClientCapabilities(
            diagnostics=lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        ),
    }
    async with on_socket(daemon) as editor:
        result = await editor.introduce(daemon.cwd, **pulls)
        assert result.capabilities.diagnostic_provider is not None
        editor.text_document_did_open(opened(path, BAD))
        asked = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
        report = await editor.text_document_diagnostic_async(asked)
        assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport)
        assert [item.code for item in report.items] == ["implicit_todo_ids"]
        asked.previous_result_id = report.result_id
        again = await editor.text_document_diagnostic_async(asked)
        assert isinstance(again, lsp.RelatedUnchangedDocumentDiagnosticReport)

        asked_before = editor.refreshes
        save_by_rename(path, WORSE)
        await editor.refreshed(after=asked_before)
        fresh = await editor.text_document_diagnostic_async(asked)
        assert isinstance(fresh, lsp.RelatedFullDocumentDiagnosticReport)
        assert [item.code for item in fresh.items] == ["duplicate_todo_ids"] * 2
        everywhere = await editor.workspace_diagnostic_async(lsp.WorkspaceDiagnosticParams([]))
        assert [item.uri for item in everywhere.items] == [uri]
        assert editor.published == []


async def test_positions_are_right_in_the_units_of_each_client(daemon: Daemon) -> None:
    """The same row after an emoji, as a UTF-16 and as a UTF-8 client counts it."""
    path = document(daemon, BAD.replace("One", "🌊🌊 One 一"))
    uri, text = path.as_uri(), path.read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if "🌊" in line)
    for encoding, length in (("utf-16", len(row.encode("utf-16-le")) // 2), ("utf-8", len(row.encode()))):
        async with on_socket(daemon) as editor:
            offered = lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind(encoding)])
            result = await editor.introduce(daemon.cwd, general=offered)
            assert result.capabilities.position_encoding == encoding
            editor.text_document_did_open(opened(path, text))
            shown = await editor.diagnostics_of(uri, lambda p: p.version == 1)
            assert [(d.range.start.line, d.range.end.character) for d in shown.diagnostics] == [(11, length)]


async def test_hover_and_symbols_tell_of_a_todo(daemon: Daemon) -> None:
    path = document(daemon, GOOD)
    uri = path.as_uri()
    async with on_socket(daemon) as editor:
        await editor.introduce(daemon.cwd)
        editor.text_document_did_open(opened(path, GOOD))
        place = lsp.TextDocumentPositionParams(lsp.TextDocumentIdentifier(uri), lsp.Position(11, 8))
        hover = await editor.text_document_hover_async(lsp.HoverParams(place.text_document, place.position))
        assert hover is not None
        assert "todo_one" in str(hover.contents)
        symbols = await editor.text_document_document_symbol_async(lsp.DocumentSymbolParams(place.text_document))
        assert symbols
        assert "One" in str(symbols)


async def test_a_deleted_document_is_cleared_and_comes_back(daemon: Daemon) -> None:
    """Field case 37: empty diagnostics after a delete, the problems again after it is there again."""
    path = document(daemon, BAD)
    uri = path.as_uri()
    async with on_socket(daemon) as editor:
        await editor.introduce(daemon.cwd)
        await editor.diagnostics_of(uri, lambda p: codes(p) == ["implicit_todo_ids"])
        seen = len(editor.published)
        path.unlink()
        await editor.diagnostics_of(uri, lambda p: codes(p) == [], after=seen)
        seen = len(editor.published)
        path.write_text(WORSE, encoding="utf-8")
        await editor.diagnostics_of(uri, lambda p: codes(p) == ["duplicate_todo_ids"] * 2, after=seen)


def test_every_read_of_a_document_is_what_is_on_disk(daemon: Daemon) -> None:
    """Field case 37: a read compares content, also when size and time are what they were."""
    path = document(daemon, BAD)
    same_size = GOOD.replace("todo_one", "todo_two")
    assert len(same_size) == len(GOOD)
    with daemon.agent() as wire:
        found = []
        for text in (BAD, GOOD, same_size, BAD):
            before = path.stat()
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            items = wire.call("goal_projection", {"path": str(path)})["todos"]["agent"]["items"]
            found.append([item["todo_id"] for item in items])
        path.unlink()
        text_of_a_buffer = wire.call("goal_diagnostics", {"text": BAD})["items"]
    assert found[1:3] == [["todo_one"], ["todo_two"]]
    assert found[0] == found[3] != found[1]
    assert [item["code"] for item in text_of_a_buffer] == ["implicit_todo_ids"]
