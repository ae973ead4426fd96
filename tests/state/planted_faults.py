"""Plant each fault of `faults.toml` in a copy of its package, and see that the test it names fails.

    python tests/state/planted_faults.py [--jobs N] [WORD ...]

With words, only the faults whose rule has them all. A fault is a rule of state.md, one text of a source file, what
stands there instead, and the test that must then fail. The tests are run first without any fault, and must pass.
Exit status 0 when every fault was caught.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final, NamedTuple

import hypothesis.strategies  # noqa: F401 - imported once for all runs
import pytest
import pytest_asyncio  # noqa: F401 - the same
import pytest_lsp  # noqa: F401 - the same

ROOT: Final = Path(__file__).parent.parent.parent
TABLE: Final = Path(__file__).with_name("faults.toml")
# Where a short name of a test begins.
SHORT: Final = {
    "vector": "tests/state/test_conformance.py::test_vector",
    "case": "tests/state/test_cases.py::test_case",
}
# Plugins that are imported before pytest asks for them.
WARNING: Final = "ignore::pytest.PytestAssertRewriteWarning"


class Fault(NamedTuple):
    """One planted fault.

    Attributes:
        rule: Section and rule of state.md that it breaks.
        rows: The ids of the features that it breaks, where there are any.
        file: The source file, from the root of the project.
        old: A text that stands in it once.
        new: What is planted there.
        fails: The test that must fail: a node of pytest, or `vector NAME`, or `case PAGE/TITLE`.
    """

    rule: str
    rows: str
    file: str
    old: str
    new: str
    fails: str

    @property
    def node(self) -> str:
        """The test as pytest names it."""
        kind, _, name = self.fails.partition(" ")
        return f"{SHORT[kind]}[{name}]" if kind in SHORT else self.fails

    def problem(self) -> str | None:
        """Return why it cannot be planted, if so."""
        count = (ROOT / self.file).read_text(encoding="utf-8").count(self.old)
        return None if count == 1 and self.old != self.new else f"{self.rule}: {self.file} has its text {count} times"


def load() -> list[Fault]:
    """Return the table."""
    return [Fault(**{"rows": "", **row}) for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["fault"]]


def run(nodes: list[str], packages: str | None = None) -> int:
    """Run tests and return the status of pytest, in a process that has imported nothing of ours yet.

    `packages` is a folder whose packages come before the real ones, here and in every process that a test starts.
    """
    if packages is not None:
        sys.path.insert(0, packages)
        os.environ["PYTHONPATH"] = packages
    os.chdir(ROOT)
    os.environ["STATEWARD_FIRST_EXAMPLE"] = "1"
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        return int(pytest.main(["-qx", "-p", "no:cacheprovider", "-W", WARNING, *nodes]))


def caught(fault: Fault) -> bool:
    """Tell whether the test of a fault fails where the fault is planted."""
    with tempfile.TemporaryDirectory(prefix="fault") as folder:
        package = Path(fault.file).parts[1]
        shutil.copytree(
            ROOT.joinpath(*Path(fault.file).parts[:2]),
            Path(folder, package),
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        target = Path(folder, *Path(fault.file).parts[1:])
        target.write_text(target.read_text(encoding="utf-8").replace(fault.old, fault.new), encoding="utf-8")
        return run([fault.node], folder) == pytest.ExitCode.TESTS_FAILED


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    faults = [fault for fault in load() if all(word in fault.rule for word in options.words)]
    missed = 0
    # Forked, so that pytest and its plugins are imported once; one process for each run, so that nothing of ours is.
    with multiprocessing.get_context("fork").Pool(options.jobs, maxtasksperchild=1) as pool:
        problems = [problem for fault in faults if (problem := fault.problem())]
        if problems or pool.map(run, [sorted({fault.node for fault in faults})])[0]:
            print(*problems or ["the tests fail without any fault"], sep="\n")
            return 1
        for fault, seen in zip(faults, pool.imap(caught, faults), strict=True):
            missed += not seen
            print(f"{'caught' if seen else 'MISSED'}  {fault.rule}  [{fault.fails}]", flush=True)
    print(f"{len(faults) - missed} of {len(faults)} faults caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
