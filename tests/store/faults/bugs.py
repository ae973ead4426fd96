"""Mistakes that a store can make, each small enough to plant; a sweep that does not find them proves nothing."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import StoreUnavailable
from stateward_engine.store import directory, journal, record, recover
from stateward_engine.store.catalogue import FRESH_JOURNAL
from stateward_engine.store.directory import Directory
from stateward_engine.store.disk_file import DiskFile
from stateward_engine.store.document_place import Place
from stateward_engine.store.record import Kind, encode
from stateward_engine.store.scan import scan as genuine_scan
from stateward_engine.store.streams import STREAMS_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from stateward_engine.errors import Outcome
    from stateward_engine.store.disk_file import File
    from stateward_engine.store.scan import Scan


def missing_file_sync(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(DiskFile, "sync", lambda _: None)


def missing_directory_sync(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Directory, "sync", lambda _: None)


def missing_sync_of_the_parent(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(directory, "_sync_directory", lambda _: None)


def missing_sync_of_checkpoints(patch: pytest.MonkeyPatch) -> None:
    once = Directory.sync

    def sync(self: Directory) -> None:
        if self.path.parent.name != STREAMS_DIRECTORY:
            once(self)

    patch.setattr(Directory, "sync", sync)


def missing_sync_of_a_publication(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Place, "sync", lambda _: None)


def acknowledgement_before_sync(patch: pytest.MonkeyPatch) -> None:
    def write(file: File, data: bytes, offset: int) -> None:
        # What the call before this one wrote, and acknowledged.
        file.sync()
        file.write_at(data, offset)

    patch.setattr(journal, "write_durably", write)


def no_checksum(patch: pytest.MonkeyPatch) -> None:
    # The one that every journal begins with, so that this is found and not the catalogue.
    any_checksum = record._HEADER.unpack_from(FRESH_JOURNAL)[-1]
    patch.setattr(record, "_checksum", lambda *_: any_checksum)


def checksum_per_entry(patch: pytest.MonkeyPatch) -> None:
    def encode_each(sequence: int, entries: Sequence[bytes]) -> bytes:
        records = [encode(Kind.GROUP, number, 1, b"[%b]" % entry) for number, entry in enumerate(entries, sequence)]
        return b"".join(records)

    patch.setattr(journal, "encode_group", encode_each)


def retried_sync(patch: pytest.MonkeyPatch) -> None:
    once = DiskFile.sync

    def sync(file: DiskFile) -> None:
        try:
            once(file)
        except OSError:
            once(file)

    patch.setattr(DiskFile, "sync", sync)


def no_reseal(patch: pytest.MonkeyPatch) -> None:
    def scan(data: bytes, *, file: str) -> Scan:
        return genuine_scan(data, file=file)._replace(sealed=True)

    patch.setattr(recover, "scan", scan)


def rename_before_sync(patch: pytest.MonkeyPatch) -> None:
    def write_file(self: Directory, name: str, data: bytes) -> None:
        with contextlib.closing(DiskFile(self.open_file(name + ".tmp", os.O_RDWR | os.O_CREAT))) as file:
            file.write_at(data, 0)
            os.rename(name + ".tmp", name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
            file.sync()
        self.sync()

    patch.setattr(Directory, "write_file", write_file)


def truncation_in_place(patch: pytest.MonkeyPatch) -> None:
    def write_file(self: Directory, name: str, data: bytes) -> None:
        with contextlib.closing(DiskFile(self.open_file(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC))) as file:
            file.write_at(data, 0)
            file.sync()
        self.sync()

    patch.setattr(Directory, "write_file", write_file)


def false_refusal(patch: pytest.MonkeyPatch) -> None:
    def refuse(message: str, *, outcome: Outcome = "refused", reason: str = "") -> StoreUnavailable:
        del outcome
        return StoreUnavailable(message, reason=reason)

    patch.setattr(journal, "StoreUnavailable", refuse)


def _write_unverified(file: File, data: bytes, offset: int) -> None:
    file.write_at(data, offset)
    file.sync()


def no_read_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(journal, "write_durably", _write_unverified)


def rename_before_verification(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(directory, "write_durably", _write_unverified)


# Each with the workload that shows it first: found by cutting the power...
BUGS_OF_CRASHES: Final = {
    missing_file_sync: "first start",
    missing_directory_sync: "first start",
    missing_sync_of_the_parent: "single patches",
    missing_sync_of_checkpoints: "compactions",
    missing_sync_of_a_publication: "publications",
    acknowledgement_before_sync: "single patches",
    no_checksum: "groups",
    checksum_per_entry: "groups",
    retried_sync: "failed sync",
    no_reseal: "failed sync",
    rename_before_sync: "first start",
    truncation_in_place: "first start",
    false_refusal: "failed sync",
}
# ... and by failing calls.
BUGS_OF_FAILURES: Final = {
    no_read_back: "single patches",
    rename_before_verification: "first start",
    false_refusal: "single patches",
}
