"""Search for bytes that make reading or mending fail, guided by coverage.

    pip install -e '.[fuzz]'
    python tests/fuzz/goals.py -max_total_time=600 [CORPUS]

It needs atheris, which has wheels for some Pythons only, so no test runs it. Options are those of libFuzzer. What it
finds is written to `build/fuzz`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import atheris

with atheris.instrument_imports(include=["stateward_engine"]):
    from stateward_engine.goals.codes import CODES
    from stateward_engine.goals.document import read_bytes
    from stateward_engine.goals.mending import edited, mend
    from stateward_engine.goals.row_problems import row_problems

ROOT: Final = Path(__file__).parent.parent.parent
CONFORMANCE: Final = ROOT / "tests/conformance"
FOUND: Final = ROOT / "build/fuzz"
BYTES_MAX: Final = 4096


def check(data: bytes) -> None:
    """Read a document and hold what was read to its laws."""
    document = read_bytes(data)
    text = document.lines.text
    assert (document.projection is None) == (document.refusal is not None)
    for problem in document.problems:
        assert problem.code in CODES
        edits = problem.fix.edits if problem.fix else ()
        spans = [problem.span, *(span for span, _ in problem.related), *(edit.span for edit in edits)]
        assert all(0 <= start <= end <= len(text) for start, end in spans)
        edited(text, edits)
    for todo in document.todos:
        assert todo.odd or not list(row_problems(text[slice(*todo.extent)], todo.extent[0], "\n"))
    mended = mend(text, {})
    assert mend(mended.text, {}).fixed == ()


def seed(folder: Path) -> None:
    """Begin with the documents of the conformance data."""
    for number, path in enumerate(sorted(CONFORMANCE.rglob("*.md"))):
        if path.name not in ("expect.md", "README.md") and path.stat().st_size <= BYTES_MAX:
            (folder / str(number)).write_bytes(path.read_bytes())


def main() -> None:
    FOUND.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="fuzz") as folder:
        seed(Path(folder))
        atheris.Setup([*sys.argv, f"-max_len={BYTES_MAX}", f"-artifact_prefix={FOUND}/", folder], check)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
