"""Params and result of `state_document`, which gives virtual documents to clients that have no other way to them."""

from __future__ import annotations

from stateward_protocol.messages import Params, Result


class StateDocumentParams(Params, frozen=True):
    """`uri` of a virtual document: a read path with slashes for its dots, or what a projection is of.

    `stateward:/cwd/lazy/plan.json` is a value, `stateward:/cwd/lazy.json?keys` has keys and kinds alone, and
    `stateward:/projection/home/ada/project/ACTIVE_GOAL_STATE.md.json` is the projection of that document.
    """

    uri: str


class StateDocumentResult(Result, frozen=True):
    """The text of a virtual document, which is JSON for people to read, and its `uri` in the one spelling.

    `whole` is false when the text would be too long; then it has the member `cut_off`, which says what to do.
    """

    uri: str
    text: str
    whole: bool
