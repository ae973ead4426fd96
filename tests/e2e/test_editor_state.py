"""State on the connection of an editor, on a real daemon: the methods of agents, and virtual documents that live on."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Final

from lsp_editor import PATIENCE_S, through_bridge
from lsprotocol import types as lsp

if TYPE_CHECKING:
    from collections.abc import Callable

    from lsp_editor import Editor

    from wire import Daemon

LAZY: Final = "stateward:/cwd/lazy.json"
TEXT: Final = "---\nstatus: active\n---\n# Goal\n\n## Agent Todo\n\n- [ ] One\n  <!-- loopx:todo todo_id=todo_one -->\n"
SHOWING: Final = lsp.WorkspaceClientCapabilities(text_document_content=lsp.TextDocumentContentClientCapabilities())


def patch(daemon: Daemon, **lazy: Any) -> None:
    with daemon.agent() as agent:
        agent.call("patch_state", {"patch": {"cwd": {"lazy": lazy}}})


async def ask(editor: Editor, method: str, **params: Any) -> Any:
    return await editor.protocol.send_request_async(method, params)  # type: ignore[no-untyped-call]


async def shown(editor: Editor, uri: str = LAZY) -> Any:
    found = await editor.workspace_text_document_content_async(lsp.TextDocumentContentParams(uri))
    return json.loads(found.text)


async def test_an_editor_has_the_methods_of_agents(daemon: Daemon) -> None:
    """DM-008: a tree of keys and kinds is read one level at a time. protocol.md section 3: one table for everybody."""
    path = daemon.cwd / "ACTIVE_GOAL_STATE.md"
    path.write_text(TEXT, encoding="utf-8")
    patch(daemon, plan={"next": "BODY"}, list=[1])
    with daemon.agent() as agent:
        agent.call("goal_register", {"goal_id": "release", "path": str(path)})
    async with through_bridge(daemon) as editor:
        await editor.introduce(daemon.cwd)
        level = await ask(editor, "read_state", path="cwd.lazy", projection="keys")
        sessions = await ask(editor, "stateward/sessions")
        todos = await ask(editor, "todo_list", goal_id="release")
        document = await ask(editor, "state_document", uri="stateward:/lazy.json")

        assert (level.keys.plan, level.keys.list) == ("object", "array")
        assert [connection.kind for connection in sessions.connections] == ["editor"]
        assert [todo.todo_id for todo in todos.todos] == ["todo_one"]
        assert json.loads(document.text) == {"list": [1], "plan": {"next": "BODY"}}


async def test_an_unsaved_text_is_that_of_its_own_connection_alone(daemon: Daemon) -> None:
    path = daemon.cwd / "ACTIVE_GOAL_STATE.md"
    path.write_text(TEXT, encoding="utf-8")
    async with through_bridge(daemon) as editor, through_bridge(daemon) as other:
        for each in (editor, other):
            await each.introduce(daemon.cwd)
        item = lsp.TextDocumentItem(path.as_uri(), "markdown", 1, TEXT.replace("One", "Unsaved"))
        editor.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        uri = f"stateward:/projection{path}.json"

        assert "Unsaved" in json.dumps(await shown(editor, uri))
        assert "Unsaved" not in json.dumps(await shown(other, uri))
        assert (await ask(editor, "goal_projection", path=str(path))).todos.agent.items[0].text == "Unsaved"
        with daemon.agent() as agent:
            assert "Unsaved" not in json.dumps(agent.call("goal_projection", {"path": str(path)}))


async def test_a_virtual_document_outlives_its_daemon(start: Callable[[], Daemon]) -> None:
    """The next daemon lets the editor ask again for what it shows, and tells of what changes then."""
    daemon = start()
    told: asyncio.Queue[str] = asyncio.Queue()
    patch(daemon, n=1)
    async with through_bridge(daemon) as editor, asyncio.timeout(PATIENCE_S):

        @editor.feature(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH)  # type: ignore[untyped-decorator]
        def refresh(params: lsp.TextDocumentContentRefreshParams) -> None:
            told.put_nowait(params.uri)

        await editor.introduce(daemon.cwd, workspace=SHOWING)
        assert await shown(editor) == {"n": 1}
        daemon.kill()
        assert await told.get() == LAZY
        assert await shown(editor) == {"n": 1}
        patch(daemon, n=2)
        assert await told.get() == LAZY
        assert await shown(editor) == {"n": 2}
        await editor.shutdown_session()
    daemon.run("daemon", "stop")
