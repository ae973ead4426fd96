"""Digests: the SHA-256 of the one spelling of JSON values, and of texts as they are on disk.

Source: goal-documents section 0.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from stateward_engine.json_value import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_engine.json_value import Json


def text_sha256(text: str) -> str:
    """Return the digest of the UTF-8 bytes of a text, in lower-case hex."""
    return sha256(text.encode()).hexdigest()


def values_sha256(values: Iterable[Json]) -> str:
    """Return the digest of an array, spelled one value at a time: it may be long, and nobody waits for all of it.

    >>> values_sha256([]) == value_sha256([]), values_sha256(["a", {}]) == value_sha256(["a", {}])
    (True, True)
    """
    digest, separator = sha256(b"["), b""
    for value in values:
        digest.update(separator + canonical(value).encode())
        separator = b","
    digest.update(b"]")
    return digest.hexdigest()


def value_sha256(value: Json) -> str:
    """Return the digest of a JSON value: of its canonical spelling.

    >>> value_sha256([])
    '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'
    """
    return text_sha256(canonical(value))
