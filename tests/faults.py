"""Plant each fault of a table in a copy of its package, and see that the test it names fails.

    python tests/faults.py [TABLE ...] [--rule WORD]

By default all tables. With a word, only the faults whose rule has it.
A fault is a rule, one text of a source file, what stands there instead, and the test that must then fail: a node of
pytest, or a word of the table's `short` and what stands in the brackets behind its node. The tests are run first
without any fault, and must pass.
Exit status 0 when every fault was caught.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).parent.parent
TABLES: Final = sorted((ROOT / "tests").rglob("*faults.toml"))
# What pytest says when tests ran and some failed, and what the kernel says of one that ran without end, which nobody
# overlooks either; other statuses are mistakes of the table.
FOUND: Final = (1, -signal.SIGXCPU)
# Processor time of a child: several times what the longest test takes.
CHILD_S: Final = 180
# Nobody reads what a failing assert compared, and to rewrite asserts takes most of the time.
OPTIONS: Final = ("-qx", "-p", "no:cacheprovider", "--assert=plain")


class Fault(NamedTuple):
    """One planted fault.

    Attributes:
        rule: The rule that it breaks.
        file: The source file, from the root of the project.
        old: A text that stands in it once.
        new: What is planted there.
        node: The test that must fail, as pytest names it.
    """

    rule: str
    file: str
    old: str
    new: str
    node: str

    def problem(self) -> str | None:
        """Return why it cannot be planted, if so."""
        count = (ROOT / self.file).read_text(encoding="utf-8").count(self.old)
        return None if count == 1 and self.old != self.new else f"{self.rule}: {self.file} has its text {count} times"


def load(table: Path) -> list[Fault]:
    """Return the faults of a table."""
    content = tomllib.loads(table.read_text(encoding="utf-8"))
    short = content.get("short", {})

    def node(fails: str) -> str:
        kind, _, name = fails.partition(" ")
        return f"{short[kind]}[{name}]" if kind in short else fails

    return [Fault(row["rule"], row["file"], row["old"], row["new"], node(row["fails"])) for row in content["fault"]]


def run(nodes: list[str], packages: str) -> int:
    """Run tests in a child and return the status of pytest; `packages` is a folder that comes before the real ones.

    The child has what this process has imported, which is pytest and nothing of the project: starting Python and
    pytest anew for each fault would take ten times as long.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    resource.setrlimit(resource.RLIMIT_CPU, (CHILD_S, CHILD_S + 5))
    sys.path.insert(0, packages)
    # For the processes that a test starts.
    os.environ["PYTHONPATH"] = packages
    # A law that fails need not be shrunk.
    os.environ["STATEWARD_FIRST_EXAMPLE"] = "1"
    sys.dont_write_bytecode = True
    os.chdir(ROOT)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os._exit(int(pytest.main([*OPTIONS, *nodes])))


def caught(fault: Fault) -> bool:
    """Tell whether the test of a fault fails where the fault is planted."""
    with tempfile.TemporaryDirectory(prefix="fault") as folder:
        folder_of_package, package, *inside = Path(fault.file).parts
        source = ROOT / folder_of_package / package
        shutil.copytree(source, Path(folder, package), ignore=shutil.ignore_patterns("__pycache__"))
        target = Path(folder, package, *inside)
        target.write_text(target.read_text(encoding="utf-8").replace(fault.old, fault.new), encoding="utf-8")
        return run([fault.node], folder) in FOUND


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", metavar="TABLE", type=Path, nargs="*", default=TABLES)
    parser.add_argument("--rule", metavar="WORD", default="")
    options = parser.parse_args()
    faults = [fault for table in options.tables for fault in load(table) if options.rule in fault.rule]
    problems = [problem for fault in faults if (problem := fault.problem())]
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    if problems or run(sorted({fault.node for fault in faults}), str(ROOT)):
        print(*problems or ["the tests fail without any fault"], sep="\n")
        return 1
    missed = 0
    for fault in faults:
        seen = caught(fault)
        missed += not seen
        print(f"{'caught' if seen else 'MISSED'}  {fault.rule}  [{fault.node}]", flush=True)
    print(f"{len(faults) - missed} of {len(faults)} faults caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
