"""Writing: the documents that this process writes. Those who show them are told before the writing is answered.

The watcher hears of them, too, but later, and by then somebody else may have written: an editor that took in what was
written would seem to have made it up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.store.publish_file import create_file, publish_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stateward_daemon.host import Host
    from stateward_engine.store.publish_file import Publication


def publish(host: Host, path: Path, merge: Callable[[bytes], bytes]) -> Publication:
    """Replace a document as `publish_file` does, and tell of it."""
    return _told(host, publish_file(path, merge))


def create(host: Host, path: Path, data: bytes) -> Publication:
    """Make a document as `create_file` does, and tell of it."""
    return _told(host, create_file(path, data))


def _told(host: Host, done: Publication) -> Publication:
    if done.status != "current":
        host.wrote(done.path, done.sha256)
    return done
