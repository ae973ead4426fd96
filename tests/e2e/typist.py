"""An editor that types: it keeps its texts itself, counts as its encoding does, and says what a squiggle is under.

How it counts is its own code, so that the daemon is compared with something else.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_engine.goals.document import read_document

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from wire import Wire

Message = dict[str, Any]

UNIT_BYTES: Final = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
SEVERITIES: Final = {"error": 1, "warning": 2, "info": 3}
END: Final = re.compile(r"(\r\n|\r|\n)")


def lines_of(text: str) -> list[str]:
    r"""Return the lines with their ends.

    >>> lines_of("a\r\nb\u2028c\rd\n")
    ['a\r\n', 'b\u2028c\r', 'd\n', '']
    """
    parts = END.split(text)
    return list(map("".join, zip_longest(parts[::2], parts[1::2], fillvalue="")))


class Told(NamedTuple):
    """Diagnostics as they are compared: code, message, severity, place, and the places that belong to it."""

    code: str
    message: str
    severity: int
    place: tuple[int, int]
    related: tuple[tuple[int, int], ...]


def problems_of(text: str) -> list[Told]:
    """Return what a fresh reading of the whole text finds."""
    return [
        Told(each.code, each.message, SEVERITIES[each.severity], each.span, tuple(span for span, _ in each.related))
        for each in read_document(text).problems
    ]


class Client(NamedTuple):
    """What an editor is like.

    Attributes:
        encoding: Of its positions.
        whole: It sends its whole text for each edit.
        pulls: It asks for diagnostics.
    """

    encoding: str = "utf-16"
    whole: bool = False
    pulls: bool = False

    def __str__(self) -> str:
        """Return a name for a test."""
        return "-".join([self.encoding, "whole" if self.whole else "pieces", *(["pulls"] if self.pulls else [])])

    @property
    def capabilities(self) -> Message:
        asks: Message = {"diagnostic": {"relatedInformation": True}} if self.pulls else {}
        return {
            "general": {"positionEncodings": [self.encoding]},
            "textDocument": {
                "publishDiagnostics": {"relatedInformation": True},
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
                "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}},
                **asks,
            },
            "workspace": {
                "applyEdit": True,
                "workspaceEdit": {"documentChanges": True},
                "diagnostics": {"refreshSupport": self.pulls},
            },
        }


class Typist:
    """One editor.

    Attributes:
        client: What it is like.
        texts: Its open documents, by URI.
        versions: Their versions.
        published: What it was pushed, in order.
        refreshes: How often it was told to ask again.
    """

    def __init__(self, wire: Wire, client: Client, *folders: Path) -> None:
        self.client = client
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: list[Message] = []
        self.refreshes = 0
        self._wire = wire
        shown = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        announced = self.ask("initialize", processId=None, capabilities=client.capabilities, workspaceFolders=shown)
        assert announced["capabilities"]["positionEncoding"] == client.encoding
        wire.tell("initialized")

    # -- what is said --

    def ask(self, method: str, **params: Any) -> Any:
        result = self._wire.call(method, params)
        self._take_in()
        return result

    def open(self, uri: str, text: str, version: int = 1) -> None:
        self.texts[uri], self.versions[uri] = text, version
        item = {"uri": uri, "languageId": "markdown", "version": version, "text": text}
        self._wire.tell("textDocument/didOpen", textDocument=item)

    def edit(self, uri: str, *edits: tuple[tuple[int, int], str]) -> int:
        """Replace spans, in order, each of the text that the one before it left; return the version."""
        changes: list[Message] = []
        for (start, end), new in edits:
            text = self.texts[uri]
            place = {"start": self.position(text, start), "end": self.position(text, end)}
            self.texts[uri] = text[:start] + new + text[end:]
            changes.append({"text": self.texts[uri]} if self.client.whole else {"range": place, "text": new})
        self.versions[uri] += 1
        document = {"uri": uri, "version": self.versions[uri]}
        self._wire.tell("textDocument/didChange", textDocument=document, contentChanges=changes)
        return self.versions[uri]

    def type_over(self, uri: str, old: str, new: str) -> int:
        """Replace the first `old` of the text."""
        start = self.texts[uri].index(old)
        return self.edit(uri, ((start, start + len(old)), new))

    def edit_at(self, uri: str, line: int, character: int, new: str) -> int:
        """Insert at a position; beyond the end of its line is that end."""
        lines = lines_of(self.texts[uri])
        end = sum(map(len, lines[:line])) + len(lines[line].rstrip("\r\n"))
        self.texts[uri] = self.texts[uri][:end] + new + self.texts[uri][end:]
        self.versions[uri] += 1
        place = {"line": line, "character": character}
        change = (
            {"text": self.texts[uri]} if self.client.whole else {"range": {"start": place, "end": place}, "text": new}
        )
        document = {"uri": uri, "version": self.versions[uri]}
        self._wire.tell("textDocument/didChange", textDocument=document, contentChanges=[change])
        return self.versions[uri]

    def saved(self, uri: str) -> None:
        self._wire.tell("textDocument/didSave", textDocument={"uri": uri})

    def close(self, uri: str) -> None:
        del self.texts[uri], self.versions[uri]
        self._wire.tell("textDocument/didClose", textDocument={"uri": uri})

    # -- what is heard --

    def until(self, condition: Callable[[], Any]) -> Any:
        """Listen until a condition holds, and return what it gives; the wire runs out of patience."""
        self._take_in()
        while not (found := condition()):
            self._wire.notifications.append(self._wire.receive())
            self._take_in()
        return found

    def items(self, uri: str) -> list[Message]:
        """Return the diagnostics of the text as it is now."""
        if self.client.pulls:
            items: list[Message] = self.ask("textDocument/diagnostic", textDocument={"uri": uri})["items"]
            return items
        version = self.versions[uri]
        shown: list[Message] = self.until(lambda: self.pushed(uri, version))[0]["diagnostics"]
        return shown

    def pushed(self, uri: str, version: int | None) -> list[Message]:
        """Return what was pushed about one version of a document, about its file where there is none."""
        return [each for each in self.published if each["uri"] == uri and each.get("version") == version]

    def shown_codes(self, uri: str) -> list[str]:
        """Return the codes of what is shown for a document, open or not."""
        if self.client.pulls:
            items = self.ask("textDocument/diagnostic", textDocument={"uri": uri})["items"]
        else:
            items = next((each["diagnostics"] for each in reversed(self.published) if each["uri"] == uri), [])
        return [item["code"] for item in items]

    def told(self, uri: str) -> list[Told]:
        """Return the diagnostics of the text as it is now, as places in it."""
        return self.read(self.items(uri), self.texts[uri])

    def read(self, items: list[Message], text: str) -> list[Told]:
        """Return diagnostics of a text as places in it."""
        return [
            Told(
                item["code"],
                item["message"],
                item["severity"],
                self.span(text, item["range"]),
                tuple(self.span(text, each["location"]["range"]) for each in item.get("relatedInformation", ())),
            )
            for item in items
        ]

    def marks(self, items: list[Message]) -> list[Any]:
        """Return diagnostics as they are compared without their text."""
        return [
            (item["code"], item["message"], item["severity"], item["range"],
             [each["location"]["range"] for each in item.get("relatedInformation", ())])
            for item in items
        ]  # fmt: skip

    def marks_of(self, text: str) -> list[Any]:
        """Return what a fresh reading of a text makes of them."""
        return [
            (told.code, told.message, told.severity, self._range(text, told.place),
             [self._range(text, each) for each in told.related])
            for told in problems_of(text)
        ]  # fmt: skip

    def _range(self, text: str, span: tuple[int, int]) -> Message:
        return {"start": self.position(text, span[0]), "end": self.position(text, span[1])}

    def _take_in(self) -> None:
        for message in self._wire.notifications:
            if message["method"] == "textDocument/publishDiagnostics":
                self.published.append(message["params"])
            elif "id" in message:
                self._wire.send({"jsonrpc": "2.0", "id": message["id"], "result": self._answer(message)})
        self._wire.notifications.clear()

    def _answer(self, message: Message) -> Any:
        if message["method"] == "workspace/diagnostic/refresh":
            self.refreshes += 1
        if message["method"] != "workspace/applyEdit":
            return None
        return {"applied": self.apply(message["params"]["edit"])}

    # -- what is done with it --

    def actions(self, uri: str, item: Message) -> list[Message]:
        """Return the quick fixes of a diagnostic."""
        context = {"diagnostics": [item], "only": ["quickfix"]}
        found: list[Message] = self.ask(
            "textDocument/codeAction", textDocument={"uri": uri}, range=item["range"], context=context
        )
        return found

    def apply(self, edit: Mapping[str, Any]) -> bool:
        """Make a versioned edit, unless it is about another version."""
        for change in edit["documentChanges"]:
            uri, version = change["textDocument"]["uri"], change["textDocument"]["version"]
            if self.versions.get(uri) != version:
                return False
            text = self.texts[uri]
            edits = [(self.span(text, each["range"]), each["newText"]) for each in change["edits"]]
            # From the last one up, so that none moves another.
            self.edit(uri, *sorted(edits, reverse=True))
        return True

    # -- places --

    def position(self, text: str, offset: int) -> Message:
        before = text[:offset].removesuffix("\r") if text[offset : offset + 1] == "\n" else text[:offset]
        lines = lines_of(before)
        return {"line": len(lines) - 1, "character": self._units(lines[-1])}

    def span(self, text: str, place: Mapping[str, Any]) -> tuple[int, int]:
        return self._offset(text, place["start"]), self._offset(text, place["end"])

    def _offset(self, text: str, position: Mapping[str, int]) -> int:
        lines = lines_of(text)
        codec, size = UNIT_BYTES[self.client.encoding]
        line = lines[position["line"]].rstrip("\r\n")
        # An incomplete character is a mistake of the server, and raises.
        within = line.encode(codec)[: position["character"] * size].decode(codec)
        assert position["character"] <= self._units(line)
        return sum(map(len, lines[: position["line"]])) + len(within)

    def _units(self, text: str) -> int:
        codec, size = UNIT_BYTES[self.client.encoding]
        return len(text.encode(codec)) // size
