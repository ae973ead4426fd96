"""The log: one rotated file per store, one JSON object per line, and never a body.

A client chooses names and ids that end up here, so every control character is escaped: JSON with ASCII only does that.
"""

from __future__ import annotations

import json
import logging
import os
import traceback
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING, Final

from stateward.location import ensure_private_directory

if TYPE_CHECKING:
    from pathlib import Path

LOGGER_NAME: Final = "stateward"
ENGINE_LOGGER_NAME: Final = "stateward_engine"
# Two files of this size are kept; a daemon that is asked nonsense all day does not fill the disk.
LOG_BYTES_MAX: Final = 4 * 1024 * 1024
FILE_MODE: Final = 0o600


class JsonLines(logging.Formatter):
    """Formats a record as one line of ASCII JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its newline."""
        line: dict[str, object] = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}",
            "level": record.levelname.lower(),
            "pid": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[2] is not None:
            # Where it happened, and not what the exception says: its text may quote state.
            frames = traceback.extract_tb(record.exc_info[2])
            line["exception"] = record.exc_info[0].__name__ if record.exc_info[0] else ""
            line["where"] = [f"{os.path.basename(f.filename)}:{f.lineno} {f.name}" for f in frames]  # noqa: PTH119 - a name
        return json.dumps(line)


class _PrivateFile(RotatingFileHandler):
    def _open(self):  # type: ignore[no-untyped-def] # noqa: ANN202 - typeshed names the stream type differently by version
        # Not blocking, so that a FIFO in its place cannot hang the daemon; without a reader it cannot be opened at all.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        return os.fdopen(os.open(self.baseFilename, flags, FILE_MODE), "a")


def open_log(path: Path, *, foreground: bool) -> logging.Logger:
    """Return the product's logger, writing to `path`, and in the foreground also to standard error.

    What the engine logs, about receivers that fail, goes there too.
    """
    ensure_private_directory(path.parent)
    handlers: list[logging.Handler] = [_PrivateFile(path, maxBytes=LOG_BYTES_MAX, backupCount=1, delay=True)]
    if foreground:
        handlers.append(logging.StreamHandler())
    for handler in handlers:
        handler.setFormatter(JsonLines())
    for name in (LOGGER_NAME, ENGINE_LOGGER_NAME):
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        logger.handlers[:] = handlers
    # A failed write to the log must not print a traceback into somebody's terminal.
    logging.raiseExceptions = False
    return logging.getLogger(LOGGER_NAME)
