"""`store/ENGINES.md` is true: its tables are those of a database, its query reads a group, its names are there."""

from __future__ import annotations

import inspect
import re
from importlib.resources import files
from typing import TYPE_CHECKING

from stateward_engine.store import catalogue, receipt_keys, record, recover, streams
from stateward_engine.store.ledger import SharedLedger
from stateward_engine.store.postgresql import open_postgresql
from stateward_engine.store.writer import WriterCore
from store.planted import noon, put

if TYPE_CHECKING:
    from stateward_engine.store.postgresql_target import Target
    from store.postgres_server import PostgresServer

PAGE = files("stateward_engine.store").joinpath("ENGINES.md").read_text(encoding="utf-8")
MODULES = {module.__name__.rpartition(".")[2]: module for module in (catalogue, receipt_keys, record, recover, streams)}


def rows_of(heading: str) -> dict[str, str]:
    """Return the rows of the table under a heading: the names in the first cell, and the rest."""
    part = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^\| (`.*?`) \| (.*) \|$", part, re.MULTILINE))


def test_its_tables_are_those_of_a_database(postgres: PostgresServer, target: Target) -> None:
    with postgres.admin() as admin:
        found = admin.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = %s", [target.schema]
        ).fetchall()
    told = {names.strip("`"): rest for names, rest in rows_of("What is in a database").items()}
    assert set(told) == {table for table, _ in found}
    untold = {(table, column) for table, column in found if f"`{column}`" not in told[table]}
    assert untold == {("format", "created_at"), *((table, "one") for table in ("format", "head", "base"))}


def test_its_query_reads_a_group(postgres: PostgresServer, target: Target) -> None:
    ledger, view = open_postgresql(target)
    WriterCore(view, ledger, now=noon).commit([put("a", 1)])
    ledger.close()
    (query,) = re.findall(r"```sql\n(.*?);\n```", PAGE, re.DOTALL)
    with postgres.admin() as admin:
        ((first, payload),) = admin.execute(query.replace("stateward.", f'"{target.schema}".').encode()).fetchall()
    assert first == 1
    assert payload[0]["patches"]["session"] == {"lazy": {"a": 1}}


def test_it_names_every_member_of_the_interface() -> None:
    members = {name for name in dir(SharedLedger) if not name.startswith("_")}
    told = {name for names in rows_of("What an engine is") for name in re.findall(r"`(\w+)", names)}
    assert told == members


def test_the_codecs_that_it_names_are_there() -> None:
    named = [pair for pair in re.findall(r"`(\w+)\.(\w+)`", PAGE) if pair[0] in MODULES]
    assert len(named) > 6
    assert [pair for pair in named if not _has(*pair)] == []


def _has(module: str, name: str) -> bool:
    """Tell whether a module, or a class of it, has something of that name."""
    classes = [found for _, found in inspect.getmembers(MODULES[module], inspect.isclass)]
    return any(hasattr(owner, name) for owner in (MODULES[module], *classes))
