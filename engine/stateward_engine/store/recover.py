"""From the bytes of a store to its view: prove first, then repair, then serve.

Nothing is written before everything was proven, and nothing is ever truncated in place. So recovery can be cut short at
any point and run again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import CorruptStore, StoreUnavailable
from stateward_engine.state.draft import Draft
from stateward_engine.state.transition import from_entry
from stateward_engine.state.view import View
from stateward_engine.store.directory import TEMPORARY_SUFFIX
from stateward_engine.store.disk_file import DiskFile
from stateward_engine.store.journal import Journal
from stateward_engine.store.lock import LOCK_NAME, STARTER_LOCK_NAME
from stateward_engine.store.scan import FRESH_JOURNAL, corrupt, entries, scan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_engine.store.directory import Directory
    from stateward_engine.store.record import Record
    from stateward_engine.store.scan import Scan

FORMAT_NAME: Final = "FORMAT"
FORMAT_CONTENT: Final = b"stateward store 1\n"
JOURNAL_DIRECTORY: Final = "journal"
JOURNAL_NAME: Final = "000001.log"
JOURNAL_PATH: Final = f"{JOURNAL_DIRECTORY}/{JOURNAL_NAME}"
_JOURNAL_SUFFIX: Final = ".log"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a start found, and the journal to go on with."""

    view: View
    journal: Journal


def recover(directory: Directory) -> Recovered:
    """Prove the store, repair what a crash left behind, and open its journal. The caller holds the lock.

    A journal that was not sealed by its last owner is copied, without its torn tail, into a new inode, which takes its
    place. That also rescues what a failed sync left in the kernel's cache alone.

    Raises:
        CorruptStore: See `scan`; also an unknown `FORMAT` or a missing journal. No byte was changed.
        StoreUnavailable: The directory holds something else, or a name in it is not safe to open.
        OSError: A call failed; the store is as good as before.

    Source: store.md section 4.
    """
    if _is_unused(directory):
        _create(directory)
    with _open_journals(directory) as journals:
        content = _journal_content(journals)
        proven = scan(content, file=JOURNAL_PATH)
        view = replay(proven.groups)
        if not proven.sealed:
            journals.write_file(JOURNAL_NAME, content[: proven.end])
        return Recovered(view, _open_journal(journals, proven))


def read_view(directory: Directory) -> View:
    """Return the view of a store that nobody writes to meanwhile, without writing.

    A torn tail is ignored; it stays for the next owner to cut.

    Raises:
        CorruptStore, StoreUnavailable, OSError: As for `recover`.
    """
    if _is_unused(directory):
        return View()
    with _open_journals(directory) as journals:
        return replay(scan(_journal_content(journals), file=JOURNAL_PATH).groups)


def refuse_foreign(directory: Directory) -> None:
    """Raise `StoreUnavailable` if the directory is no store and not free to become one. Reads only."""
    _is_unused(directory)


def replay(groups: Iterable[Record]) -> View:
    """Return the view that the groups lead to. Decides nothing: entries say what happened.

    Raises:
        CorruptStore: An entry that cannot be applied.
    """
    draft = Draft(View())
    for group in groups:
        for sequence, entry in enumerate(entries(group, file=JOURNAL_PATH), group.sequence):
            try:
                draft.apply(from_entry(entry), at=entry["at"], sequence=sequence)
            except CorruptStore as error:
                raise corrupt(str(error), JOURNAL_PATH, group.start) from error
            except Exception as error:
                # Whatever is wrong with it, its checksum says that we wrote it so.
                raise corrupt(f"entry {sequence} cannot be replayed", JOURNAL_PATH, group.start) from error
    return draft.finish()


def _is_unused(directory: Directory) -> bool:
    """Return whether the directory is yet to become a store; refuse one that is neither that nor a store.

    `FORMAT` is written last, so without it a creation was cut short at most. Anything that such a creation does not
    leave behind belongs to someone.
    """
    found = directory.read(FORMAT_NAME)
    if found == FORMAT_CONTENT:
        return False
    if found is not None:
        raise CorruptStore(
            f"{directory.path / FORMAT_NAME} names a format that this version does not know; "
            "use the version that wrote it; nothing was changed",
            file=FORMAT_NAME,
            offset=0,
        )
    ours = {LOCK_NAME, STARTER_LOCK_NAME, JOURNAL_DIRECTORY, FORMAT_NAME + TEMPORARY_SUFFIX}
    if foreign := set(directory.names()) - ours:
        raise StoreUnavailable(
            f"{directory.path} is not a store and not empty (it holds {len(foreign)} other names); "
            "choose an empty or a new directory",
            file=str(directory.path),
        )
    _demand_no_data(directory)
    return True


def _demand_no_data(directory: Directory) -> None:
    """Refuse a directory without `FORMAT` whose journal tells of a past."""
    try:
        journals = directory.subdirectory(JOURNAL_DIRECTORY)
    except FileNotFoundError:
        return
    with journals:
        names = set(journals.names()) - {JOURNAL_NAME + TEMPORARY_SUFFIX}
        if names and (names != {JOURNAL_NAME} or journals.read(JOURNAL_NAME) != FRESH_JOURNAL):
            raise CorruptStore(
                f"{directory.path / FORMAT_NAME} is missing beside a journal that was in use; "
                "restore the file or the whole directory from a copy; nothing was changed",
                file=FORMAT_NAME,
                offset=0,
            )


def _create(directory: Directory) -> None:
    """Make an empty store. `FORMAT` comes last: it promises that the rest is there."""
    directory.sync_parent()
    with directory.subdirectory(JOURNAL_DIRECTORY, create=True) as journals:
        journals.write_file(JOURNAL_NAME, FRESH_JOURNAL)
    directory.write_file(FORMAT_NAME, FORMAT_CONTENT)


def _open_journals(directory: Directory) -> Directory:
    try:
        return directory.subdirectory(JOURNAL_DIRECTORY)
    except FileNotFoundError as error:
        raise _missing(JOURNAL_DIRECTORY) from error


def _journal_content(journals: Directory) -> bytes:
    """Return the journal's bytes; refuse a store without one and a store with others."""
    names = [name for name in journals.names() if name.endswith(_JOURNAL_SUFFIX)]
    if others := [name for name in names if name != JOURNAL_NAME]:
        raise corrupt("a journal that this version does not know", f"{JOURNAL_DIRECTORY}/{others[0]}", 0)
    content = journals.read(JOURNAL_NAME)
    if content is None:
        raise _missing(JOURNAL_PATH)
    return content


def _open_journal(journals: Directory, proven: Scan) -> Journal:
    file = DiskFile(journals.open_file(JOURNAL_NAME, os.O_RDWR))
    return Journal(file, end=proven.end, next_sequence=proven.next_sequence, sealed=proven.sealed)


def _missing(name: str) -> CorruptStore:
    return CorruptStore(
        f"{name} is missing though the store was in use; restore the whole directory from a copy", file=name, offset=0
    )
