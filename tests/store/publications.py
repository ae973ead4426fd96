"""Publications and saves, as the tests of both make them."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from stateward_engine.errors import NotPublished
from stateward_engine.store import publish_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

publish = publish_file.publish_file
ERRORS = [errno.EIO, errno.ENOSPC, errno.EACCES]


def to(data: bytes) -> Callable[[bytes], bytes]:
    """A merge that pays no attention to what is there."""
    return lambda _: data


def add(line: bytes) -> Callable[[bytes], bytes]:
    """A merge that keeps what is there."""
    return lambda data: data if line in data else data + line


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def replace_save(path: Path, data: bytes) -> None:
    """As an editor that writes another file and renames it."""
    aside = path.with_name(".swp")
    aside.write_bytes(data)
    aside.rename(path)


def refused(path: Path, reason_code: str, **options: Path) -> NotPublished:
    """Publish, and return the refusal, before which nobody was waited for longer than the pauses take."""
    with pytest.raises(NotPublished) as refusal, mock.patch.object(time, "sleep", wraps=time.sleep) as sleep:
        publish(path, to(b"new\n"), **options)
    assert sum(call.args[0] for call in sleep.call_args_list) <= sum(publish_file.PAUSES_S)
    assert refusal.value.facts["reason_code"] == reason_code
    assert refusal.value.facts["outcome"] == "refused"
    return refusal.value


def skip_syncs(patch: pytest.MonkeyPatch) -> None:
    """For tests that publish a thousand times and prove nothing about what a crash leaves."""
    patch.setattr(os, "fsync", lambda _: None)
    patch.setattr(os, "fdatasync", lambda _: None)
