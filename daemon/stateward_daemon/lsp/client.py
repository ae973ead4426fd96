"""What an editor says of itself at `initialize`: the few facts that are read, and nothing else.

The types of LSP refuse a whole `initialize` for one enumeration value that they do not know, and new editors send new
values. So facts are picked one by one here, and the rest of what an editor can do never reaches those types.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from pwd import getpwuid
from typing import Any, Final

from stateward_daemon.configuration import KEYS
from stateward_daemon.lsp.uris import path_of, uri_of
from stateward_daemon.positions import Encoding

# What an id of an actor has at most.
AGENT_CHARACTERS_MAX: Final = 80
# What a client may ask for about a document and can be told to ask for again: where it says that it asks, where that it
# can be told, and by which request.
REFRESHES: Final = (
    ("textDocument.diagnostic", "workspace.diagnostics", "workspace/diagnostic/refresh"),
    ("textDocument.codeLens", "workspace.codeLens", "workspace/codeLens/refresh"),
    ("textDocument.inlayHint", "workspace.inlayHint", "workspace/inlayHint/refresh"),
)
# The option that takes the place of the capability, for clients that count in one unit only and do not say so.
ENCODINGS: Final = "position_encodings"

_ACTIONS: Final = "capabilities.textDocument.codeAction"
# Where a client says what it takes of a diagnostic, whether that is pushed to it or asked for.
_DIAGNOSTICS = ("capabilities.textDocument.publishDiagnostics", "capabilities.textDocument.diagnostic")

# Where it says what it takes of a completion.
_COMPLETION_ITEM = "capabilities.textDocument.completion.completionItem"


@dataclass(frozen=True, slots=True)
class Client:
    """One editor.

    Attributes:
        name: Of the program.
        version: Of the program, or the empty string.
        folders: URIs of its workspace folders, as it spells them.
        options: Its `initializationOptions.stateward`, without settings.
        settings: The settings among these: some clients say all that they are configured with there.
        encoding: What a character of a position is, both ways.
        pulls_diagnostics: It asks for diagnostics and can be told to ask again, so none are pushed: it would show both.
            A client that asks and cannot be told would never see what others save; it is pushed to like any other.
        agent: Who acts in it: its option `agent`, or else the user of the daemon.
        takes_actions: It takes code actions that are more than commands.
        resolves_edits: It asks for the edit of an action when somebody takes it.
        takes_disabled: It takes actions that cannot be taken, and shows why.
        keeps_data: It sends back what a diagnostic has for whoever made it.
        takes_versions: It takes edits of one version of a text.
        refreshes: The methods by which it can be told to ask again for what it has asked for.
        answers_configuration: It can be asked for its settings.
        registers_configuration: It can be asked to tell when they change.
        shows_progress: It can be asked to show that something takes long.
        applies_edits: It makes edits that it is asked for, and refuses those of another version of its text.
        reports_files: It can be asked to report changes of files.
        shows_related: It takes places that belong to a diagnostic.
        shows_pages: It takes the address of a page that explains a diagnostic.
        shown_tags: The tags of diagnostics that it takes.
        shows_markdown: It takes Markdown in a hover.
        nests_symbols: It takes symbols inside symbols.
        takes_deltas: It takes what has changed of the semantic tokens that it has.
        prepares_renames: It asks whether a name can be renamed before it asks for the new one.
        shows_link_tooltips: It takes a word on what a link leads to.
        foldings_max: How many ranges to fold it takes of a document, `None` for any number.
        takes_snippets: It takes completions with places to fill in.
        documents_in_markdown: It takes Markdown in what a completion says.
        resolves_tooltips: It asks for the tooltip of an inlay hint when somebody looks at one.
        shows_virtual: It shows virtual documents, and can be told to ask again for one.
        opens_virtual: It opens a virtual document that it is asked to show.
        takes_links: It takes places with the span that leads to them.
    """

    name: str = "editor"
    version: str = ""
    folders: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    encoding: Encoding = Encoding.UTF_16
    pulls_diagnostics: bool = False
    agent: str = ""
    takes_actions: bool = False
    resolves_edits: bool = False
    takes_disabled: bool = False
    keeps_data: bool = False
    takes_versions: bool = False
    refreshes: tuple[str, ...] = ()
    answers_configuration: bool = False
    registers_configuration: bool = False
    shows_progress: bool = False
    applies_edits: bool = False
    reports_files: bool = False
    shows_related: bool = False
    shows_pages: bool = False
    shown_tags: frozenset[int] = frozenset()
    shows_markdown: bool = False
    nests_symbols: bool = False
    takes_deltas: bool = False
    prepares_renames: bool = False
    shows_link_tooltips: bool = False
    foldings_max: int | None = None
    takes_snippets: bool = False
    documents_in_markdown: bool = False
    resolves_tooltips: bool = False
    shows_virtual: bool = False
    opens_virtual: bool = False
    takes_links: bool = False


def read_client(params: dict[str, Any]) -> Client:
    """Return what the params of `initialize` say. Whatever has another shape than LSP gives it counts as not said."""

    def said(path: str) -> Any:  # noqa: ANN401 - any JSON value
        return _member(params, path)

    def can(path: str) -> bool:
        return said(f"capabilities.{path}") is True

    def shows(what: str) -> bool:
        return any(said(f"{kind}.{what}") is True for kind in _DIAGNOSTICS)

    refreshes = tuple(
        method
        for asks, told, method in REFRESHES
        if isinstance(said(f"capabilities.{asks}"), dict) and can(f"{told}.refreshSupport")
    )
    shows_virtual = isinstance(said("capabilities.workspace.textDocumentContent"), dict)
    options = _object(said("initializationOptions.stateward"))
    return Client(
        name=_text(said("clientInfo.name")) or "editor",
        version=_text(said("clientInfo.version")),
        folders=_folders(params),
        options={name: value for name, value in options.items() if name not in (*KEYS, ENCODINGS)},
        settings={name: value for name, value in options.items() if name in KEYS},
        agent=_text(said("initializationOptions.stateward.agent")) or agent_named(_user()),
        encoding=choose_encoding(options.get(ENCODINGS, said("capabilities.general.positionEncodings"))),
        pulls_diagnostics="workspace/diagnostic/refresh" in refreshes,
        takes_actions=isinstance(said(f"{_ACTIONS}.codeActionLiteralSupport"), dict),
        resolves_edits="edit" in _list(said(f"{_ACTIONS}.resolveSupport.properties"))
        and said(f"{_ACTIONS}.dataSupport") is True,
        takes_disabled=said(f"{_ACTIONS}.disabledSupport") is True,
        keeps_data=shows("dataSupport"),
        takes_versions=can("workspace.workspaceEdit.documentChanges"),
        refreshes=refreshes,
        shows_progress=can("window.workDoneProgress"),
        applies_edits=can("workspace.applyEdit") and can("workspace.workspaceEdit.documentChanges"),
        answers_configuration=can("workspace.configuration"),
        registers_configuration=can("workspace.didChangeConfiguration.dynamicRegistration"),
        reports_files=can("workspace.didChangeWatchedFiles.dynamicRegistration"),
        shows_related=shows("relatedInformation"),
        shows_pages=shows("codeDescriptionSupport"),
        shown_tags=frozenset(tag for kind in _DIAGNOSTICS for tag in _numbers(said(f"{kind}.tagSupport.valueSet"))),
        shows_markdown="markdown" in _list(said("capabilities.textDocument.hover.contentFormat")),
        nests_symbols=can("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"),
        takes_deltas=can("textDocument.semanticTokens.requests.full.delta"),
        prepares_renames=can("textDocument.rename.prepareSupport"),
        shows_link_tooltips=can("textDocument.documentLink.tooltipSupport"),
        foldings_max=next(iter(_numbers([said("capabilities.textDocument.foldingRange.rangeLimit")])), None),
        takes_snippets=said(f"{_COMPLETION_ITEM}.snippetSupport") is True,
        documents_in_markdown="markdown" in _list(said(f"{_COMPLETION_ITEM}.documentationFormat")),
        resolves_tooltips="tooltip" in _list(said("capabilities.textDocument.inlayHint.resolveSupport.properties")),
        shows_virtual=shows_virtual,
        opens_virtual=shows_virtual and can("window.showDocument.support"),
        takes_links=can("textDocument.definition.linkSupport"),
    )


def agent_named(name: str) -> str:
    """Return a login name as the id of an actor: in lower case, with a dash for what no such id holds.

    >>> agent_named("Ada Lovelace"), agent_named("42")
    ('ada-lovelace', 'editor')
    """
    named = re.sub(r"[^a-z0-9_.:@-]", "-", name.lower())
    return re.sub(r"^[^a-z]+", "", named)[:AGENT_CHARACTERS_MAX] or "editor"


def _user() -> str:
    """Return the login name of the process, which serves its own user alone; no environment is asked."""
    try:
        return getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""


def choose_encoding(offered: Any) -> Encoding:  # noqa: ANN401 - any JSON value
    """Return the first encoding of the client's list that is known, and UTF-16 when it says nothing.

    >>> choose_encoding(["utf-7", "utf-8", "utf-16"]), choose_encoding(None)
    (<Encoding.UTF_8: 'utf-8'>, <Encoding.UTF_16: 'utf-16'>)
    """
    known = [Encoding(name) for name in _list(offered) if name in list(Encoding)]
    return known[0] if known else Encoding.UTF_16


def _folders(params: dict[str, Any]) -> tuple[str, ...]:
    """Return the folders, or else the root that was their predecessor, or else the path that was its predecessor."""
    folders = [_text(_member(folder, "uri")) for folder in _list(params.get("workspaceFolders"))]
    if not any(folders):
        root_path = _text(params.get("rootPath"))
        folders = [_text(params.get("rootUri")) or (uri_of(Path(root_path)) if root_path.startswith("/") else "")]
    return tuple(folder for folder in folders if path_of(folder) is not None)


def _member(value: Any, path: str) -> Any:  # noqa: ANN401 - any JSON value
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, list) else []


def _numbers(value: Any) -> list[int]:  # noqa: ANN401 - any JSON value
    return [number for number in _list(value) if type(number) is int]


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, dict) else {}
