"""Field cases 31 to 35: what clients really send, byte by byte to a real daemon.

Each test is the list of what `expect.md` of its case says MUST be.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from stateward_engine.state.view import SCOPES
from wire import Daemon, Refused, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FIELD_CASES: Final = Path(__file__).parent.parent / "conformance" / "field_cases"
STEPS: Final[dict[str, dict[str, Any]]] = {
    folder.name[:2]: {
        str(step["id"]): step for step in json.loads((folder / "requests.json").read_text(encoding="utf-8"))["steps"]
    }
    for folder in sorted(FIELD_CASES.glob("3[1-5]-*"))
}
# Todos and leases are no part of state.
UNSERVED: Final = {"n", "o"}
MALFORMED: Final = sorted(STEPS["31"].keys() - UNSERVED)
# Text that is no JSON has neither an id to be answered by nor members to be named.
NO_JSON: Final = {"h", "i", "j", "l", "m"}


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Wire]:
    with daemon.agent() as wire:
        yield wire


def body_of(step: dict[str, Any]) -> bytes:
    """Return the bytes of a step, with the members that make a request of it where its text is whole."""
    if "raw_bytes_hex" in step:
        return bytes.fromhex(step["raw_bytes_hex"])
    text = step["raw_text"] if "raw_text" in step else json.dumps(step["raw"])
    return text.replace('{"method"', f'{{"jsonrpc": "2.0", "id": "{step["id"]}", "method"', 1).encode()


def wrapped(step: dict[str, Any]) -> dict[str, Any]:
    """Return a step whose patch, sent as params, stands under `patch` as our protocol has it."""
    if "raw_text" in step:
        head, found, rest = step["raw_text"].partition('"params":')
        return {**step, "raw_text": head + found + '{"patch":' + rest[:-1] + "}}" if found else step["raw_text"]}
    raw = step["raw"]
    return {**step, "raw": {**raw, "params": {"patch": raw["params"]}}}


def told(client: Wire, body: bytes) -> dict[str, Any]:
    """Return the error that bytes are answered with, after checking that it is one answer and changes nothing."""
    before = (client.call("state_status"), client.call("export_state"))
    client.send_body(body)
    answer: dict[str, Any] = client.receive()
    # The next answer on this connection is that of the next call: there was one, and it stays usable.
    assert (client.call("state_status"), client.call("export_state")) == before
    assert "result" not in answer
    error: dict[str, Any] = answer["error"]
    return {"id": answer["id"], "message": error["message"], **error["data"]}


class TestMalformedArguments:
    """31: one answer each, nothing changed, the connection stays, and the error says how to mend the call.

    SF-013, SF-114, SF-160, SF-174, SF-195.
    """

    @pytest.mark.parametrize("step", MALFORMED)
    def test_it_is_answered_once_and_changes_nothing(self, client: Wire, step: str) -> None:
        client.call("patch_state", {"patch": {"cwd": {"tactics": {"kept": 1}}}})

        error = told(client, body_of(STEPS["31"][step]))

        assert error["id"] == (None if step in NO_JSON else step)
        assert error["category"] in (("parse_error",) if step in NO_JSON else ("invalid_request", "invalid_patch"))

    @pytest.mark.parametrize("step", sorted(set(MALFORMED) - NO_JSON - {"k", "p"}))
    def test_it_says_what_came_where_what_is_wanted_and_what_is_right(self, client: Wire, step: str) -> None:
        error = told(client, body_of(STEPS["31"][step]))

        assert error["path"].startswith("$.params")
        assert error["got"]
        assert error["wanted"]
        assert json.loads(error["example"])

    @pytest.mark.parametrize("step", ["c", "d", "e", "f", "g"])
    def test_the_example_of_a_read_can_be_sent(self, client: Wire, step: str) -> None:
        client.call("patch_state", {"patch": {"cwd": {"lazy": {"memory": [1]}, "tactics": {"a": 1}}}})
        example = json.loads(told(client, body_of(STEPS["31"][step]))["example"])

        assert client.call("read_state", example)

    @pytest.mark.parametrize("step", ["a", "b"])
    def test_a_json_string_is_called_one(self, client: Wire, step: str) -> None:
        error = told(client, body_of(wrapped(STEPS["31"][step])))

        assert error["path"] == {"a": "$.params.patch", "b": "$.params.patch.cwd"}[step]
        assert "is a JSON string; send the object itself" in error["message"]
        assert client.call("patch_state", {"patch": json.loads(error["example"])})

    @pytest.mark.parametrize("step", ["a", "c"])
    def test_a_json_string_is_called_one_as_params_and_as_paths(self, client: Wire, step: str) -> None:
        assert "is a JSON string; send the" in told(client, body_of(STEPS["31"][step]))["message"]

    @pytest.mark.parametrize(
        ("step", "category", "place"),
        [
            ("k", "invalid_patch", "$.params.patch.cwd.tactics.n"),
            ("p", "no_op", "$.params.patch"),
            ("q", "invalid_patch", "$.params.patch.scope"),
        ],
    )
    def test_a_bad_patch_is_refused_at_its_place(self, client: Wire, step: str, category: str, place: str) -> None:
        error = told(client, body_of(wrapped(STEPS["31"][step])))

        assert (error["category"], error["path"]) == (category, place)

    def test_a_duplicate_key_is_named(self, client: Wire) -> None:
        """31 l: refused, not "last wins"."""
        assert told(client, body_of(wrapped(STEPS["31"]["l"])))["got"] == "a"

    @pytest.mark.parametrize("step", ["h", "i", "j", "m"])
    def test_text_that_is_no_json_is_told_where(self, client: Wire, step: str) -> None:
        """No repair by guessing, neither of a trailing comma nor of a cut number."""
        assert "not JSON" in told(client, body_of(STEPS["31"][step]))["message"]


def state_of(case: str) -> dict[str, Any]:
    folder = next(FIELD_CASES.glob(f"{case}-*"))
    given: dict[str, Any] = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    return {scope: given[scope] for scope in SCOPES if scope in given}


def test_32_null_and_array_positions(client: Wire) -> None:
    """Each refusal leaves bytes, revision and history as they were, and a repeat is no transition (SF-164, SF-165)."""
    client.call("import_state", {"scopes": state_of("32")})
    receipts, refused = {}, {}
    for number, step in STEPS["32"].items():
        before = client.call("state_status")
        try:
            receipts[number] = client.call("patch_state", {"patch": step["patch"]})["changed"]
        except Refused as refusal:
            refused[number] = refusal.category
        if number in refused or receipts.get(number) == []:
            assert client.call("state_status") == before

    assert receipts == {"1": ["cwd"], "2": ["cwd"], "8": ["cwd"], "9": ["cwd"], "10": [], "12": ["cwd"]}
    assert refused == {
        "3": "wrong_kind",
        "4": "invalid_patch",
        "5": "invalid_patch",
        "6": "invalid_patch",
        "7": "invalid_patch",
        "11": "invalid_patch",
        "13": "invalid_patch",
        "14": "invalid_patch",
    }
    assert client.call("read_state", {"path": "cwd"})["value"] == {
        "tactics": {},
        "lazy": {"memory": {"1": "B?"}, "groups": [{"notes": ["n0", "N1"]}], "1": "changed"},
    }


def test_33_odd_keys(client: Wire) -> None:
    """SF-084, SF-199: kept literally, and reached through their parent; the error of a path says so."""
    steps = STEPS["33"]
    sent = steps["1"]["patch"]["cwd"]["lazy"]
    client.call("patch_state", {"patch": steps["1"]["patch"]})

    assert client.call("read_state", steps["2"]["read"])["keys"].keys() == sent.keys()
    assert client.call("read_state", steps["3"]["read"]) == {"value": sent}
    assert client.call("read_state", steps["4"]["read"]) == {"value": "fine"}
    with pytest.raises(Refused, match=r'"release\.v2", which no path can spell') as refused:
        client.call("read_state", steps["5"]["read"])
    assert refused.value.category == "missing_path"
    for number in ("6", "7"):
        with pytest.raises(Refused, match=r"read through (their|its) parent") as refused:
            client.call("read_state", steps[number]["read"])
        assert refused.value.category == "malformed_path"
    client.call("patch_state", {"patch": steps["8"]["patch"]})
    assert client.call("read_state", {"path": "cwd.lazy"})["value"].keys() == sent.keys() - {"release.v2"}
    for number in ("9", "10"):
        with pytest.raises(Refused, match="a dotted key is no path") as refused:
            client.call("patch_state", {"patch": steps[number]["patch"]})
        assert refused.value.category == "invalid_patch"


def test_34_half_characters(client: Wire) -> None:
    """Refused at the door with their place; whole characters are kept, and later writes are not disturbed."""
    steps = {number: wrapped(step) for number, step in STEPS["34"].items() if "raw_text" in step}
    client.send_body(body_of(steps["1"]))
    assert client.receive()["result"] == {"changed": ["session"]}
    assert told(client, body_of(steps["2"]))["path"] == "$.params.patch.session.tactics.note"
    # The place of a key that cannot be printed is that of its object.
    assert told(client, body_of(steps["3"]))["path"] == "$.params.patch.session.tactics"
    assert told(client, bytes.fromhex(STEPS["34"]["6"]["raw_bytes_hex"]))["message"].startswith(
        "the frame is not UTF-8"
    )
    client.send_body(body_of(steps["5"]))
    assert client.receive()["result"] == {"changed": ["session"]}

    assert client.call("read_state", STEPS["34"]["7"]["read"]) == {"value": {"note": "ok 🍸", "nul": "a\0b"}}


BIG: Final = [f"{number:04}" + "x" * 996 for number in range(10_000)]


def evidence(store: Path) -> list[tuple[str, int, int, bytes]]:
    """Return name, size, time and bytes of every file of a store."""
    return [
        (str(file.relative_to(store)), file.stat().st_size, file.stat().st_mtime_ns, file.read_bytes())
        for file in sorted(store.rglob("*"))
        if file.is_file() and not file.is_socket()
    ]


def test_35_large_lazy_memory_is_read_whole_or_refused(start: Callable[[], Daemon]) -> None:
    """SF-018, SF-023, SF-043, SF-132, SF-136, SF-155, SF-180: all of it or an error, and no read leaves a trace."""
    daemon = start()
    with daemon.agent() as client:
        check_large_reads(client, daemon.store)


def check_large_reads(client: Wire, store: Path) -> None:
    client.call("import_state", {"scopes": state_of("35")})
    small = client.call("baseline")
    client.call("patch_state", {"patch": {"cwd": {"lazy": {"big": BIG}}}})
    # What is written for its own sake is written now, and not beside the reads.
    client.call("compact")
    before = (client.call("state_status"), evidence(store))
    answers: dict[str, Any] = {}
    for number, step in STEPS["35"].items():
        members = {name: value for name, value in step.items() if name != "id"}
        try:
            answers[number] = client.call("baseline" if "baseline" in members else "read_state", members)
        except Refused as refused:
            answers[number] = refused.category

    thoughts = [f"thought {number}" for number in range(10)]
    assert answers.pop("9") == {"value": BIG}
    assert len(answers.pop("13")["keys"]) == 33
    # There were more names than are told before; ten megabytes more change nothing.
    assert answers.pop("14") == small
    assert small["lazy_navigation"] == {"available": True, "path": "effective.lazy"}
    assert answers == {
        "1": {"value": thoughts},
        "2": {"value": []},
        "3": "out_of_bounds",
        "4": "out_of_bounds",
        "5": {"value": thoughts[:3]},
        "6": "malformed_path",
        "7": "out_of_bounds",
        "8": "malformed_path",
        "10": {"meta": {"type": "array", "length": 10_000}, "keys": []},
        "11": "missing_path",
        "12": {"value": thoughts[:1] * 2},
        "15": {"value": {"ranges": "half-open"}},
        "16": "missing_path",
        "17": {"value": None},
    }
    assert (client.call("state_status"), evidence(store)) == before
