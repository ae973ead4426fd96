"""protocol.md section 1 and security.md row 1: where store, socket and log are, and whom a directory lets in."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from stand_in import lock_file
from stateward.location import (
    SOCKET_PATH_BYTES_MAX,
    Announcement,
    Place,
    ensure_private_directory,
    log_path,
    read_announcement,
    runtime_candidates,
    socket_path,
    store_place,
)
from stateward_protocol.errors import WireError


def key_of(store: Path) -> str:
    return hashlib.sha256(os.fsencode(store.resolve())).hexdigest()[:16]


class TestStore:
    def test_the_one_that_the_caller_names_wins(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("STATEWARD_STORE", str(folder / "environment"))

        assert store_place(folder / "named") == Place(folder / "named")

    def test_the_environment_comes_before_the_data_directory(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert store_place() == Place(folder / "home/.local/share/stateward")

        monkeypatch.setenv("STATEWARD_STORE", str(folder / "environment"))

        assert store_place() == Place(folder / "environment")

    def test_a_relative_one_is_made_absolute_and_a_link_real(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / "real").mkdir()
        (folder / "link").symlink_to("real")
        monkeypatch.chdir(folder)

        assert store_place("link/store") == Place(folder / "real/store")


class TestSocket:
    def test_a_store_has_one_socket_whichever_way_it_is_spelled(self, folder: Path) -> None:
        """Field case 39: the symlink and the real path meet the same daemon."""
        (folder / "a project, 工作").mkdir()
        (folder / "link").symlink_to("a project, 工作")
        real = folder / "a project, 工作" / "store"

        assert socket_path(real) == socket_path(folder / "link" / "store")
        assert socket_path(real) == folder / "run/stateward" / f"{key_of(real)}.sock"

    def test_the_candidates_are_runtime_state_and_tmp(self, folder: Path) -> None:
        name = f"{key_of(folder)}.sock"

        assert list(runtime_candidates(folder)) == [
            folder / "run/stateward" / name,
            folder / "home/.local/state/stateward/run" / name,
            Path(f"/tmp/stateward-{os.geteuid()}") / name,  # noqa: S108 - the contract
        ]

    @pytest.mark.parametrize("runtime", ["", "relative", "/nowhere"])
    def test_a_runtime_directory_that_is_not_there_is_no_candidate(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, runtime: str
    ) -> None:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)

        assert next(runtime_candidates(folder)).is_relative_to(folder / "home")

    def test_a_runtime_directory_of_somebody_else_is_no_candidate(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real_uid = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: real_uid + 1)

        assert not next(runtime_candidates(folder)).is_relative_to(folder / "run")

    def test_the_temporary_directory_of_the_environment_is_never_used(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It differs between the programs of one user."""
        before = list(runtime_candidates(folder))
        monkeypatch.setenv("TMPDIR", str(folder / "tmp"))

        assert list(runtime_candidates(folder)) == before

    def test_a_candidate_that_does_not_fit_is_passed_over(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        deep = folder / ("d" * 90)
        deep.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))

        assert socket_path(folder).is_relative_to(folder / "home")

    def test_a_candidate_in_an_open_directory_is_passed_over(self, folder: Path) -> None:
        (folder / "run/stateward").mkdir()
        (folder / "run/stateward").chmod(0o777)

        assert socket_path(folder).is_relative_to(folder / "home")

    def test_when_nothing_fits_the_error_says_the_limit_and_what_to_set(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("stateward.location.runtime_candidates", lambda _: iter([folder / ("d" * 120)]))

        with pytest.raises(WireError, match="STATEWARD_SOCKET") as refused:
            socket_path(folder)

        assert refused.value.category == "store_unavailable"
        assert refused.value.data["reason_code"] == "socket_path"
        assert refused.value.data["limit"] == SOCKET_PATH_BYTES_MAX

    def test_a_named_path_wins_and_may_have_exactly_107_bytes(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        longest = "/" + "é" * 53
        monkeypatch.setenv("STATEWARD_SOCKET", "/run/environment.sock")

        assert os.fspath(socket_path(folder, longest)) == longest
        assert socket_path(folder) == Path("/run/environment.sock")

    def test_a_named_path_that_does_not_fit_is_refused_and_not_replaced(self, folder: Path) -> None:
        """The limit is in bytes, not characters."""
        with pytest.raises(WireError, match="107 bytes"):
            socket_path(folder, "/" + "é" * 53 + "x")

    def test_looking_creates_nothing(self, folder: Path) -> None:
        socket_path(folder)
        log_path(Place(folder))

        assert list((folder / "run").iterdir()) == []
        assert list((folder / "home").iterdir()) == []


def test_every_store_has_a_log_of_its_own_named_as_its_socket(folder: Path) -> None:
    assert log_path(Place(folder)) == folder / "home/.local/state/stateward/log" / f"{key_of(folder)}.log"


class TestPrivateDirectory:
    """Security row 1: a real directory, our own, that nobody else can write to."""

    @pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
    def test_a_missing_one_is_created_for_us_alone_with_its_parents(self, folder: Path, umask: int) -> None:
        before = os.umask(umask)
        try:
            ensure_private_directory(folder / "a/b/c")
        finally:
            os.umask(before)

        modes = [(folder / name).stat().st_mode & 0o777 for name in ("a", "a/b", "a/b/c")]
        assert modes == [0o700] * 3

    @pytest.mark.parametrize("mode", [0o700, 0o755, 0o500])
    def test_one_that_others_cannot_write_to_is_taken_as_it_is(self, folder: Path, mode: int) -> None:
        (folder / "d").mkdir()
        (folder / "d").chmod(mode)

        ensure_private_directory(folder / "d")

        assert (folder / "d").stat().st_mode & 0o777 == mode

    @pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
    def test_one_that_others_can_write_to_is_refused_with_the_mending_command(self, folder: Path, mode: int) -> None:
        (folder / "d").mkdir()
        (folder / "d").chmod(mode)

        with pytest.raises(WireError, match="chmod go-w") as refused:
            ensure_private_directory(folder / "d")

        assert refused.value.data["path"] == str(folder / "d")

    def test_a_link_is_refused_even_to_a_private_directory(self, folder: Path) -> None:
        (folder / "d").symlink_to("run")

        with pytest.raises(WireError, match="symbolic link"):
            ensure_private_directory(folder / "d")

    def test_a_dangling_link_is_refused_and_its_target_not_made(self, folder: Path) -> None:
        (folder / "d").symlink_to("elsewhere")

        with pytest.raises(WireError, match="symbolic link"):
            ensure_private_directory(folder / "d")
        assert not (folder / "elsewhere").exists()

    def test_a_file_is_refused(self, folder: Path) -> None:
        (folder / "d").touch()

        with pytest.raises(WireError, match="no directory"):
            ensure_private_directory(folder / "d")
        with pytest.raises(WireError, match="cannot be created"):
            ensure_private_directory(folder / "d/inner")

    def test_one_of_another_user_is_refused(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        real_uid = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: real_uid + 1)

        with pytest.raises(WireError, match=f"belongs to user {real_uid}"):
            ensure_private_directory(folder)


class TestAnnouncement:
    @pytest.mark.parametrize(
        "announced",
        [
            Announcement(42, "/run/user/1000/stateward/0123456789abcdef.sock", "0.1.0"),
            Announcement(4_194_304, '/run/工作 \\"/' + "é" * 40, "12.34.56"),
            Announcement(1, os.fsdecode(b"/run/\xff\xfe.sock"), "0.1.0"),
        ],
    )
    def test_what_a_daemon_announces_is_read_back(self, folder: Path, announced: Announcement) -> None:
        (folder / "lock").write_bytes(lock_file(announced))

        assert read_announcement(folder) == announced

    def test_a_shorter_one_leaves_nothing_of_a_longer_one(self, folder: Path) -> None:
        with (folder / "lock").open("wb") as lock:
            lock.write(lock_file(Announcement(1, "/" + "x" * 100, "0.1.0")))
            lock.seek(0)
            lock.write(lock_file(Announcement(2, "/y", "0.1.1")))

        assert read_announcement(folder) == Announcement(2, "/y", "0.1.1")

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\n",
            b"42\n",
            b"[]\n",
            b"{}\n",
            b'{"pid": 42}\n',
            b'{"pid": true, "socket": "/s", "version": "1"}\n',
            b'{"pid": "42", "socket": "/s", "version": "1"}\n',
            b'{"pid": 42, "socket": "relative", "version": "1"}\n',
            b'{"pid": 42, "socket": "/s", "version": 1}\n',
            b'{"pid": 42, "socket": "/s", "ver',
            b"[" * 4000,
            b"\xff\xff\n",
        ],
    )
    def test_anything_else_announces_nobody(self, folder: Path, content: bytes) -> None:
        (folder / "lock").write_bytes(content)

        assert read_announcement(folder) is None

    def test_a_missing_file_or_store_announces_nobody(self, folder: Path) -> None:
        assert read_announcement(folder) is None
        assert read_announcement(folder / "nowhere") is None

    def test_a_link_in_the_place_of_the_file_is_not_followed(self, folder: Path) -> None:
        """Security row 7."""
        (folder / "elsewhere").write_bytes(lock_file(Announcement(1, "/s", "1")))
        (folder / "lock").symlink_to("elsewhere")

        assert read_announcement(folder) is None

    def test_a_pipe_in_the_place_of_the_file_does_not_hang_the_reader(self, folder: Path) -> None:
        """Security row 9."""
        os.mkfifo(folder / "lock")

        assert read_announcement(folder) is None
