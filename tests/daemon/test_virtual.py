"""Virtual documents: how they are named, what they say, and where in them a value stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stateward
from stateward.printable import printable_lines
from stateward_daemon.pretty import TEXT_LENGTH_MAX, TooLong, pretty
from stateward_daemon.virtual import StateName, named, projection_uri, state_uri
from stateward_engine.state.paths import ROOTS, Index, Member, Path, Range
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path as FilePath

    from stateward import Client

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["\u2028", "\x9b2J", "\u202e", '"']
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
names = st.sampled_from(["a", "plan", "json", "$ref", "_", "a-b", "A0"])
numbers = st.integers(0, 10**20).map(str)
steps = st.lists(st.builds(Member, names) | st.builds(Index, numbers), max_size=4)
ends = st.lists(st.builds(Range, numbers, numbers), max_size=2)


@st.composite
def paths(draw: st.DrawFn) -> Path:
    root = draw(st.sampled_from(ROOTS))
    offset = draw(numbers)
    selectors = (Member("lazy"), *draw(steps), *draw(ends)) if draw(st.booleans()) else ()
    return Path(root, offset, selectors, indexed=offset != "0")


def ways(value: Any, way: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every way into a value, with what it leads to."""
    yield way, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        yield from ways(member, (*way, step))


class TestText:
    @given(values)
    def test_it_is_the_value_on_lines_that_are_lines(self, value: Any) -> None:
        text = pretty(value).text
        assert json.loads(text) == value
        assert text.splitlines() == text[:-1].split("\n")
        assert printable_lines(text) == text

    @given(values)
    def test_each_value_stands_where_it_is_said_to_stand(self, value: Any) -> None:
        for way, member in ways(value):
            text, whole, name = pretty(value, way)
            assert whole is not None
            assert name is not None
            named_so = bool(way) and isinstance(way[-1], str)
            shown = json.loads(f"{{{text[slice(*whole)]}}}" if named_so else text[slice(*whole)])
            assert shown == ({way[-1]: member} if named_so else member)
            assert json.loads(text[slice(*name)]) == (way[-1] if named_so else member)
            assert whole[0] == name[0]
            assert name[1] <= whole[1]

    @given(values, st.integers(1, 50))
    def test_it_is_whole_or_refused(self, value: Any, less: int) -> None:
        whole = pretty(value).text
        assert pretty(value, limit=len(whole)).text == whole
        with pytest.raises(TooLong):
            pretty(value, limit=len(whole) - less)

    def test_what_is_not_there_stands_nowhere(self) -> None:
        assert pretty({"a": [1]}, ("a", 1))[1:] == pretty({"a": [1]}, ("b",))[1:] == (None, None)


class TestNames:
    @given(paths(), st.sampled_from(["value", "keys"]))
    def test_a_uri_names_the_path_that_it_was_made_of(self, path: Path, projection: Any) -> None:
        assert named(state_uri(path, projection)) == StateName(path, projection)

    def test_a_projection_is_named_by_the_path_of_its_document(self, tmp_path: FilePath) -> None:
        path = tmp_path / "100%41 done?" / "Ziel #1 ü.md"
        assert named(projection_uri(path)) == path

    @pytest.mark.parametrize(
        "uri",
        ["stateward:///cwd/lazy/plan.json", "stateward:/cwd/lazy/pl%61n.json", "stateward:/cwd%2Flazy/plan.json"],
    )
    def test_the_spellings_of_clients_name_the_same(self, uri: str) -> None:
        assert named(uri) == named("stateward:/cwd/lazy/plan.json")

    @pytest.mark.parametrize(
        "uri",
        [
            *("", "stateward:", "stateward:/", "stateward:/.json", "stateward:/cwd/lazy", "stateward:/lunch.json"),
            *("file:///cwd/lazy.json", "stateward://host/cwd.json", "stateward:/cwd/lazy.json?value"),
            *("stateward:/cwd/lazy.json#x", "stateward:/cwd//lazy.json", "stateward:/cwd/%00.json"),
            *("stateward:/projection/a/%2e%2e/b.json", "stateward:/projection//host/b.json", "stateward:/cwd/ö.json"),
        ],
    )
    def test_every_other_text_is_refused_with_a_right_one(self, uri: str) -> None:
        with pytest.raises(WireError) as refused:
            named(uri)
        assert refused.value.category == "invalid_request"
        assert named(json.loads(refused.value.data["example"])["uri"])


