"""Directories of several machines in one store: each is named by its machine and its path.

A store that one machine has for itself names them by their paths alone. Two slashes begin no real path of a machine,
so the two kinds of names are never the same. Source: store.md section 1.
"""

from __future__ import annotations

from typing import Final

_MARK: Final = "//"


def named_on(path: str, machine_id: str | None) -> str:
    """Return what names a directory in a store.

    Args:
        path: Its real path.
        machine_id: Its machine in a store that several share; `None` in one that a machine has for itself.

    >>> named_on("/home/ada/project", "m1"), named_on("/home/ada/project", None)
    ('//m1/home/ada/project', '/home/ada/project')
    """
    return path if machine_id is None else f"{_MARK}{machine_id}{path}"


def path_on(name: str, machine_id: str | None) -> str:
    """Return the path of a directory where its name is of this machine, else the whole name.

    >>> path_on("//m1/home/ada/project", "m1"), path_on("//m2/home/ada/project", "m1")
    ('/home/ada/project', '//m2/home/ada/project')
    """
    prefix = None if machine_id is None else f"{_MARK}{machine_id}/"
    return name if prefix is None or not name.startswith(prefix) else name[len(prefix) - 1 :]


def renamed(name: str, before: str | None, after: str | None) -> str:
    """Return the name that a directory gets in another store, when `before` is this machine's id there, `after` here.

    One of another machine keeps its name, so that a store that is moved back has it again.

    >>> renamed("/home/ada", None, "m1"), renamed("//m1/home/ada", "m1", None), renamed("//m2/home/ada", None, "m1")
    ('//m1/home/ada', '/home/ada', '//m2/home/ada')
    """
    path = path_on(name, before)
    return path if path.startswith(_MARK) else named_on(path, after)
