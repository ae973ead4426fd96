"""`textDocument/completion`: what can be written at a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from stateward_daemon.lsp.proposals import Known, bounded, propose
from stateward_daemon.lsp.slots import KeySlot, row_at, slots_at

if TYPE_CHECKING:
    from stateward_daemon.lsp.proposals import Proposal
    from stateward_daemon.lsp.session import LspSession

# A space is one only in a metadata comment, where the next key follows.
TRIGGERS: Final = ("$", ".", "=", "[", "<", '"', "#", "_", ",", ":", " ")


def handle(session: LspSession, params: lsp.CompletionParams) -> lsp.CompletionList:
    """Return what fits, the likeliest first.

    On a promoted goal a row that the ledger knows is a display, so nothing is offered in it; a row that somebody types
    beside them is theirs until it is taken as a todo.
    """
    uri = params.text_document.uri
    reading = session.reading(uri)
    if reading is None:
        return lsp.CompletionList(False, [])
    document, goal = reading.goal, session.goal(uri)
    offset = reading.offset(params.position)
    row = row_at(document, offset) if goal is not None and goal.promoted else None
    if goal is not None and row is not None and row.todo_id in goal.records:
        return lsp.CompletionList(False, [])
    known = Known(document, session.caller, goal, session.client.agent)
    after_space = params.context is not None and params.context.trigger_character == " "
    is_incomplete, items = False, []
    for slot in slots_at(document, offset):
        if isinstance(slot, KeySlot) or not after_space:
            typed = document.layout.between(slot.span[0], max(offset, slot.span[0]))
            proposals, is_more = bounded(propose(slot, known), typed)
            is_incomplete = is_incomplete or is_more
            replaced = reading.range(slot.span)
            items += [_item(session, uri, replaced, proposal, typed) for proposal in proposals]
    for number, item in enumerate(items):
        item.sort_text = f"{number:03}"
    return lsp.CompletionList(is_incomplete, items)


def _item(session: LspSession, uri: str, replaced: lsp.Range, proposal: Proposal, typed: str) -> lsp.CompletionItem:
    snippet = proposal.snippet if session.client.takes_snippets else None
    named = proposal.named
    return lsp.CompletionItem(
        proposal.label,
        kind=proposal.kind,
        detail=proposal.detail or None,
        filter_text=proposal.compared_with(typed),
        insert_text_format=lsp.InsertTextFormat.PlainText if snippet is None else lsp.InsertTextFormat.Snippet,
        text_edit=lsp.TextEdit(replaced, proposal.text if snippet is None else snippet),
        data=named._replace(uri=uri).data() if any(named) else None,
    )
