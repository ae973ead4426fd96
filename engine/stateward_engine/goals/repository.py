"""Repository identity: one spelling for the many ways of naming a Git repository."""

from __future__ import annotations

import re
from typing import Final

_HOST: Final = r"(?P<host>[A-Za-z0-9][A-Za-z0-9._-]*)"
_PATH: Final = r"(?P<path>[^\s<>?#\\]+)"
_FORMS: Final = (
    # A user may stand before the host, a password may not: identities are shown to everybody.
    re.compile(rf"(?P<scheme>(?i:git|https?|ssh))://(?:[^\s@/:?#]+@)?{_HOST}(?::(?P<port>[0-9]{{1,5}}))?/{_PATH}"),
    re.compile(rf"git:{_HOST}(?::(?P<port>[0-9]{{1,5}}))?/{_PATH}"),
    re.compile(rf"[^\s@/:?#]+@{_HOST}:{_PATH}"),
)
_DEFAULT_PORTS: Final = {"git": "9418", "http": "80", "https": "443", "ssh": "22"}


def read_repository(value: str) -> str | None:
    """Return the identity `git:<host[:port]>/<path>` of a repository, or `None` when `value` names none.

    Taken are the identity itself, `user@host:path`, and git, http, https and ssh addresses.
    Source: goal-documents 3.2.

    >>> read_repository("https://h:8443/a//b.git/")
    'git:h:8443/a/b'
    """
    for form in _FORMS:
        if match := form.fullmatch(value):
            parts = match.groupdict()
            path = _clean_path(parts["path"])
            return f"git:{parts['host'].lower()}{_port_suffix(parts)}/{path}" if path else None
    return None


def _port_suffix(parts: dict[str, str | None]) -> str:
    port, scheme = parts.get("port"), (parts.get("scheme") or "").lower()
    return f":{port}" if port and port != _DEFAULT_PORTS.get(scheme) else ""


def _clean_path(path: str) -> str | None:
    cleaned = "/".join(filter(None, path.split("/"))).removesuffix(".git").rstrip("/")
    return None if {".", ".."}.intersection(cleaned.split("/")) else cleaned
