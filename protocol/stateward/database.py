"""The address of a store in a PostgreSQL database: read, told apart from others, and shown without its secrets.

It is read here and not by libpq, because most programs that name a store only look for the daemon that has it, and
must not wait for a library to load, nor need one. Source: store.md section 1, security.md row 26.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLE: Final = "postgresql://ada@db.example.org/team?sslmode=verify-full"
SCHEMA_DEFAULT: Final = "stateward"
PORT_DEFAULT: Final = "5432"

_SCHEMA: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
# An address in a text: what stands before its last @, and parameters that are secrets.
_USERINFO: Final = re.compile(r"(postgres(?:ql)?://)\S*@")
_PORTS: Final = re.compile(r"[0-9]*(,[0-9]*)*")
# Ours among the parameters; libpq knows none of that name.
_SCHEMA_PARAMETER: Final = "schema"
_SECRETS: Final = ("password", "sslpassword", "oauth_client_secret")
_PASSWORDS: Final = re.compile(rf"({'|'.join(_SECRETS)})=[^\s&;]*")
# What a parameter says in the place of an environment variable, and what either says in the place of the other parts.
_VARIABLES: Final = {"host": "PGHOST", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER"}


class Database(NamedTuple):
    """Where a store is in a PostgreSQL database.

    Attributes:
        address: All of it as it was given; it may hold a password.
        uri: What libpq takes of it; it may hold a password, too.
        schema: The schema that holds the store.
        shown: The same for people, without secrets.
        key: 64 hex digits that stand for host, port, database and schema.
        has_secret: Whether `address` holds one.
    """

    address: str
    uri: str
    schema: str
    shown: str
    key: str
    has_secret: bool

    def __repr__(self) -> str:
        """Return what may be shown: a representation ends up in logs."""
        return f"Database({self.shown!r})"


def read_database(text: str, environment: Mapping[str, str] | None = None) -> Database:
    """Return the database that a URI names.

    Args:
        text: The URI, with any parameters of libpq, and `schema`.
        environment: What libpq would take missing parts from; by default that of the process.

    Raises:
        WireError: `invalid_request`. Nothing of the text is quoted: who mistypes it may have a password anywhere.
    """
    environment = os.environ if environment is None else environment
    authority, path, query = _parts(text)
    userinfo, _, address = authority.rpartition("@")
    user, _, password = userinfo.partition(":")
    given = {name: unquote(value) for name, value in query.items()}
    hosts, ports = _addresses(address)
    parts = {"host": hosts, "port": ports, "dbname": unquote(path), "user": unquote(user)}
    # As for libpq, a parameter wins over what stands before it.
    known = {name: given.get(name) or value for name, value in parts.items()}
    schema = given.pop(_SCHEMA_PARAMETER, SCHEMA_DEFAULT)
    if not _SCHEMA.fullmatch(schema):
        raise _wrong("the schema is a small letter or _, then small letters, digits and _, at most 63 of them")
    kept = {name: value for name, value in query.items() if name != _SCHEMA_PARAMETER}
    harmless = {name: value for name, value in kept.items() if name not in _SECRETS}
    shown_schema = {} if schema == SCHEMA_DEFAULT else {_SCHEMA_PARAMETER: schema}
    return Database(
        address=text,
        uri=_joined(authority, path, kept),
        schema=schema,
        shown=_joined(f"{user}@{address}" if user else address, path, {**harmless, **shown_schema}),
        key=_key(known, schema, given.get("service") or environment.get("PGSERVICE", ""), environment),
        has_secret=bool(password) or harmless != kept,
    )


def without_secrets(text: str) -> str:
    """Return a text that somebody typed, without what may be a password in an address.

    >>> without_secrets("stateward where --store postgresql://ada:pw@db/team")
    'stateward where --store postgresql://***@db/team'
    """
    return _PASSWORDS.sub(r"\1=***", _USERINFO.sub(r"\1***@", text))


def _parts(text: str) -> tuple[str, str, dict[str, str]]:
    """Return authority, path and parameters of a URI, still encoded."""
    before, _, parameters = text.partition("://")[2].partition("?")
    authority, _, path = before.partition("/")
    pairs = [pair.partition("=") for pair in parameters.split("&")] if parameters else []
    strange = re.search(r"[\x00- #]|%(?![0-9A-Fa-f]{2})", text)
    # A password that is not encoded cuts the address at a wrong place, and what follows would be shown.
    if strange or authority.count("@") > 1 or "/" in path or "@" in path + parameters:
        raise _wrong(
            "the characters @ : / ? # and spaces in a user or a password are written as %40 %3A %2F %3F %23 %20"
        )
    if not all(name and equals for name, equals, _ in pairs):
        raise _wrong("parameters are written as name=value, with & between them")
    return authority, path, {name: value for name, _, value in pairs}


def _addresses(address: str) -> tuple[str, str]:
    """Return the hosts and the ports of an authority, each with commas between them."""
    found = [re.fullmatch(r"(\[[0-9A-Fa-f:.%]*\]|[^:]*)(?::(.*))?", one) for one in address.split(",")]
    hosts = ",".join(unquote(one[1]).strip("[]") for one in found if one)
    ports = ",".join(one[2] or "" for one in found if one)
    if not all(found) or not _PORTS.fullmatch(ports):
        raise _wrong("a port is a number; a : in a user or a password is written as %3A")
    return hosts, ports.strip(",") and ports


def _key(known: Mapping[str, str], schema: str, service: str, environment: Mapping[str, str]) -> str:
    found = {name: known[name] or environment.get(variable, "") for name, variable in _VARIABLES.items()}
    # A service says what is not said here, in a file that only libpq reads.
    database = found["dbname"] or service or found["user"] or _login()
    identity = [found["host"], found["port"] or PORT_DEFAULT, database, schema]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def _login() -> str:
    import getpass  # noqa: PLC0415 - only an address that names neither database nor user needs it

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.geteuid())


def _joined(authority: str, path: str, parameters: Mapping[str, str]) -> str:
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    return f"postgresql://{authority}/{path}{'?' if query else ''}{query}"


def _wrong(problem: str) -> WireError:
    return WireError("invalid_request", f"the address of the database does not fit: {problem}", example=EXAMPLE)
