"""One golden transcript per method of the language server, the same through `stateward lsp` and on the socket.

`lsp_scripts.py` has what is done in each; `make golden` writes them anew. Their lines are described in
`docs/editors.md`, so that any editor client can replay them.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from lsp_playing import Play, Replay
from lsp_scripts import SCRIPTS
from transcribing import GOLDEN, golden_of

from stateward_daemon.lsp import features
from stateward_daemon.lsp.dispatch import FEATURES

if TYPE_CHECKING:
    from stateward_daemon.lsp.dispatch import Feature
    from wire import Daemon

# Served by the dispatcher itself.
BUILT_IN: Final = {"initialize", "$/cancelRequest", "window/workDoneProgress/cancel"}
# The capability that announces a method, where its name does not say so.
PROVIDERS: Final = {
    "codeAction/resolve": "codeActionProvider",
    "codeLens/resolve": "codeLensProvider",
    "completionItem/resolve": "completionProvider",
    "documentLink/resolve": "documentLinkProvider",
    "inlayHint/resolve": "inlayHintProvider",
    "textDocument/formatting": "documentFormattingProvider",
    "textDocument/onTypeFormatting": "documentOnTypeFormattingProvider",
    "textDocument/prepareRename": "renameProvider",
    "textDocument/rangeFormatting": "documentRangeFormattingProvider",
    "workspace/diagnostic": "diagnosticProvider",
    "workspace/executeCommand": "executeCommandProvider",
    "workspace/symbol": "workspaceSymbolProvider",
}


def file_of(method: str) -> str:
    """Return the name of a method as one of a file.

    >>> file_of("textDocument/semanticTokens/full"), file_of("$/cancelRequest")
    ('text_document_semantic_tokens_full', 'cancel_request')
    """
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", method.removeprefix("$/")).replace("/", "_")


def module_of(feature: Feature) -> str:
    """Return the name of the file that has the handler of a row."""
    return feature.handle.__module__.rpartition(".")[2].rstrip("_")


def provider_of(method: str) -> str:
    """Return the name of the capability that announces a method, none for what no client has to be told of.

    >>> provider_of("textDocument/semanticTokens/full"), provider_of("textDocument/didOpen")
    ('semanticTokensProvider', '')
    """
    named = re.match(r"textDocument/(?!did)(\w+)", method)
    return PROVIDERS.get(method) or (f"{named[1]}Provider" if named else "")


@pytest.mark.parametrize("name", SCRIPTS)
def test_golden_transcript_of_a_method_of_editors(daemon: Daemon, name: str) -> None:
    with daemon.connect() as wire:
        play = Play(daemon, wire, tells_capabilities=name == "initialize")
        for step in SCRIPTS[name]:
            play.go(step)

    assert play.lines == golden_of(f"lsp/{name}.jsonl", play.lines)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_transcript_is_replayed_through_a_bridge(daemon: Daemon, name: str) -> None:
    with daemon.bridge() as wire:
        replay = Replay(daemon, wire)
        for line in golden_of(f"lsp/{name}.jsonl"):
            replay.go(line)


def test_each_method_that_is_served_has_a_handler_file_and_a_transcript() -> None:
    served = [*FEATURES, *BUILT_IN]
    files = {file.stem for file in Path(inspect.getfile(features)).parent.glob("*.py")} - {"__init__"}

    assert {file_of(method) for method in FEATURES} == {file.rstrip("_") for file in files}
    assert [method for method, row in FEATURES.items() if module_of(row) != file_of(method)] == []
    assert (
        {file_of(method) for method in served} == SCRIPTS.keys() == {file.stem for file in GOLDEN.glob("lsp/*.jsonl")}
    )


def test_a_transcript_is_about_its_method() -> None:
    sent = {name: [step.name for step in script] for name, script in SCRIPTS.items()}

    assert [method for method in [*FEATURES, *BUILT_IN] if method not in sent[file_of(method)]] == []


def test_what_is_announced_is_served_and_what_is_served_is_announced() -> None:
    [answer] = [
        line["receive"]["result"]["capabilities"]
        for line in golden_of("lsp/initialize.jsonl")
        if "result" in line.get("receive", {})
    ]
    announced = {name: options for name, options in answer.items() if name.endswith("Provider")}
    resolved = {
        name for name, options in announced.items() if isinstance(options, dict) and options.get("resolveProvider")
    }

    assert announced.keys() == {provider for method in FEATURES if (provider := provider_of(method))}
    assert resolved == {provider_of(method) for method in FEATURES if method.endswith("/resolve")}
