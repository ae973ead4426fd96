"""protocol.md sections 4 and 6: what the command line makes of its surroundings, and of examples in refusals."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import stateward
from stateward_daemon.cli import main
from stateward_daemon.cli.refusals import print_refusal
from stateward_daemon.cli.verbs import VERBS
from stateward_protocol.errors import WireError
from stateward_protocol.methods import METHODS

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]


class TestStandardOutput:
    """A full disk or a closed stream is the environment's, and is told in one line."""

    COMMANDS = (["--version"], ["--help"], ["read", "--help"], ["where"], ["where", "--json"])

    @pytest.mark.parametrize("arguments", COMMANDS)
    @pytest.mark.parametrize(
        ("redirection", "reason"), [(">/dev/full", errno.ENOSPC), (">&-", errno.EBADF), ("<&- >&-", errno.EBADF)]
    )
    def test_what_cannot_be_written_is_an_outage(self, arguments: list[str], redirection: str, reason: int) -> None:
        ended = shell(redirection, *arguments)

        assert ended.returncode == 3
        assert ended.stderr == f"stateward: standard output cannot be written: {os.strerror(reason)}\n"

    def test_an_answer_of_many_blocks_is_no_different(self, folder: Path) -> None:
        (folder / "goal.md").write_text("## Agent Todo\n" + "- [ ] x\n" * 2_000)
        ended = shell(">/dev/full", "goal", "check", str(folder / "goal.md"))

        assert ended.returncode == 3
        assert ended.stderr == f"stateward: standard output cannot be written: {os.strerror(errno.ENOSPC)}\n"

    @pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
    def test_a_note_that_nobody_hears_does_not_end_a_verb(self, folder: Path, redirection: str) -> None:
        ended = shell(redirection, "daemon", "stop", "--store", str(folder / "store"))

        assert (ended.returncode, ended.stdout) == (0, "")

    def test_what_was_printed_comes_before_a_note_in_one_file(self, folder: Path) -> None:
        (folder / "goal.md").write_text("## Agent Todo\n- [ ] x\n")
        lines = shell("2>&1", "goal", "check", str(folder / "goal.md")).stdout.splitlines()

        assert lines[-1] == "3 warnings in 1 file; 1 can be fixed with --fix"


