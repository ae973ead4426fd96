"""From the bytes of a store to its view: prove first, then repair, then serve.

Nothing is written before everything was proven, and nothing is ever truncated in place. So recovery can be cut short at
any point and run again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.errors import CorruptStore, StoreUnavailable
from stateward_engine.state.draft import Draft
from stateward_engine.state.transition import from_entry
from stateward_engine.state.view import Damage, View
from stateward_engine.store.catalogue import FRESH_JOURNAL
from stateward_engine.store.directory import TEMPORARY_SUFFIX
from stateward_engine.store.lock import LOCK_NAME, STARTER_LOCK_NAME
from stateward_engine.store.scan import corrupt, entries, scan
from stateward_engine.store.streams import load_view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_engine.store.catalogue import Catalogue
    from stateward_engine.store.directory import Directory
    from stateward_engine.store.record import Record
    from stateward_engine.store.scan import Scan

FORMAT_NAME: Final = "FORMAT"
FORMAT_CONTENT: Final = b"stateward store 1\n"
JOURNAL_DIRECTORY: Final = "journal"
FIRST_JOURNAL: Final = "000001.log"
# The journal before the current one, kept for people. It has no name that a start would take for a journal.
PREVIOUS_JOURNAL: Final = "previous"
RESERVE_NAME: Final = "reserve"
JOURNAL_SUFFIX: Final = ".log"
_JOURNAL_NAME: Final = re.compile(r"[0-9]{6}\.log")


class Evidence(NamedTuple):
    """What the bytes of a store prove.

    Attributes:
        name: Of the journal in its directory.
        content: Its bytes.
        proven: What they say.
        view: Where the streams and the groups lead to.
    """

    name: str
    content: bytes
    proven: Scan
    view: View


def recover(directory: Directory) -> tuple[Evidence, Directory]:
    """Prove the store, make a new one where there is none, and return what it holds and its open journal directory.

    The caller holds the lock. Nothing is repaired yet: see `reseal`.

    Raises:
        CorruptStore: See `scan`; also an unknown `FORMAT` or a missing journal. No byte was changed.
        StoreUnavailable: The directory holds something else, or a name in it is not safe to open.
        OSError: A call failed; the store is as good as before.

    Source: store.md section 4.
    """
    if is_unused(directory):
        create(directory)
    journals = open_journals(directory)
    try:
        evidence = prove(directory, journals)
        # A start that was killed may have given names and not made them durable. Nothing is built on those.
        directory.sync()
        journals.sync()
    except BaseException:
        journals.close()
        raise
    return evidence, journals


def reseal(journals: Directory, evidence: Evidence) -> Scan:
    """Put a copy of the journal, without its torn tail, into a new inode, unless its last owner sealed it.

    That also rescues what a failed sync left in the kernel's cache alone.

    Returns:
        What the journal proves then.

    Raises:
        OSError: A call failed; the store is as good as before.
    """
    if evidence.proven.sealed:
        return evidence.proven
    content = evidence.content[: evidence.proven.end]
    journals.write_file(evidence.name, content)
    return evidence.proven._replace(length=len(content))


def read_view(directory: Directory) -> View:
    """Return the view of a store that nobody writes to meanwhile, without writing.

    A torn tail is ignored; it stays for the next owner to cut.

    Raises:
        CorruptStore, StoreUnavailable, OSError: As for `recover`.
    """
    if is_unused(directory):
        return View()
    with open_journals(directory) as journals:
        return prove(directory, journals).view


def prove(directory: Directory, journals: Directory) -> Evidence:
    """Return what the newest journal and the streams that it goes on from prove.

    Raises:
        CorruptStore, OSError: As for `recover`.
    """
    name = current_journal(journals)
    file = f"{JOURNAL_DIRECTORY}/{name}"
    content = journals.read(name) or b""
    proven = scan(content, file=file)
    if proven.catalogue.journal != number_of(name):
        raise corrupt(f"the content is that of journal {proven.catalogue.journal}: an older copy", file, 0)
    base = load_view(directory, proven.catalogue, first_sequence=proven.first_sequence)
    view = replay(base, proven.groups, file=file)
    return Evidence(name, content, proven, without_the_future(view, proven.catalogue))


def without_the_future(view: View, catalogue: Catalogue) -> View:
    """Return the view without streams that cover more than the ledger has: what they include is lost or was never."""
    ahead = {
        row.identity: Damage(row.file, f"it covers entry {scope.touched}, and the ledger ends with {view.sequence}")
        for row in catalogue.streams
        if (scope := view.scopes.get(row.identity)) and scope.touched > view.sequence
    }
    if not ahead:
        return view
    scopes = {identity: scope for identity, scope in view.scopes.items() if identity not in ahead}
    return replace(view, scopes=scopes, damaged={**view.damaged, **ahead})


def replay(base: View, groups: Iterable[Record], *, file: str) -> View:
    """Return the view that the groups of a journal lead to from `base`. Decides nothing: entries say what happened.

    Raises:
        CorruptStore: An entry that cannot be applied.
    """
    draft = Draft(base)
    for group in groups:
        for sequence, entry in enumerate(entries(group, file=file), group.sequence):
            try:
                draft.apply(from_entry(entry), at=entry["at"], sequence=sequence)
            except CorruptStore as error:
                raise corrupt(str(error), file, group.start) from error
            except Exception as error:
                # Whatever is wrong with it, its checksum says that we wrote it so.
                raise corrupt(f"entry {sequence} cannot be replayed", file, group.start) from error
    return draft.finish()


def is_unused(directory: Directory) -> bool:
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
    ours = {LOCK_NAME, STARTER_LOCK_NAME, RESERVE_NAME, JOURNAL_DIRECTORY, FORMAT_NAME + TEMPORARY_SUFFIX}
    if foreign := set(directory.names()) - ours:
        raise StoreUnavailable(
            f"{directory.path} is not a store and not empty (it holds {min(foreign)!r}); "
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
        names = set(journals.names()) - {FIRST_JOURNAL + TEMPORARY_SUFFIX}
        if names and (names != {FIRST_JOURNAL} or journals.read(FIRST_JOURNAL) != FRESH_JOURNAL):
            raise CorruptStore(
                f"{directory.path / FORMAT_NAME} is missing beside a journal that was in use; "
                "restore the file or the whole directory from a copy; nothing was changed",
                file=FORMAT_NAME,
                offset=0,
            )


def create(directory: Directory, journal: bytes = FRESH_JOURNAL) -> None:
    """Make a store whose checkpoints are there. `FORMAT` comes last: it promises that the rest is there.

    Args:
        directory: Where, and empty but for the checkpoints.
        journal: Its first journal; by default that of an empty store.

    Raises:
        OSError: A call failed.
    """
    directory.sync_parents()
    with directory.subdirectory(JOURNAL_DIRECTORY, create=True) as journals:
        journals.write_file(FIRST_JOURNAL, journal)
    directory.write_file(FORMAT_NAME, FORMAT_CONTENT)


def open_journals(directory: Directory) -> Directory:
    """Return the directory of the journals; a store in use has one."""
    try:
        return directory.subdirectory(JOURNAL_DIRECTORY)
    except FileNotFoundError as error:
        raise _missing(JOURNAL_DIRECTORY) from error


def current_journal(journals: Directory) -> str:
    """Return the name of the newest journal: it got it after all that it goes on from was durable."""
    names = [name for name in journals.names() if name.endswith(JOURNAL_SUFFIX)]
    if others := [name for name in names if not _JOURNAL_NAME.fullmatch(name)]:
        raise corrupt("a journal that this version does not know", f"{JOURNAL_DIRECTORY}/{others[0]}", 0)
    if not names:
        raise _missing(f"the journal in {JOURNAL_DIRECTORY}")
    return names[-1]


def successor_of(name: str) -> str:
    """Return the name of the journal after `name`.

    >>> successor_of("000001.log")
    '000002.log'
    """
    return f"{number_of(name) + 1:06}{JOURNAL_SUFFIX}"


def number_of(name: str) -> int:
    """Return the number of a journal."""
    return int(name.removesuffix(JOURNAL_SUFFIX))


def _missing(name: str) -> CorruptStore:
    return CorruptStore(
        f"{name} is missing though the store was in use; restore the whole directory from a copy",
        file=JOURNAL_DIRECTORY,
        offset=0,
    )
