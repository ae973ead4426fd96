"""Where disks are made up, thousands of times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from store.faults.sweep import small_disks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def scratch() -> Iterator[Path]:
    with small_disks() as folder:
        yield folder