class TestDocuments:
    """The method `state_document`, as every client has it."""

    @pytest.fixture
    def client(self, folder: FilePath) -> Iterator[Client]:
        with stateward.connect(store=folder / "store", start="embedded", cwd=str(folder), session="s1") as opened:
            yield opened

    def test_it_is_what_a_read_of_the_path_gives(self, client: Client) -> None:
        """SF-041 and SF-043: it reads a body because it was asked to, and changes nothing by that."""
        client.patch_state({"cwd": {"lazy": {"plan": {"next": "go"}}}, "session": {"lazy": {"plan": {"step": 2}}}})
        before = client.state_status(), client.baseline()
        for uri, path in [
            ("stateward:/cwd/lazy.json", "cwd.lazy"),
            ("stateward:/effective/lazy/plan.json", "effective.lazy.plan"),
            ("stateward:/lazy/plan.json", "lazy.plan"),
            ("stateward:/session.json", "session"),
            ("stateward:/global/lazy.json", "global.lazy"),
        ]:
            document = client.state_document(uri)
            assert document.whole
            assert json.loads(document.text) == client.read_state(path)["value"]
        assert (client.state_status(), client.baseline()) == before

    def test_with_keys_it_has_no_value(self, client: Client) -> None:
        client.patch_state({"cwd": {"lazy": {"plan": {"next": "SECRET"}, "list": [1]}}})
        document = client.state_document("stateward:/cwd/lazy.json?keys")

        assert json.loads(document.text) == client.read_state("cwd.lazy", projection="keys")
        assert document.uri == "stateward:/cwd/lazy.json?keys"
        assert "SECRET" not in document.text

    def test_its_uri_is_told_in_the_one_spelling(self, client: Client) -> None:
        assert client.state_document("stateward:///lazy.json").uri == "stateward:/effective/lazy.json"

    def test_what_is_too_long_is_not_shown_in_parts(self, client: Client) -> None:
        """What is cut off is said in the text, which stays JSON, with a document that has a part of it."""
        long = ["SECRET " * 10] * 20_000
        client.patch_state({"cwd": {"lazy": {"log": long, "plan": {"next": "go"}}}})
        document = client.state_document("stateward:/cwd/lazy.json")
        outline = json.loads(document.text)
        part = outline["cut_off"].split()[-1]

        assert not document.whole
        assert outline["meta"] == {"type": "object", "size": 2}
        assert outline["keys"] == {"log": "array", "plan": "object"}
        assert "SECRET" not in document.text
        assert part == "stateward:/cwd/lazy/log.json"
        inner = json.loads(client.state_document(part).text)
        assert inner["meta"] == {"type": "array", "length": 20_000}
        first = client.state_document(inner["cut_off"].split()[-1])
        assert first.whole
        assert json.loads(first.text) == long[:10]

    def test_keys_that_are_too_many_are_counted(self, client: Client) -> None:
        client.patch_state({"cwd": {"lazy": {f"key_{n:06}": n for n in range(60_000)}}})
        for uri in ("stateward:/cwd/lazy.json", "stateward:/cwd/lazy.json?keys"):
            document = client.state_document(uri)
            shown = json.loads(document.text)
            assert not document.whole
            assert len(document.text) <= TEXT_LENGTH_MAX
            assert set(shown) == {"cut_off", "meta"}
            assert shown["meta"] == {"type": "object", "size": 60_000}
            assert shown["cut_off"].endswith("stateward:/cwd/lazy/key_000000.json")

    @pytest.mark.parametrize(
        ("uri", "category"),
        [
            ("stateward:/cwd/lazy/lost.json", "missing_path"),
            ("stateward:/cwd/lazy/list%5B3%5D.json", "out_of_bounds"),
            ("stateward:/cwd%5B9%5D.json", "history_unavailable"),
            ("stateward:/lunch.json", "invalid_request"),
            ("stateward:/projection/no/such.md.json", "missing_path"),
        ],
    )
    def test_what_is_not_there_is_refused_as_by_a_read(self, client: Client, uri: str, category: str) -> None:
        client.patch_state({"cwd": {"lazy": {"list": [1]}}})
        with pytest.raises(WireError) as refused:
            client.state_document(uri)
        assert refused.value.category == category

    def test_owners_that_are_not_wanted_stay_closed(self, folder: FilePath) -> None:
        """SF-102."""
        with (
            stateward.connect(store=folder / "store", start="embedded", cwd=str(folder), wanted=["cwd"]) as client,
            pytest.raises(WireError) as refused,
        ):
            client.state_document("stateward:/global/lazy.json")
        assert refused.value.category == "unwanted_owner"

    def test_a_projection_is_that_of_the_file(self, client: Client, folder: FilePath) -> None:
        path = folder / "ACTIVE_GOAL_STATE.md"
        path.write_text("---\nstatus: active\n---\n# Goal\n\n## Agent Todo\n\n- [ ] One\n", encoding="utf-8")
        document = client.state_document(projection_uri(path))

        assert json.loads(document.text) == client.goal_projection(path=str(path), source_ref=str(path))
        assert document.uri == projection_uri(path)
