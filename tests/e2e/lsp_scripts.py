"""What an editor does in the golden transcript of each method of the language server.

A row of `SCRIPTS` is named as the handler file of its method. A script is a list of steps: `PULLS` or `PUSHED` first,
then `ask`, `tell`, `told`, `call`, `write` and `ENDED`. `make golden` writes its transcript.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from transcribing import GOAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Step(NamedTuple):
    """One step of a script: see the functions that make them."""

    kind: str
    name: str = ""
    content: Any = None


def ask(method: str, params: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]] | None = None) -> Step:
    """Send a request and wait for its answer; params may be made from the result before."""
    return Step("ask", method, {} if params is None else params)


def tell(method: str, params: Mapping[str, Any] | None = None) -> Step:
    """Send a notification."""
    return Step("tell", method, params or {})


def told(method: str, answer: Any = None) -> Step:
    """Wait for what the server sends of itself; a request gets that answer. What is not waited for is passed over."""
    return Step("told", method, answer)


def call(method: str, **params: Any) -> Step:
    """Let an agent that works for the same owners call a method."""
    return Step("call", method, params)


def write(text: str, name: str = "ACTIVE_GOAL_STATE.md") -> Step:
    """Let somebody else write a file."""
    return Step("write", name, text)


ENDED: Final = Step("ended")

FOLDER: Final = "file://<cwd>"
URI: Final = "file://<cwd>/ACTIVE_GOAL_STATE.md"
DOCUMENT: Final = {"textDocument": {"uri": URI}}
OF_GOAL: Final = {"goal_id": "<goal>"}

# The third row has no id of its own, and the second stands twice.
TROUBLED: Final = GOAL + "- [ ] [P2] 核对 🌊 again\n- [ ] Twice\n  <!-- loopx:todo todo_id=todo_plan -->\n"
# One row names another, and things that can be opened; a second document names it, too.
LINKED: Final = """\
---
status: active
---

# Label the tags

```
todo_labels
```

## Agent Todo
<!-- loopx:todo-region-v0 role=agent begin -->

- [ ] [P1] 贴上 🌊 labels, see $cwd.lazy.labels
  <!-- loopx:todo todo_id=todo_labels task_repository=git:github.com/acme/tags evidence=runs.txt -->
- [ ] Count them when #12 is merged
  <!-- loopx:todo todo_id=todo_count resume_when=todo_done:todo_labels note=for%20todo_labels -->
<!-- loopx:todo-region-v0 role=agent end -->
"""
MENTIONING: Final = "---\nstatus: active\n---\n\n# Shop\n\nOpens after todo_labels.\n"
OTHER: Final = "shop/ACTIVE_GOAL_STATE.md"
# A todo, a key, a box and a path that are about to be written.
WRITING: Final = """\
---
status: active
---
See todo_ first.

## Agent Todo

- [ ] Plan it
  <!-- loopx:todo todo_id=todo_plan -->
  <!-- loopx:todo claimed_by=mei watch -->
