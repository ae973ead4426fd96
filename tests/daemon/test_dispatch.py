"""protocol.md section 4: what a call with wrong params is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import stateward
from stateward.location import Place
from stateward_daemon.dispatch import prepare
from stateward_daemon.embedded import open_transport
from stateward_protocol.errors import WireError
from stateward_protocol.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_daemon.host import Caller

ATTACH: dict[str, Any] = {"client": {"name": "x"}, "protocol": 1}
OWNERS = '"global" | "cwd" | "session"'
SESSION = "string of letters, digits and . _ : - (at most 128), or null"

# A method, its params, the place of the mistake, what is wanted there, and what the message says.
WRONG: list[tuple[str, Any, str, Any, str]] = [
    (
        "attach",
        {**ATTACH, "mode": "x"},
        "mode",
        '"active" | "passive" | "off"',
        'expected "active" | "passive" | "off"',
    ),
    ("attach", {**ATTACH, "wanted": ["cwd", "x"]}, "wanted[1]", OWNERS, f"expected {OWNERS}"),
    ("attach", {**ATTACH, "session": "two words"}, "session", SESSION, f"expected {SESSION}"),
    ("attach", {"client": {}}, "client.name", "string of at least one character", "object missing required field name"),
    ("patch_state", {"patch": {}, "if_revision": 3}, "if_revision", "string, or null", "expected str | null, got int"),
    ("configure", {}, "history_limit", "integer from 0 to 100", "object missing required field history_limit"),
    ("configure", {"history_limit": 101}, "history_limit", "integer from 0 to 100", "expected int <= 100"),
    ("configure", {"limit": 1}, "limit", ["history_limit"], "configure has no member of that name"),
]


@pytest.fixture
def caller(folder: Path) -> Iterator[Caller]:
    transport = open_transport(Place(folder / "store"))
    transport.call("attach", ATTACH)
    yield transport._caller
    transport.close()


@pytest.mark.parametrize("call", WRONG, ids=lambda call: f"{call[0]}-{call[2]}")
def test_a_wrong_param_is_told_with_what_is_wanted_there(caller: Caller, call: tuple[str, Any, str, Any, str]) -> None:
    method, params, place, wanted, said = call
    with pytest.raises(WireError) as refused:
        prepare(caller, METHODS[method], params)

    assert refused.value.category == "invalid_request"
    assert (refused.value.message, refused.value.data["path"]) == (said, f"$.params.{place}")
    assert refused.value.data["wanted"] == wanted


@pytest.mark.parametrize("value", [{1: 1}, {"deep": [float("nan")]}, object()])
def test_what_json_cannot_carry_is_refused_without_a_daemon_too(folder: Path, value: object) -> None:
    with stateward.connect(cwd=folder, session="s", store=folder / "store", start="embedded") as client:
        with pytest.raises(stateward.StatewardError) as refused:
            client.patch_state({"session": {"tactics": {"x": value}}})
        client.patch_state({"session": {"tactics": {"x": (1, {2})}}})

        assert refused.value.data["path"].startswith("$.params")
        assert client.read_state("session.tactics.x") == {"value": [1, [2]]}


@pytest.mark.parametrize(
    ("method", "params", "got"),
    [
        ("attach", {**ATTACH, "mode": "x"}, "x"),
        ("attach", {**ATTACH, "wanted": ["cwd", {"a": "水"}]}, '{"a": "水"}'),
        ("patch_state", {"patch": {}, "if_revision": 3}, "3"),
        ("todo_claim", {"goal_id": "g1", "todo_id": "todo_one", "claimed_by": None}, "null"),
        ("todo_complete", {"goal_id": "g1", "todo_id": "todo_one", "next": [1] * 1_000_000}, f"[{'1, ' * 42}1"),
    ],
)
def test_a_wrong_param_is_told_with_what_came(caller: Caller, method: str, params: dict[str, Any], got: str) -> None:
    """As much of it as helps to find it; SF-114, field case 31."""
    with pytest.raises(WireError) as refused:
        prepare(caller, METHODS[method], params)

    assert refused.value.data["got"] == got


def test_what_is_missing_did_not_come(caller: Caller) -> None:
    with pytest.raises(WireError) as refused:
        prepare(caller, METHODS["configure"], {})

    assert "got" not in refused.value.data
