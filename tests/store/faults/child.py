"""One workload in a process of its own, for whoever breaks that process: `child.py ROOT NAME`.

Each fact that it tells is one line. The exit status is 0 at the end, and 3 after a refusal.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from stateward_engine.errors import EngineError
from store.faults.life import Life
from store.faults.workloads import BY_NAME

REFUSED_STATUS: Final = 3


def _tell(fact: str) -> None:
    os.write(1, f"{fact}\n".encode())


def main() -> None:
    root, name = sys.argv[1:]
    try:
        BY_NAME[name].run(Life(Path(root), _tell))
    except EngineError:
        sys.exit(REFUSED_STATUS)


if __name__ == "__main__":
    main()