- [
"""
# What a document says of the state.
REFERRING: Final = "Read $session.lazy.plan and $session.lazy.gone.\n\n## Agent Todo\n\n- [ ] Plan it\n"
# The last two references lead to a key of a value, and nowhere.
LEADING: Final = GOAL.replace("- Go on.", "- todo_plan, $cwd.lazy.plan, $cwd.lazy.lost")
# A section as machines write it, and two rows as people do.
UNTIDY: Final = """## Agent Todo
<!-- loopx:todo-region-v0 role=agent begin -->
*  [ ] 🌊 rehearse
  <!-- loopx:todo todo_id=todo_rehearse -->
- [x]   plan
   <!-- loopx: status=done todo_id=todo_plan -->
<!-- loopx:todo-region-v0 role=agent end -->
"""
INDENTS: Final = {"tabSize": 4, "insertSpaces": False}


def initialize(capabilities: Mapping[str, Any], *folders: str) -> Step:
    """Introduce an editor for workspace folders."""
    params = {
        "processId": None,
        "clientInfo": {"name": "transcript"},
        "capabilities": capabilities,
        "workspaceFolders": [{"uri": folder, "name": "project"} for folder in folders],
        "initializationOptions": {"stateward": {"agent": "ada", "cwd": "<cwd>", "session": "editor"}},
    }
    return ask("initialize", params)


# What new editors can do.
CAPABLE: Final[dict[str, Any]] = {
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}},
        "codeLens": {},
        "documentLink": {"tooltipSupport": True},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "publishDiagnostics": {
            "codeDescriptionSupport": True,
            "relatedInformation": True,
            "tagSupport": {"valueSet": [1, 2]},
        },
        "rename": {"prepareSupport": True},
    },
    "workspace": {
        "applyEdit": True,
        "codeLens": {"refreshSupport": True},
        "workspaceEdit": {"documentChanges": True},
    },
}
PULLING: Final = {
    "textDocument": {**CAPABLE["textDocument"], "diagnostic": {}},
    "workspace": {**CAPABLE["workspace"], "diagnostics": {"refreshSupport": True}},
}
RESOLVING: Final = {
    **CAPABLE,
    "textDocument": {
        **CAPABLE["textDocument"],
        "codeAction": {
            **CAPABLE["textDocument"]["codeAction"],
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
    },
}
# An editor to which diagnostics are pushed, and one that asks for them.
PUSHED: Final = [initialize(CAPABLE, FOLDER), tell("initialized")]
PULLS: Final = [initialize(PULLING, FOLDER), tell("initialized")]

# What an agent has written into the state.
PLANNED: Final = call("patch_state", patch={"session": {"lazy": {"plan": {"steps": [1, 2], "owner": "Mei"}}}})
# An editor in which somebody writes.
WRITES: Final = [
    initialize(
        {
            "textDocument": {
                "completion": {"completionItem": {"documentationFormat": ["markdown"], "snippetSupport": True}},
                "hover": {"contentFormat": ["markdown"]},
                "inlayHint": {"resolveSupport": {"properties": ["tooltip"]}},
            }
        },
        FOLDER,
    ),
    tell("initialized"),
]
# An editor that shows virtual documents.
SHOWING: Final = [
    initialize(
        {
            "textDocument": {**CAPABLE["textDocument"], "definition": {"linkSupport": True}},
            "window": {"showDocument": {"support": True}},
            "workspace": {**CAPABLE["workspace"], "textDocumentContent": {}},
        },
        FOLDER,
    ),
    tell("initialized"),
]
PATCHED: Final = call("patch_state", patch={"cwd": {"lazy": {"plan": {"next": "go"}}}})

REGISTERED: Final = call("goal_register", **OF_GOAL, path="<cwd>/ACTIVE_GOAL_STATE.md")
PROMOTED: Final = [
    REGISTERED,
    call("authority_shadow_bootstrap", **OF_GOAL, operation_id="<goal>-shadow"),
    call("authority_promote", **OF_GOAL, operation_id="<goal>-promote"),
]


def opened(text: str, uri: str = URI) -> Step:
    """Open a document with a text of the editor's."""
    item = {"uri": uri, "languageId": "markdown", "version": 1, "text": text}
    return tell("textDocument/didOpen", {"textDocument": item})


def changed(version: int, *changes: Mapping[str, Any]) -> Step:
    """Edit the document."""
    edited = {"textDocument": {"uri": URI, "version": version}, "contentChanges": changes}
    return tell("textDocument/didChange", edited)


def span(first: tuple[int, int], end: tuple[int, int]) -> dict[str, Any]:
    """Return a range: line and character of its two ends, from 0."""
    ends = [{"line": line, "character": character} for line, character in (first, end)]
    return {"range": dict(zip(("start", "end"), ends, strict=True))}


def at(line: int, character: int) -> dict[str, Any]:
    """Return the params of a request about a place."""
    return {**DOCUMENT, "position": {"line": line, "character": character}}


def run(command: str, **argument: Any) -> Step:
    """Run a command on the document."""
    arguments = [{"uri": URI, **argument}]
    return ask("workspace/executeCommand", {"command": f"stateward.{command}", "arguments": arguments})


PUBLISHED: Final = told("textDocument/publishDiagnostics")
ASKED_AGAIN: Final = told("workspace/diagnostic/refresh")

SCRIPTS: Final[dict[str, list[Step]]] = {
    # Built into the dispatcher.
    "initialize": [
        ask("textDocument/hover", at(0, 0)),
        initialize(PULLING),
        initialize({}),
        ask("textDocument/teleport", at(0, 0)),
    ],
    "window_work_done_progress_cancel": [
        *PULLS,
        opened(GOAL),
        tell("window/workDoneProgress/cancel", {"token": "done"}),
        ask("textDocument/hover", at(11, 4)),
    ],
    "cancel_request": [*PULLS, opened(GOAL), tell("$/cancelRequest", {"id": 7}), ask("textDocument/hover", at(11, 4))],
    # The life of a connection.
    "initialized": [
        initialize(
            {
                "workspace": {
                    "configuration": True,
                    "didChangeConfiguration": {"dynamicRegistration": True},
                    "didChangeWatchedFiles": {"dynamicRegistration": True},
                }
            }
        ),
        tell("initialized"),
        told("workspace/configuration", [None]),
        told("client/registerCapability"),
        told("client/registerCapability"),
    ],
    "shutdown": [*PULLS, ask("shutdown"), ask("textDocument/hover", at(0, 0))],
    "exit": [*PULLS, ask("shutdown"), tell("exit"), ENDED],
    # Documents.
    "text_document_did_open": [
        *PUSHED,
        opened(TROUBLED),
        PUBLISHED,
        # Of another name, and a goal document once a goal has it.
        write(GOAL, "plan.md"),
        opened(TROUBLED, "file://<cwd>/plan.md"),
        call("goal_register", **OF_GOAL, path="<cwd>/plan.md"),
        PUBLISHED,
    ],
    "text_document_did_change": [
        *PUSHED,
        opened(TROUBLED),
        PUBLISHED,
        changed(2, {**span((15, 14), (15, 16)), "text": "!"}, {**span((17, 30), (17, 34)), "text": "twin"}),
        PUBLISHED,
        changed(3, {"text": GOAL}),
        PUBLISHED,
    ],
    "text_document_did_save": [
        *PUSHED,
        write(GOAL),
        opened(GOAL),
        PUBLISHED,
        changed(2, {**span((5, 0), (8, 0)), "text": ""}),
        PUBLISHED,
        write(TROUBLED),
        tell("textDocument/didSave", DOCUMENT),
        PUBLISHED,
    ],
    "text_document_did_close": [
        *PUSHED,
        opened(TROUBLED),
        PUBLISHED,
        tell("textDocument/didClose", DOCUMENT),
        PUBLISHED,
    ],
    "text_document_diagnostic": [
        *PULLS,
        opened(TROUBLED),
        ask("textDocument/diagnostic", DOCUMENT),
        ask("textDocument/diagnostic", {**DOCUMENT, "previousResultId": "<resultId>"}),
        changed(2, {"text": GOAL}),
        ask("textDocument/diagnostic", {**DOCUMENT, "previousResultId": "<resultId>"}),
    ],
    "workspace_diagnostic": [
        write(TROUBLED),
        *PULLS,
        ASKED_AGAIN,
        ask("workspace/diagnostic", {"previousResultIds": []}),
        ask("workspace/diagnostic", {"previousResultIds": [{"uri": URI, "value": "<resultId>"}]}),
    ],
    # What is seen.
    "text_document_hover": [
        *PULLS,
        opened(TROUBLED),
        ask("textDocument/hover", at(11, 8)),
        ask("textDocument/hover", at(15, 8)),
        ask("textDocument/hover", at(3, 0)),
        ask("textDocument/hover", at(12, 22)),
    ],
    "text_document_completion": [
        *WRITES,
        opened(WRITING),
        ask("textDocument/completion", at(3, 9)),
        ask("textDocument/completion", at(9, 38)),
        ask("textDocument/completion", at(10, 3)),
        ask("textDocument/completion", at(0, 0)),
    ],
    "completion_item_resolve": [
        *WRITES,
        opened(WRITING),
        ask("completionItem/resolve", {"label": "todo_plan", "data": {"uri": URI, "todo": "todo_plan"}}),
        ask("completionItem/resolve", {"label": "note", "data": {"uri": URI, "key": "note"}}),
    ],
    "text_document_inlay_hint": [
        PLANNED,
        *WRITES,
        opened(REFERRING),
        ask("textDocument/inlayHint", {**DOCUMENT, **span((0, 0), (99, 0))}),
        ask("textDocument/inlayHint", {**DOCUMENT, **span((2, 0), (99, 0))}),
    ],
    "inlay_hint_resolve": [
        PLANNED,
        *WRITES,
        opened(REFERRING),
        ask(
            "inlayHint/resolve",
            {
                "position": {"line": 0, "character": 23},
                "label": "x",
                "data": {"uri": URI, "path": "session.lazy.plan"},
            },
        ),
    ],
    "text_document_definition": [
        PATCHED,
        *SHOWING,
        opened(LEADING),
        ask("textDocument/definition", at(7, 4)),
        ask("textDocument/definition", at(7, 13)),
        ask("textDocument/definition", at(7, 32)),
        ask("textDocument/definition", at(3, 0)),
    ],
    "text_document_document_symbol": [*PULLS, opened(TROUBLED), ask("textDocument/documentSymbol", DOCUMENT)],
    "text_document_code_lens": [
        write(GOAL),
        *PROMOTED,
        *PULLS,
        opened(GOAL),
        ask("textDocument/codeLens", DOCUMENT),
    ],
    "text_document_code_action": [
        write(GOAL),
        REGISTERED,
        *PULLS,
        opened(TROUBLED),
        ask("textDocument/codeAction", {**DOCUMENT, **span((14, 0), (14, 1)), "context": {"diagnostics": []}}),
        ask("textDocument/codeAction", {**DOCUMENT, **span((11, 0), (11, 1)), "context": {"diagnostics": []}}),
        ask(
            "textDocument/codeAction",
            {
                **DOCUMENT,
                **span((0, 0), (0, 0)),
                "context": {"diagnostics": [], "only": ["source.fixAll.stateward"]},
            },
        ),
    ],
    "text_document_references": [
        write(MENTIONING, OTHER),
        *PULLS,
        opened(LINKED),
        ask("textDocument/references", {**at(14, 8), "context": {"includeDeclaration": True}}),
        ask("textDocument/references", {**at(14, 8), "context": {"includeDeclaration": False}}),
    ],
    "text_document_document_highlight": [*PULLS, opened(LINKED), ask("textDocument/documentHighlight", at(14, 8))],
    "text_document_document_link": [
        write("measured", "runs.txt"),
        *PULLS,
        opened(LINKED),
        ask("textDocument/documentLink", DOCUMENT),
    ],
    "text_document_folding_range": [*PULLS, opened(LINKED), ask("textDocument/foldingRange", DOCUMENT)],
    "text_document_semantic_tokens_full": [*PULLS, opened(LINKED), ask("textDocument/semanticTokens/full", DOCUMENT)],
    "text_document_semantic_tokens_full_delta": [
        *PULLS,
        opened(LINKED),
        ask("textDocument/semanticTokens/full", DOCUMENT),
        changed(2, {**span((14, 0), (14, 0)), "text": "- [x] 先\n"}),
        ask("textDocument/semanticTokens/full/delta", {**DOCUMENT, "previousResultId": "<resultId>"}),
    ],
    "text_document_semantic_tokens_range": [
        *PULLS,
        opened(LINKED),
        ask("textDocument/semanticTokens/range", {**DOCUMENT, **span((0, 0), (14, 0))}),
    ],
    "workspace_symbol": [
        write(MENTIONING, OTHER),
        *PULLS,
        opened(LINKED),
        ask("workspace/symbol", {"query": "todo_labels"}),
        ask("workspace/symbol", {"query": "CTM"}),
    ],
    "code_action_resolve": [
        initialize(RESOLVING, FOLDER),
        tell("initialized"),
        opened(TROUBLED),
        ask("textDocument/codeAction", {**DOCUMENT, **span((14, 0), (14, 1)), "context": {"diagnostics": []}}),
        ask(
            "codeAction/resolve",
            {
                "title": "Make all safe fixes",
                "kind": "source.fixAll.stateward",
                "data": {"uri": URI, "version": 1, "make": "fix_all"},
            },
        ),
    ],
    "text_document_formatting": [
        *PULLS,
        opened(UNTIDY),
        ask("textDocument/formatting", {**DOCUMENT, "options": INDENTS}),
        changed(2, {"text": UNTIDY.replace("status=done", "colour=red")}),
        ask("textDocument/formatting", {**DOCUMENT, "options": INDENTS}),
        told("window/showMessage"),
    ],
    "text_document_range_formatting": [
        *PULLS,
        opened(UNTIDY),
        ask("textDocument/rangeFormatting", {**DOCUMENT, **span((4, 0), (4, 1)), "options": INDENTS}),
    ],
    # What is done.
    "text_document_prepare_rename": [
        *PULLS,
        opened(LINKED),
        ask("textDocument/prepareRename", at(14, 8)),
        ask("textDocument/prepareRename", at(3, 0)),
    ],
    "text_document_rename": [
        write(MENTIONING, OTHER),
        *PULLS,
        opened(LINKED),
        ask("textDocument/rename", {**at(14, 8), "newName": "todo_tags"}),
        ask("textDocument/rename", {**at(14, 8), "newName": "Tags"}),
    ],
    "workspace_execute_command": [
        write(GOAL),
        *PROMOTED,
        *PULLS,
        run("claimTodo", todo_id="todo_rehearse", operation_id="<goal>-claim"),
        run("showReceipt", todo_id="todo_rehearse"),
        told("window/showMessage"),
        run("completeTodo", todo_id="todo_rehearse", agent_id="bob"),
        told("window/showMessage"),
        run(
            "completeTodo", todo_id="todo_rehearse", evidence="8 minutes", no_followup=True, operation_id="<goal>-done"
        ),
        run("projectMarkdown"),
        PATCHED,
        run("readState", path="cwd.lazy.plan"),
        told("window/showMessage"),
        run("readState", path="cwd.lazy.lost"),
        told("window/showMessage"),
        run("restart"),
        told("window/showMessage"),
        # What is shown of it is cut off, so it has as much as the name of the folder leaves.
        run("showProjection"),
    ],
    "workspace_text_document_content": [
        PATCHED,
        *SHOWING,
        run("readState", path="cwd.lazy"),
        told("window/showDocument", {"success": True}),
        ask("workspace/textDocumentContent", {"uri": "stateward:/cwd/lazy.json"}),
        call("patch_state", patch={"cwd": {"lazy": {"plan": {"next": "stop"}}}}),
        told("workspace/textDocumentContent/refresh"),
        ask("workspace/textDocumentContent", {"uri": "stateward:/cwd/lazy.json"}),
        ask("workspace/textDocumentContent", {"uri": "stateward:/cwd/lazy.json?keys"}),
        ask("workspace/textDocumentContent", {"uri": "stateward:/cwd/lazy/lost.json"}),
        ask("workspace/textDocumentContent", {"uri": "stateward:/lunch.json"}),
    ],
    # Settings, files and folders.
    "workspace_did_change_configuration": [
        *PUSHED,
        opened(TROUBLED),
        PUBLISHED,
        tell(
            "workspace/didChangeConfiguration",
            {"settings": {"stateward": {"rules": {"duplicate_todo_ids": "off", "implicit_todo_id": "off"}}}},
        ),
        told("window/showMessage"),
        PUBLISHED,
    ],
    "workspace_did_change_watched_files": [
        *PUSHED,
        write(TROUBLED, "later/ACTIVE_GOAL_STATE.md"),
        tell(
            "workspace/didChangeWatchedFiles",
            {"changes": [{"uri": "file://<cwd>/later/ACTIVE_GOAL_STATE.md", "type": 1}]},
        ),
        PUBLISHED,
    ],
    "workspace_did_change_workspace_folders": [
        write(TROUBLED),
        initialize(CAPABLE),
        tell("initialized"),
        tell(
            "workspace/didChangeWorkspaceFolders",
            {"event": {"added": [{"uri": FOLDER, "name": "project"}], "removed": []}},
        ),
        PUBLISHED,
    ],
}
