"""`file:` URIs: which paths they name, and which of those have the name of goal documents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from stateward_daemon.documents import GOAL_FILE_NAME, quoted_path, resolved

if TYPE_CHECKING:
    from pathlib import PurePath


def path_of(uri: str) -> Path | None:
    """Return the absolute path that a URI names, or `None` for one that names no local file.

    It is decoded exactly once. A host, a query, a fragment, NUL and `..` are refused, in whatever spelling.

    >>> path_of("file:///projects/a%20b/ACTIVE_GOAL_STATE.md")
    PosixPath('/projects/a b/ACTIVE_GOAL_STATE.md')
    >>> path_of("file:///projects/%2e%2e/etc"), path_of("file://host/projects"), path_of("untitled:Untitled-1")
    (None, None, None)
    """
    scheme, _, rest = uri.partition(":")
    rest = rest.removeprefix("//")
    return None if scheme.lower() != "file" or "?" in rest or "#" in rest else quoted_path(rest)


def directory_of(folder: str) -> Path | None:
    """Return the directory that the URI of a folder names, or `None` for one that names none here.

    Links are resolved as far as they lead anywhere, so a folder that is a link to itself is only one without files.
    """
    path = path_of(folder)
    return None if path is None else Path(os.path.realpath(path))


def goal_path_of(uri: str) -> Path | None:
    """Return the path of the document that a URI names as goal documents are named, or `None` for everything else.

    Directories are resolved, so that one document has one path however its workspace is reached.
    """
    path = path_of(uri)
    return None if path is None or path.name != GOAL_FILE_NAME else resolved(path)


def uri_below(folder: str, relative: PurePath) -> str:
    """Return the URI of what lies below a folder, in the spelling in which the client gave the folder.

    >>> from pathlib import Path
    >>> uri_below("file:///w%20s/", Path("a b/ACTIVE_GOAL_STATE.md"))
    'file:///w%20s/a%20b/ACTIVE_GOAL_STATE.md'
    """
    return f"{folder.rstrip('/')}/{quote(os.fsencode(relative))}"


def uri_of(path: Path) -> str:
    """Return the URI of an absolute path.

    >>> from pathlib import Path
    >>> uri_of(Path("/projects/a b/ACTIVE_GOAL_STATE.md"))
    'file:///projects/a%20b/ACTIVE_GOAL_STATE.md'
    """
    return f"file://{quote(os.fsencode(path))}"
