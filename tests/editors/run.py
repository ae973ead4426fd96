"""What `make editors` runs: each client in its real editor, with lines of figures and a picture of what is seen.

Exit status 1 when a check fails, or when an editor is neither there nor to be had.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

# Its neighbors, and what tests share.
sys.path.insert(0, str(Path(__file__).parent.parent))

from emacs_root import BUILD, NoEmacs
from figures import MEASURES
from real_editors import EDITORS, picture, work


def run(name: str) -> bool:
    """Run one editor, print its line and return whether all is well."""
    with tempfile.TemporaryDirectory() as folder:
        work_folder, picture_folder = Path(folder, "work"), Path(folder, "picture")
        work_folder.mkdir()
        picture_folder.mkdir()
        report = work(name, work_folder)
        target = BUILD / f"{name}.txt"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(picture(name, picture_folder), encoding="utf-8")
    first = "never" if report.first_diagnostic_ms is None else f"after {report.first_diagnostic_ms} ms"
    shown = target.relative_to(Path.cwd()) if target.is_relative_to(Path.cwd()) else target
    print(f"{report.editor}: {len(report.passed)} checks passed, first diagnostic {first}, picture in {shown}")
    if report.failed is not None:
        print(f"  failed: {report.failed}")
    return report.failed is None


def measure(name: str) -> None:
    """Measure one editor and print its figures."""
    with tempfile.TemporaryDirectory() as folder:
        print("\n".join(MEASURES[name](Path(folder)).told(name)), flush=True)


def main() -> int:
    failures = 0
    jobs = [(run, name) for name in EDITORS] + [(measure, name) for name in MEASURES]
    for job, name in jobs:
        try:
            failures += job(name) is False
        except (NoEmacs, AssertionError, TimeoutError) as error:
            failures += 1
            print(f"{name}: {error}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
