"""Rendering over a real daemon: the vectors, and a document that nobody writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wire import Refused

if TYPE_CHECKING:
    from wire import Daemon

VECTORS = sorted((Path(__file__).parent.parent / "conformance" / "render").glob("*.json"))
MEMBERS = {"records", "provider_revision", "private_validation"}


def test_every_vector_over_the_wire(daemon: Daemon) -> None:
    """Exact bytes and digests, or a typed refusal; the file is read and never written (LX-058 and LX-085)."""
    document = daemon.cwd / "ACTIVE_GOAL_STATE.md"
    failed: list[Any] = []
    with daemon.agent() as wire:
        for path in VECTORS:
            vector = json.loads(path.read_text(encoding="utf-8"))
            document.write_bytes(vector["markdown"].encode())
            params = {
                key: vector[key] for key in ("records", "provider_revision", "private_validation") if key in vector
            }
            try:
                got = wire.call("goal_render", {"path": str(document), **params})
                wanted = vector.get("expect", {"refused": True})
                failed += [(path.stem, key) for key in wanted if got.get(key) != wanted[key]]
            except Refused as refused:
                category = refused.error["data"]["category"]
                if "expect" in vector or category not in ("refused", "unsafe_document", "invalid_request"):
                    failed.append((path.stem, category))
            assert document.read_bytes() == vector["markdown"].encode()

    assert failed == []


def test_a_refusal_names_record_and_rule(daemon: Daemon) -> None:
    record = json.loads(VECTORS[0].read_text(encoding="utf-8"))["records"][0] | {"colour": "SECRET"}
    params = {"text": "## Agent Todo\n", "provider_revision": "file:s:1", "records": [record]}
    with daemon.agent() as wire, pytest.raises(Refused) as refused:
        wire.call("goal_render", params)

    data = refused.value.error["data"]
    assert (data["category"], data["reason_code"], data["todo_id"]) == ("refused", "unknown_field", record["todo_id"])
    assert (data["field"], data["path"]) == ("colour", "$.params.records[0].colour")
    assert "SECRET" not in json.dumps(refused.value.error)
