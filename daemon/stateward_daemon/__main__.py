"""`python -m stateward_daemon` is `stateward`."""

import sys

from stateward_daemon.cli import main

sys.exit(main())