def shell(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "stateward_daemon", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# A verb, the example of its refusal, and the command that stands for it.
EXAMPLES: list[tuple[str, Any, str | None]] = [
    ("read", {"path": "cwd.tactics"}, "stateward read cwd.tactics"),
    ("read", {"paths": ["cwd.a", "cwd.b[0]"]}, "stateward read cwd.a 'cwd.b[0]'"),
    ("browse", {"path": "cwd", "projection": "keys"}, "stateward browse cwd"),
    ("browse", {"path": "cwd", "projection": "value"}, "stateward read cwd --projection value"),
    ("patch", {"cwd": {"tactics": {"a": 1}}}, """stateward patch '{"cwd": {"tactics": {"a": 1}}}'"""),
    ("patch", {"tactics": {"a": 1}}, """stateward patch '{"tactics": {"a": 1}}'"""),
    ("configure", {"history_limit": 7}, "stateward configure --history-limit 7"),
    ("where", "stateward daemon restart", "stateward daemon restart"),
    ("daemon start", "STATEWARD_SOCKET=/run/s.sock", "STATEWARD_SOCKET=/run/s.sock"),
    # Params of `attach`, of another method, a value, and text: no verb can say them.
    *((verb, METHODS["attach"].example, None) for verb in ("read", "patch", "browse", "configure", "import", "status")),
    ("read", {"cwd": "/home/ada/project"}, None),
    ("patch", {"cwd": "/home/ada/project"}, None),
    ("patch", {}, None),
    ("patch", ["the whole", "new array"], None),
    ("import", {"scopes": {"cwd": {"tactics": {"a": 1}}}}, None),
    ("read", "Content-Length: 42", None),
]


@pytest.mark.parametrize(("verb", "example", "command"), EXAMPLES)
def test_an_example_is_a_command_or_left_out(capsys: Capture, verb: str, example: Any, command: str | None) -> None:
    text = example if isinstance(example, str) else json.dumps(example)
    print_refusal(WireError("invalid_request", "no", example=text), VERBS[verb], as_json=False)

    assert capsys.readouterr().err == "stateward: no\n" + (f"  example: {command}\n" if command else "")


def test_a_session_that_is_none_is_told_without_an_expression(capsys: Capture, folder: Path) -> None:
    status = main(["read", "cwd", "--session", "two words", "--embedded", "--store", str(folder / "store")])

    assert status == 1
    assert capsys.readouterr().err == (
        "stateward: --session: expected string of letters, digits and . _ : - (at most 128)\n  got: 'two words'\n"
    )


class TestWithoutADaemon:
    """In this process nobody has opened the store to write yet, and that is no fault."""

    def test_status_says_that_no_daemon_runs(self, capsys: Capture, folder: Path) -> None:
        assert main(["status", "--embedded", "--store", str(folder / "store")]) == 0
        said = capsys.readouterr().out

        assert "writer        no daemon runs; a mutation opens the store when it comes\n" in said
        assert "pid           -\n" in said

    def test_as_json_it_is_well(self, capsys: Capture, folder: Path) -> None:
        for verb in ("status", "state-status"):
            assert main([verb, "--embedded", "--json", "--store", str(folder / "store")]) == 0
            assert json.loads(capsys.readouterr().out)["writer"] == {"ok": True, "reason": None}

    def test_in_a_place_that_cannot_be_written_it_is_not(
        self, capsys: Capture, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / "store").mkdir(mode=0o700)
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert main(["state-status", "--embedded", "--store", str(folder / "store")]) == 0

        assert "writer      not ok: the directory of the store cannot be written\n" in capsys.readouterr().out


class TestInAReadOnlyPlace:
    """No daemon can be started there; what is stored can be read all the same."""

    @pytest.fixture
    def store(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A store with a state, where files can be opened to read only."""
        store = folder / "store"
        with stateward.connect(store=store, start="embedded") as client:
            client.patch_state({"global": {"tactics": {"next": "go"}}})
        opening = os.open

        def refuse_writing(path: Any, flags: int, *more: Any, **named: Any) -> int:
            if str(path).startswith(str(store)) and flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))
            return opening(path, flags, *more, **named)

        monkeypatch.setattr(os, "open", refuse_writing)
        return store

    @pytest.mark.parametrize(
        ("verb", "found"),
        [
            (["read", "global.tactics.next"], '"go"\n'),
            (["browse", "global"], "global  object of 1\n"),
            (["state-status"], "G1/"),
            (["status"], "sequence      1\n"),
            (["sessions"], "stateward-cli"),
            (["export", "-"], '"next": "go"'),
        ],
    )
    def test_verbs_that_read_work_in_process_and_say_so(
        self, capsys: Capture, store: Path, verb: list[str], found: str
    ) -> None:
        status = main([*verb, "--store", str(store)])
        said = capsys.readouterr()

        assert status == 0, said.err
        assert found in said.out
        if verb[0] != "export":
            note = "note: the store cannot be written (Read-only file system); working in this process\n"
            assert said.err.startswith(note)

    @pytest.mark.parametrize(
        "verb", [["patch", '{"global": {"tactics": {"a": 1}}}'], ["configure", "--history-limit", "3"]]
    )
    def test_verbs_that_write_are_refused(self, capsys: Capture, store: Path, verb: list[str]) -> None:
        assert main([*verb, "--store", str(store)]) == 3
        said = capsys.readouterr()

        assert said.out == ""
        assert said.err.startswith("stateward: the store cannot be written (Read-only file system); choose another\n")
        assert "reason_code: read_only" in said.err
