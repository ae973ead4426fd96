"""`store/FORMAT.md` is true: its dump is what the program writes, its numbers are the program's."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from stateward_engine.state.commands import Configure
from stateward_engine.store.lock import ANNOUNCEMENT_BYTES
from stateward_engine.store.record import HEADER_BYTES, PAYLOAD_BYTES_MAX, Kind, decode
from stateward_engine.store.recover import FORMAT_CONTENT
from stateward_engine.store.store import open_store
from store.planted import noon, written

if TYPE_CHECKING:
    from pathlib import Path

PAGE = files("stateward_engine.store").joinpath("FORMAT.md").read_text(encoding="utf-8")


def dumped() -> bytes:
    """The bytes of the page's hex dump."""
    block = re.search(r"```hexdump\n(.*?)```", PAGE, re.DOTALL)
    assert block
    rows = [row for row in block[1].splitlines() if "|" in row]
    return bytes.fromhex("".join(row[10:59].replace(" ", "") for row in rows))


def test_the_dump_is_what_the_program_writes(place: Path, journal: Path) -> None:
    with open_store(place, now=noon) as store:
        store.commit_now(Configure(3))

    assert written(journal) == dumped()


def test_the_records_of_the_dump_are_where_the_page_says() -> None:
    listed = re.findall(r"^\* `([0-9a-f]+)` (\w+): (\d+) bytes", PAGE, re.MULTILINE)
    found, start = [], 0
    while record := decode(memoryview(dumped()), start):
        found.append((f"{start:02x}", record.kind.name.lower(), str(len(record.payload))))
        start = record.end

    assert listed == found
    assert start == len(dumped())


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_its_row(kind: Kind) -> None:
    assert f"| `{kind.value[-1:].decode()}` {kind.name.lower()} |" in PAGE


def test_the_numbers_of_the_page_are_those_of_the_program() -> None:
    assert f"| {HEADER_BYTES} | | payload" in PAGE
    assert f"at most {PAYLOAD_BYTES_MAX:,} " in PAGE
    assert f"\n{ANNOUNCEMENT_BYTES} bytes, always" in PAGE
    assert f"The {len(FORMAT_CONTENT)} bytes `{FORMAT_CONTENT.decode().strip()}`" in PAGE
