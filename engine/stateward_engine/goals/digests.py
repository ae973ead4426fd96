"""Digests: the SHA-256 of the one spelling of JSON values, and of texts as they are on disk.

Source: goal-documents section 0.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from stateward_engine.json_value import canonical

if TYPE_CHECKING:
    from stateward_engine.json_value import Json


def text_sha256(text: str) -> str:
    """Return the digest of the UTF-8 bytes of a text, in lower-case hex."""
    return sha256(text.encode()).hexdigest()


def value_sha256(value: Json) -> str:
    """Return the digest of a JSON value: of its canonical spelling.

    >>> value_sha256([])
    '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'
    """
    return text_sha256(canonical(value))
