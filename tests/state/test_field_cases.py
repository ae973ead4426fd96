"""Field cases 31 to 35: what clients really send, asked of the engine alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from stateward_engine.errors import RequestError
from stateward_engine.state.commands import ImportState, PatchState
from stateward_engine.state.decide import decide, revision_of
from stateward_engine.state.draft import Draft
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.read import parse_request, read
from stateward_engine.state.transition import Repeat
from stateward_engine.state.view import SCOPES, Selection, View
from stateward_engine.state.whole_state import parse_scopes

FIELD_CASES: Final = Path(__file__).parent.parent / "conformance" / "field_cases"
WHO: Final = Selection("/home/ada/project", "morning", SCOPES)
CHECKS: Final = re.compile(r"^```json checks\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Client:
    """One field case: its state, and the steps that it asks for."""

    def __init__(self, name: str) -> None:
        folder = FIELD_CASES / name
        self.view = View()
        self.steps = {step["id"]: step for step in json.loads((folder / "requests.json").read_text("utf-8"))["steps"]}
        block = CHECKS.search((folder / "expect.md").read_text("utf-8"))
        self.checks: Any = json.loads(block[1]) if block else {}
        if (folder / "state.json").exists():
            given = json.loads((folder / "state.json").read_text("utf-8"))
            self.commit(ImportState(WHO, parse_scopes({name: given[name] for name in SCOPES if name in given}, SCOPES)))

    def commit(self, command: ImportState | PatchState) -> Any:
        draft = Draft(self.view)
        decision = decide(draft, command)
        if not isinstance(decision, Repeat):
            draft.apply(decision, at="2026-01-01T00:00:00Z", sequence=self.view.sequence + 1)
            self.view = draft.finish()
        return decision.receipt

    def patch(self, patch: Any) -> Any:
        return self.commit(PatchState(WHO, parse_patch(patch, SCOPES)))

    def read(self, **members: Any) -> Any:
        return read(self.view, WHO, parse_request(members))

    def planes(self, scope: Any) -> Any:
        return self.view.scope(WHO.identity(scope)).planes


@pytest.mark.parametrize("step", ["a", "b", "p", "q"])
def test_31_a_malformed_patch_is_mended_by_its_error(step: str) -> None:
    client = Client("31-malformed-agent-arguments")

    with pytest.raises(RequestError) as caught:
        client.patch(client.steps[step]["raw"]["params"])
    assert {"path", "got", "wanted", "example"} <= caught.value.facts.keys()
    client.patch(json.loads(str(caught.value.facts["example"])))


@pytest.mark.parametrize("step", ["c", "d", "e", "f", "g"])
def test_31_a_malformed_read_is_mended_by_its_error(step: str) -> None:
    client = Client("31-malformed-agent-arguments")
    client.patch({"global": {"lazy": {"memory": [1]}}})

    with pytest.raises(RequestError) as caught:
        client.read(**client.steps[step]["raw"]["params"])
    assert {"path", "got", "wanted", "example"} <= caught.value.facts.keys()
    parse_request(json.loads(str(caught.value.facts["example"])))


def test_32_null_and_array_positions() -> None:
    client = Client("32-null-and-array-index")
    accepted, refused = [], []
    for step in client.steps.values():
        before = client.view
        try:
            client.patch(step["patch"])
        except RequestError:
            refused.append(step["id"])
            assert client.view is before
        else:
            accepted.append(step["id"])

    assert (accepted, refused) == (client.checks["accepted"], client.checks["refused"])
    assert client.planes("cwd") == client.checks["final"]["cwd"]
    assert client.planes("session") == {}


def test_33_odd_keys_survive_and_are_reached_through_their_parent() -> None:
    client = Client("33-odd-keys")
    client.patch(client.steps[1]["patch"])

    for step in client.checks["read_ok"]:
        client.read(**client.steps[step]["read"])
    assert set(client.checks["keys_survive"]) <= client.read(**client.steps[2]["read"])["keys"].keys()
    assert client.read(**client.steps[3]["read"])["value"] == client.steps[1]["patch"]["cwd"]["lazy"]
    for step in client.checks["read_error"]:
        with pytest.raises(RequestError, match=r"parent|release\.v2"):
            client.read(**client.steps[step]["read"])
    for step in client.checks["patch_refused"]:
        with pytest.raises(RequestError, match="dotted key"):
            client.patch(client.steps[step]["patch"])
    client.patch(client.steps[8]["patch"])
    assert "release.v2" not in client.planes("cwd")["lazy"]


def test_34_half_characters_stay_outside() -> None:
    client = Client("34-surrogates")
    for step in (1, 2, 3, 5):
        patch = json.loads(client.steps[step]["raw_text"])["params"]
        if step in client.checks["refused"]:
            with pytest.raises(RequestError) as caught:
                client.patch(patch)
            json.dumps(caught.value.facts, ensure_ascii=False).encode()
        else:
            client.patch(patch)

    assert client.read(path="session.tactics") == {"value": {"note": "ok 🍸", "nul": "a\0b"}}


def test_35_large_reads_are_whole_or_refused() -> None:
    """SF-043, SF-132, SF-136, SF-180: a read answers exactly or fails, and changes nothing."""
    client = Client("35-large-lazy-reads")
    big = [f"{n:04}" + "x" * 996 for n in range(10_000)]
    client.patch({"cwd": {"lazy": {"big": big}}})
    before, revision = client.view, revision_of(client.view, WHO)
    answers: dict[int, Any] = {}
    for step in client.steps.values():
        if "baseline" not in step:
            try:
                answers[step["id"]] = client.read(**{name: value for name, value in step.items() if name != "id"})
            except RequestError:
                assert step["id"] in client.checks["error"]

    assert sorted([*answers, 14]) == client.checks["ok"]
    assert answers[9]["value"] is big
    assert answers[10] == {"meta": {"type": "array", "length": 10_000}, "keys": []}
    assert answers[12] == {"value": ["thought 0", "thought 0"]}
    assert len(answers[13]["keys"]) == 33
    assert (answers[15], answers[17]) == ({"value": {"ranges": "half-open"}}, {"value": None})
    assert client.view is before
    assert revision_of(client.view, WHO) == revision
