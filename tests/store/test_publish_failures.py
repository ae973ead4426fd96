"""Every call of a publication fails, or is the last one of its process: a document is never half of anything."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

import pytest

from stateward_engine.errors import NotPublished
from stateward_engine.store.publish_file import create_file
from store.planted_calls import Calls, Killed, failing, killing, once
from store.publications import ERRORS, names, publish, refused, replace_save, to

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class TestFailures:
    """Each call fails once, with each error: old bytes or new ones, never a half, nothing left, and a refusal."""

    @pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
    def test_replace(self, document: Path, number: int) -> None:
        os.setxattr(document, "user.stateward.test", b"kept")
        last = sweep(lambda: publish(document, to(b"new\n")), document, b"old\n", number)
        assert last > 40

    @pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
    def test_current(self, document: Path, number: int) -> None:
        sweep(lambda: publish(document, to(b"old\n")), document, b"old\n", number)

    @pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
    def test_create(self, document: Path, number: int) -> None:
        sweep(lambda: create_file(document, b"new\n"), document, None, number)

    def test_a_short_write_is_found_before_anything_is_replaced(
        self, document: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as lying:
            lying.setattr(os, "pwrite", lambda _, data, __: len(data))
            refused(document, "document_write_failed")

        assert document.read_bytes() == b"old\n"
        assert names(document.parent) == ["GOAL.md"]


def sweep(call: Callable[[], object], document: Path, old: bytes | None, number: int) -> int:
    """Let each call of a publication fail in turn, until one finishes without meeting its fault."""
    for at in range(300):
        if old is None:
            document.unlink(missing_ok=True)
        else:
            document.write_bytes(old)
        calls = Calls(once(at, failing(number), but_not={"sleep", "close what was read"}))
        outcome = ""
        with calls.watched():
            try:
                call()
            except NotPublished as refusal:
                outcome = str(refusal.facts["outcome"])
        found = document.read_bytes() if document.exists() else None
        where = f"call {at}, {calls.names[at : at + 1]}"
        match outcome:
            case "refused":
                assert found == old, where
            case "unknown":
                assert found in (old, b"new\n"), where
            case _:
                assert found in (b"new\n", old) if old == b"old\n" else found == b"new\n", where
        if at < len(calls.names) and calls.names[at] in ("unlink", "stat", "open", "fstat", "listxattr", "getxattr"):
            # What could not be removed or looked at is left to the next publication.
            publish(document, to(b"old\n")) if document.exists() else create_file(document, b"old\n")
        assert names(document.parent) == (["GOAL.md"] if document.exists() else []), where
        if at >= len(calls.names):
            return at
    pytest.fail("a publication does not come to an end")


class TestCrash:
    """Killed before each call: the document is old or new, and the next publication clears up."""

    def test_replace(self, document: Path) -> None:
        for at in range(300):
            document.write_bytes(b"old\n")
            calls = Calls(killing(at))
            with calls.watched(), contextlib.suppress(Killed):
                publish(document, to(b"new\n"))

            assert document.read_bytes() in (b"old\n", b"new\n")
            assert publish(document, to(b"next\n")).kept == ()
            assert names(document.parent) == ["GOAL.md"]
            if at > len(calls.names):
                return
        pytest.fail("a publication does not come to an end")

    @pytest.mark.parametrize("supported", [True, False])
    def test_create(self, folder: Path, *, supported: bool) -> None:
        path = folder / "GOAL.md"
        for at in range(300):
            path.unlink(missing_ok=True)
            kill = killing(at)

            def before(number: int, called: str, kill: Callable[[int, str], None] = kill) -> None:
                kill(number, called)
                if called == "rename_to_free_name" and not supported:
                    failing(errno.EINVAL)()

            calls = Calls(before)
            with calls.watched(), contextlib.suppress(Killed):
                create_file(path, b"new\n")

            if path.exists():
                assert path.read_bytes() == b"new\n"
                assert publish(path, to(b"next\n")).kept == ()
            else:
                assert create_file(path, b"next\n").kept == ()
            assert names(folder) == ["GOAL.md"]
            if at > len(calls.names):
                return
        pytest.fail("a publication does not come to an end")

    def test_a_save_that_was_out_when_we_were_killed_is_kept_and_named(self, document: Path) -> None:
        exchanges = 0

        def act(_: int, called: str) -> None:
            nonlocal exchanges
            if called == "exchange_names":
                exchanges += 1
                if exchanges == 1:
                    replace_save(document, b"theirs\n")
            if exchanges == 2:
                raise Killed

        with Calls(act).watched(), contextlib.suppress(Killed):
            publish(document, to(b"new\n"))

        for _ in range(2):
            (kept,) = publish(document, to(b"next\n")).kept
            assert (document.parent / kept).read_bytes() == b"theirs\n"

    def test_files_of_others_are_not_ours_to_clear(self, document: Path) -> None:
        theirs = [".stateward-notes", "x.tmp", ".stateward-.hidden"]
        for name in theirs:
            (document.parent / name).write_bytes(b"theirs\n")

        publish(document, to(b"new\n"))

        assert names(document.parent) == sorted(["GOAL.md", *theirs])
