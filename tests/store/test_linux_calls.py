"""Calls of Linux that nothing else of the tests shows."""

from __future__ import annotations

import subprocess
import sys

PR_GET_DUMPABLE = 3
ASKED = f"""
import ctypes
from stateward_engine.store.linux_calls import keep_memory_private
before = ctypes.CDLL(None).prctl({PR_GET_DUMPABLE})
keep_memory_private()
print(before, ctypes.CDLL(None).prctl({PR_GET_DUMPABLE}))
"""


def test_nobody_else_looks_into_memory_that_is_kept_private() -> None:
    """Security row 26."""
    assert subprocess.run([sys.executable, "-c", ASKED], capture_output=True, check=True).stdout == b"1 0\n"
