"""store.md section 1 and security.md row 26: addresses of databases are told apart, and told without their secrets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from stateward.database import read_database, without_secrets
from stateward.location import Place, log_path, store_place
from stateward.spawn import _command, _environment
from stateward_protocol.errors import WireError

NOBODY: Final[dict[str, str]] = {}
SECRET: Final = "hunter2"  # noqa: S105 - what must not be told


def key_of(text: str, **environment: str) -> str:
    return read_database(text, environment).key


class TestAddress:
    @pytest.mark.parametrize(
        ("text", "uri", "schema", "shown"),
        [
            ("postgresql://db/team", "postgresql://db/team", "stateward", "postgresql://db/team"),
            ("postgres://db/team", "postgresql://db/team", "stateward", "postgresql://db/team"),
            ("postgresql:///team?host=/run/pg", "postgresql:///team?host=/run/pg", "stateward", None),
            ("postgresql://ada@[::1]:5433/team", "postgresql://ada@[::1]:5433/team", "stateward", None),
            ("postgresql://a:1,b:2/team", "postgresql://a:1,b:2/team", "stateward", None),
            ("postgresql://db/team?schema=red", "postgresql://db/team", "red", "postgresql://db/team?schema=red"),
            (
                "postgresql://ada:hunter2@db/team?sslmode=verify-full&schema=red",
                "postgresql://ada:hunter2@db/team?sslmode=verify-full",
                "red",
                "postgresql://ada@db/team?sslmode=verify-full&schema=red",
            ),
            (
                "postgresql://db/team?password=hunter2&sslpassword=hunter2",
                "postgresql://db/team?password=hunter2&sslpassword=hunter2",
                "stateward",
                "postgresql://db/team",
            ),
        ],
    )
    def test_libpq_gets_all_but_the_schema_and_people_all_but_the_secrets(
        self, text: str, uri: str, schema: str, shown: str | None
    ) -> None:
        found = read_database(text, NOBODY)

        assert (found.address, found.uri, found.schema, found.shown) == (text, uri, schema, shown or text)
        assert found.has_secret == (SECRET in text)
        assert SECRET not in f"{found!r} {Place(Path('/d'), found)}"

    @pytest.mark.parametrize(
        "text",
        [
            "postgresql://ada:hun@ter2@db/team",
            "postgresql://ada:hun/ter2@db/team",
            "postgresql://ada:hun?ter2@db/team",
            "postgresql://ada:hun#ter2@db/team",
            "postgresql://ada:hun ter2@db/team",
            "postgresql://ada:hun%ter2@db/team",
            "postgresql://ada:hunter2:x/team",
            "postgresql://db:hunter2/team",
            "postgresql://db/team?hunter2",
            "postgresql://db/team?schema=Hunter2",
            "postgresql://db/team/hunter2",
        ],
    )
    def test_one_that_does_not_fit_is_refused_and_not_quoted(self, text: str) -> None:
        with pytest.raises(WireError, match="address of the database") as refused:
            read_database(text, NOBODY)

        told = f"{refused.value.message} {refused.value.data}".lower()
        assert not any(part in told for part in ("hun", "ter2"))

    def test_what_was_typed_is_told_without_a_password(self) -> None:
        typed = "stateward --store postgresql://ada:hun@ter2@db/team?password=hunter2; see stateward where --help"

        assert without_secrets(typed) == (
            "stateward --store postgresql://***@db/team?password=***; see stateward where --help"
        )


class TestKey:
    def test_host_port_database_and_schema_tell_stores_apart_and_nothing_else_does(self) -> None:
        same = [
            key_of("postgresql://db/team"),
            key_of("postgres://db:5432/team?schema=stateward"),
            key_of("postgresql://ada:hunter2@db/team?sslmode=require"),
            key_of("postgresql:///?host=db&dbname=team"),
            key_of("postgresql:///team", PGHOST="db", PGPORT="5432"),
            key_of("postgresql://db", PGDATABASE="team"),
            key_of("postgresql://team@db"),
        ]
        others = [
            key_of("postgresql://other/team"),
            key_of("postgresql://db:5433/team"),
            key_of("postgresql://db/other"),
            key_of("postgresql://db/team?schema=red"),
            key_of("postgresql:///?service=team"),
        ]

        assert len(set(same)) == 1
        assert len({same[0], *others}) == 1 + len(others)


class TestPlace:
    def test_a_database_has_a_directory_on_this_machine_for_lock_and_log(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STATEWARD_STORE", "postgresql://ada:hunter2@db/team")

        place = store_place()

        assert place.directory == folder / "home/.local/share/stateward-databases" / key_of("postgresql://db/team")
        assert log_path(place) == place.directory / "daemon.log"
        assert str(place) == "postgresql://ada@db/team"

    def test_a_daemon_is_given_the_address_by_its_environment(self, folder: Path) -> None:
        """Row 26: everybody can read the arguments of a process."""
        place = store_place("postgresql://ada:hunter2@db/team?schema=red")

        assert SECRET not in " ".join(_command(place, None))
        assert _environment(place)["STATEWARD_STORE"] == "postgresql://ada:hunter2@db/team?schema=red"
        assert "--store" in _command(Place(folder), None)
        assert _environment(Place(folder)) is os.environ
