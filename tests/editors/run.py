"""What `make editors` runs: each client in its real editor, with lines of figures and a picture of what is seen.

Exit status 1 when a check fails, or when an editor is neither there nor to be had.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

# Its neighbors, and what tests share.
sys.path.insert(0, str(Path(__file__).parent.parent))

import helix_editor
from emacs_root import BUILD, NoEmacs
from figures import MEASURES
from real_editors import EDITORS, Report, picture, work

if TYPE_CHECKING:
    from collections.abc import Callable

# How each editor works through its checks, and what a person sees in it.
DRIVEN: dict[str, tuple[Callable[[Path], Report], Callable[[Path], str]]] = {
    **{name: (partial(work, name), partial(picture, name)) for name in EDITORS},
    "helix": (helix_editor.work, helix_editor.picture),
}
MEASURED = {**MEASURES, "helix": helix_editor.measure}


def run(name: str) -> bool:
    """Run one editor, print its line and return whether all is well."""
    its_work, its_picture = DRIVEN[name]
    with tempfile.TemporaryDirectory() as folder:
        work_folder, picture_folder = Path(folder, "work"), Path(folder, "picture")
        work_folder.mkdir()
        picture_folder.mkdir()
        report = its_work(work_folder)
        target = BUILD / f"{name}.txt"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(its_picture(picture_folder), encoding="utf-8")
    first = "never" if report.first_diagnostic_ms is None else f"after {report.first_diagnostic_ms} ms"
    shown = target.relative_to(Path.cwd()) if target.is_relative_to(Path.cwd()) else target
    print(f"{report.editor}: {len(report.passed)} checks passed, first diagnostic {first}, picture in {shown}")
    if report.failed is not None:
        print(f"  failed: {report.failed}")
    return report.failed is None


def measure(name: str) -> None:
    """Measure one editor and print its figures."""
    with tempfile.TemporaryDirectory() as folder:
        print("\n".join(MEASURED[name](Path(folder)).told(name)), flush=True)


def main() -> int:
    failures = 0
    jobs = [(run, name) for name in DRIVEN] + [(measure, name) for name in MEASURED]
    for job, name in jobs:
        try:
            failures += job(name) is False
        except (NoEmacs, AssertionError, TimeoutError) as error:
            failures += 1
            print(f"{name}: {error}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
