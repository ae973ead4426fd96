"""An editor and an agent work on the todos of one goal, on a real daemon: each sees what the other does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from lsp_editor import codes, through_bridge
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from pathlib import Path

    from wire import Daemon

GOAL: Final = "release"
DOCUMENT: Final = """\
---
status: active
---
# Release \N{WATER WAVE}

## Next Action

- Go on.

## Agent Todo

- [ ] [P1] Rehearse the rollback \N{WATER WAVE}
  <!-- loopx:todo todo_id=todo_rehearse -->
"""


@pytest.fixture
def path(daemon: Daemon) -> Path:
    """The document of a goal that was promoted."""
    document = daemon.cwd / "ACTIVE_GOAL_STATE.md"
    document.write_text(DOCUMENT, encoding="utf-8")
    with daemon.agent() as agent:
        agent.call("goal_register", {"goal_id": GOAL, "path": str(document)})
        agent.call("authority_shadow_bootstrap", {"goal_id": GOAL})
        agent.call("authority_promote", {"goal_id": GOAL})
    return document


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


async def test_each_sees_what_the_other_does(daemon: Daemon, path: Path) -> None:
    """A command commits and delivers as a call does, and a commit that shows nothing is told of all the same."""
    uri = path.as_uri()
    named = {"uri": uri, "todo_id": "todo_rehearse"}
    async with through_bridge(daemon) as editor:
        await editor.introduce(daemon.cwd)
        item = lsp.TextDocumentItem(uri, "markdown", 1, text(path))
        editor.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        assert codes(await editor.diagnostics_of(uri, lambda p: p.version == 1)) == []

        async def run(command: str, **argument: Any) -> Any:
            params = lsp.ExecuteCommandParams(f"stateward.{command}", arguments=[{**named, **argument}])
            return await editor.workspace_execute_command_async(params)

        claimed = await run("claimTodo", claimed_by="ada", operation_id="claim-1")
        assert claimed["projection_delivery"] == "delivered"
        with daemon.agent() as agent:
            [todo] = agent.call("todo_list", {"goal_id": GOAL})["todos"]
            assert todo["claimed_by"] == "ada"
            seen = len(editor.published)
            lease = {"goal_id": GOAL, "todo_id": "todo_rehearse", "owner": "ada", "idempotency_key": "k"}
            agent.call("lease_acquire", lease)
            await editor.diagnostics_of(uri, lambda p: codes(p) == ["stale_projection"] * 2, after=seen)
        with pytest.raises(JsonRpcException, match="another agent has claimed this todo"):
            await run("completeTodo", agent_id="bob")
        assert "another agent has claimed this todo" in editor.said[-1]
        assert (await run("showReceipt", todo_id=None, operation_id="claim-1"))["status"] == "found"
        await editor.shutdown_session()
