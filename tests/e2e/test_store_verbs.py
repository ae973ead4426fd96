"""`check-store`, `compact`, `doctor` and `reset-scope`, and what a damaged scope is answered, with real daemons."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from wire import Daemon, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Daemon]:
    """A folder whose daemon is started by the test."""
    daemon = Daemon(tmp_path)
    yield daemon
    daemon.run("daemon", "stop")


def checkpoint(place: Daemon, kind: str) -> Path:
    (path,) = (place.store / "streams" / kind).glob("*.json")
    return path


def told(place: Daemon, *words: str) -> Any:
    return json.loads(place.run(*words, "--json").stdout)


@pytest.fixture
def damaged(place: Daemon) -> Daemon:
    """A stopped daemon whose cwd scope is damaged; session s1 is in order."""
    place.run("patch", '{"cwd": {"tactics": {"a": 1}}, "session": {"tactics": {"b": 1}}}', "--session", "s1")
    assert place.run("compact").returncode == 0
    place.run("daemon", "stop")
    checkpoint(place, "cwd").write_bytes(b"{")
    return place


def test_none_of_them_starts_a_daemon_or_makes_a_store(place: Daemon) -> None:
    for verb, status in (("check-store", 3), ("compact", 3), ("doctor", 0)):
        done = place.run(verb)
        assert done.returncode == status, done
        assert not place.store.exists()
    assert "there is no store" in place.run("compact").stderr


def test_compact_works_with_a_daemon_and_without(place: Daemon) -> None:
    place.run("patch", '{"cwd": {"tactics": {"a": 1}}}')
    assert told(place, "compact") == {"streams_written": 1}
    place.run("daemon", "stop")
    assert told(place, "compact") == {"streams_written": 0}
    assert told(place, "read", "cwd.tactics")["value"] == {"a": 1}


def test_check_store_tells_the_streams_with_their_files(place: Daemon) -> None:
    place.run("patch", '{"cwd": {"tactics": {"a": 1}}}')
    busy = place.run("check-store")
    assert busy.returncode == 3
    assert "in use by process" in busy.stderr
    place.run("compact")
    place.run("daemon", "stop")
    found = told(place, "check-store")
    assert found["ok"]
    assert found["faults"] == []
    (stream,) = found["streams"]
    assert (stream["kind"], stream["identity"]["cwd"]) == ("cwd", str(place.cwd.resolve()))
    assert place.store / stream["file"] == checkpoint(place, "cwd")


def test_check_store_names_the_goal_of_a_stream(place: Daemon) -> None:
    place.run("goal", "new", "--goal-id", "looms", "--objective", "Weave", "--register")
    place.run("compact")
    place.run("daemon", "stop")

    (stream,) = told(place, "check-store")["streams"]
    assert (stream["kind"], stream["identity"]) == ("goal", {"goal": "looms"})


def test_a_damaged_scope_is_named_by_every_refusal_and_the_others_are_served(damaged: Daemon) -> None:
    """SF-188, SF-192: a damaged stream fails alone."""
    done = damaged.run("check-store")
    assert done.returncode == 1
    assert "do not fit its digest" in done.stdout
    assert damaged.run("doctor").returncode == 1

    refused = damaged.run("read", "cwd.tactics")
    assert refused.returncode == 3
    command = f"stateward reset-scope cwd --cwd {damaged.cwd.resolve()}"
    for fact in ("streams/cwd/", "do not fit its digest", command):
        assert fact in refused.stderr
    assert told(damaged, "read", "session.tactics", "--session", "s1", "--wanted", "session")["value"] == {"b": 1}
    (scope,) = told(damaged, "status")["damaged"]
    assert (scope["kind"], scope["reason"]) == ("cwd", "its bytes do not fit its digest")
    assert f"the cwd scope of {damaged.cwd.resolve()} (its bytes" in damaged.run("status").stdout
    assert command in damaged.run("doctor").stdout
    assert checkpoint(damaged, "cwd").read_bytes() == b"{"


def test_attach_is_refused_for_a_damaged_scope_alone(damaged: Daemon) -> None:
    with damaged as running, running.connect() as wire:
        with pytest.raises(Refused) as refusal:
            wire.attach(running.cwd, "s1")
        assert refusal.value.category == "corrupt_store"
        assert refusal.value.data["scope"] == "cwd"
        assert wire.attach(running.cwd, "s1", wanted=["global", "session"])["wanted"] == ["global", "session"]
        wire.call("patch_state", {"patch": {"session": {"tactics": {"c": 2}}}})
        gone = wire.call("reset_scope", {"scope": "cwd", "cwd": str(running.cwd)})
        assert gone["gone"]["reason"] == "its bytes do not fit its digest"
        assert wire.attach(running.cwd, "s1")["wanted"] == ["global", "cwd", "session"]
        assert wire.call("read_state", {"path": "effective.tactics"})["value"] == {"b": 1, "c": 2}


def test_reset_scope_shows_what_goes_and_asks(damaged: Daemon) -> None:
    silent = damaged.run("reset-scope", "cwd")
    assert silent.returncode == 2
    assert f"stateward reset-scope cwd --cwd {damaged.cwd.resolve()} --yes" in silent.stderr
    nameless = damaged.run("reset-scope", "session")
    assert (nameless.returncode, "--session s1" in nameless.stderr) == (2, True)
    assert "do not fit its digest" in silent.stdout
    assert damaged.run("read", "cwd").returncode == 3

    assert damaged.run("reset-scope", "cwd", "--yes").stdout == "changed cwd\n"
    assert told(damaged, "read", "cwd")["value"] == {}


@pytest.mark.parametrize(("typed", "status", "left"), [("cwd\n", 0, {}), ("yes\n", 2, {"a": 1})])
def test_reset_scope_takes_the_name_of_the_scope_for_an_answer(
    place: Daemon, typed: str, status: int, left: dict[str, int]
) -> None:
    place.run("patch", '{"cwd": {"tactics": {"a": 1}}}')
    ours, theirs = pty.openpty()
    try:
        os.write(ours, typed.encode())
        done = subprocess.run(
            place.command("reset-scope", "cwd"),
            stdin=theirs, env=place.environment, cwd=place.cwd, capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == status
    assert "cwd.tactics  object of 1" in done.stdout
    assert "Type cwd to go on" in done.stderr
    assert told(place, "read", "cwd.tactics" if left else "cwd")["value"] == left
