"""The listening socket: private from birth, published by rename, removed only while ours. Security rows 1 to 6."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING

import pytest

from stateward.location import SOCKET_PATH_BYTES_MAX
from stateward_daemon.listen import Listener
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "run" / "d.sock"


@contextlib.contextmanager
def listening(place: Path) -> Iterator[Listener]:
    listener = Listener(place)
    yield listener
    listener.socket.close()


def test_the_socket_and_its_directory_are_private_whatever_the_umask(place: Path) -> None:
    before = os.umask(0)
    try:
        with listening(place):
            assert place.stat().st_mode & 0o777 == 0o600
            assert place.parent.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


def test_nothing_but_the_socket_is_left_beside_it(place: Path) -> None:
    with listening(place):
        assert list(place.parent.iterdir()) == [place]


def test_a_stale_socket_is_replaced(place: Path) -> None:
    with listening(place):
        pass
    with listening(place) as listener, socket.socket(socket.AF_UNIX) as client:
        assert listener.is_published()
        client.connect(os.fspath(place))


def test_a_successor_keeps_its_socket(place: Path) -> None:
    """Row 6: a daemon that ends late must not take the next one's address away."""
    with listening(place) as old:
        # Stuck, and deaf already: one that still listens is not replaced.
        old.socket.close()
        new = Listener(place)
        assert not old.is_published()
        old.withdraw()
        assert new.is_published()
        new.withdraw()
        assert not place.exists()
        new.withdraw()
        new.socket.close()


def test_a_socket_that_somebody_listens_on_is_not_replaced(place: Path) -> None:
    """The daemon of another store may have been given the same path; its clients stay its own."""
    with listening(place) as first:
        with pytest.raises(WireError, match="another store listens there"):
            Listener(place)

        assert first.is_published()
        assert list(place.parent.iterdir()) == [place]


def test_a_path_that_just_fits_can_be_bound(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    name = "s" * (SOCKET_PATH_BYTES_MAX - len(os.fsencode(folder)) - 1)
    with listening(folder / name) as listener:
        assert listener.is_published()


@pytest.mark.parametrize("kind", ["file", "directory", "link"])
def test_what_is_no_socket_of_ours_is_not_replaced(place: Path, kind: str) -> None:
    place.parent.mkdir(mode=0o700)
    if kind == "file":
        place.write_text("notes", encoding="utf-8")
    elif kind == "directory":
        place.mkdir()
    else:
        place.symlink_to(place.parent)

    with pytest.raises(WireError, match="something else is there") as refused:
        Listener(place)

    assert refused.value.data["reason_code"] == "no_socket"
    assert list(place.parent.iterdir()) == [place]
