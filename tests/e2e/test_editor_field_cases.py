"""Field cases as editors see them, for each way of counting characters and each way of sending edits, over a bridge.

Each test or class is the list of what `expect.md` of its case says MUST be of an editor.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from field_goal import FIELD_CASES, case_file, demand_pending
from typist import Client, Typist, lines_of, problems_of

from editor import save
from wire import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from field_goal import GoalOf
    from typist import Message

    from wire import Daemon

CLIENTS: Final = [
    Client(encoding, whole=whole, pulls=whole and encoding == "utf-16")
    for encoding in ("utf-8", "utf-16", "utf-32")
    for whole in (False, True)
]
FILES: Final = sorted(
    f"{path.parent.name[:2]}/{path.stem}"
    for path in FIELD_CASES.glob("*/*.md")
    if path.stem != "expect" and path.parent.name[:2] not in ("15", "23")
)
# What fifty edits of the huge file may leave behind: some twenty times its size, where each kept text would be one.
MEMORY_KIB: Final = 8 * 1024
WAVE: Final = "\N{WATER WAVE}"


@pytest.fixture(scope="module", params=CLIENTS, ids=str)
def typist(request: pytest.FixtureRequest, shared: Daemon) -> Iterator[Typist]:
    """An editor of each kind; it works through a bridge, and with no folder."""
    with shared.bridge() as wire:
        yield Typist(wire, request.param)


@pytest.fixture
def uri(tmp_path: Path) -> str:
    """The document of this test."""
    return (tmp_path / "ACTIVE_GOAL_STATE.md").as_uri()


def text_of(file: str) -> str:
    """Return the text of a file as an editor has it: by the number of its case and its name."""
    case, _, name = file.partition("/")
    return case_file(case, name or "input").decode().removeprefix("\ufeff")


def at(typist: Typist, uri: str, code: str) -> list[tuple[int, str]]:
    """Return line, from 0, and covered text of the diagnostics of a code."""
    text = typist.texts[uri]
    return [
        (len(lines_of(text[: told.place[0]])) - 1, text[slice(*told.place)])
        for told in typist.told(uri)
        if told.code == code
    ]


def mends(action: Message, item: Message) -> bool:
    """Tell whether an action is the fix of a diagnostic; others may be for others at the same place."""
    return [(each["code"], each["range"]) for each in action.get("diagnostics", ())] == [(item["code"], item["range"])]


def fix(typist: Typist, uri: str, code: str, number: int = 0) -> None:
    """Apply the quick fix of a diagnostic, and see the diagnostic gone."""
    found = [each for each in typist.items(uri) if each["code"] == code]
    [action] = [each for each in typist.actions(uri, found[number]) if mends(each, found[number])]
    assert typist.apply(action["edit"])
    assert len(at(typist, uri, code)) == len(found) - 1


def test_each_document_is_shown_as_a_fresh_reading_finds_it(typist: Typist, tmp_path: Path) -> None:
    """All cases: each problem on its own characters; after an edit on the first line, and when that is taken back."""
    documents = {(tmp_path / file / "ACTIVE_GOAL_STATE.md").as_uri(): text_of(file) for file in FILES}
    for uri, text in documents.items():
        typist.open(uri, text)
        typist.edit(uri, ((0, 0), f"{WAVE}\n"))
    assert {uri: typist.told(uri) for uri in documents} == {
        uri: problems_of(f"{WAVE}\n{text}") for uri, text in documents.items()
    }
    for uri in documents:
        typist.edit(uri, ((0, 2), ""))
    assert {uri: typist.told(uri) for uri in documents} == {uri: problems_of(text) for uri, text in documents.items()}
    for uri in documents:
        typist.close(uri)


def test_02_the_fence_that_hides_the_todos_is_shown(typist: Typist, uri: str) -> None:
    """SF-012: a place to look, beside "your todos are missing"."""
    typist.open(uri, text_of("02"))

    assert [line for line, _ in at(typist, uri, "unclosed_fence")] == [11]
    assert at(typist, uri, "missing_todo_sections")
    assert at(typist, uri, "missing_next_action")


def test_05_a_wrapped_comment_is_covered_and_can_be_joined(typist: Typist, uri: str) -> None:
    typist.open(uri, text_of("05/wrapped-comment"))
    [(line, covered)] = at(typist, uri, "metadata_wrapped")
    assert (line, covered.count("\n")) == (10, 1)
    assert covered.strip().startswith("<!--")
    assert covered.endswith("-->")
    assert any("one line" in told.message for told in typist.told(uri) if told.code == "metadata_wrapped")

    fix(typist, uri, "metadata_wrapped")
    assert "todo_id=todo_valve" in next(line for line in lines_of(typist.texts[uri]) if "claimed_by" in line)
    typist.edit(uri, ((0, len(typist.texts[uri])), text_of("05/loose-list")))
    assert typist.told(uri) == []


def test_06_metadata_behind_text_moves_to_its_own_line(typist: Typist, uri: str) -> None:
    typist.open(uri, text_of("06"))
    assert [line for line, _ in at(typist, uri, "metadata_on_task_line")] == [9, 10]

    fix(typist, uri, "metadata_on_task_line")
    fix(typist, uri, "metadata_on_task_line")
    assert "- [ ] [P1] Scan the alto folders.\n  <!-- loopx:todo todo_id=todo_alto" in typist.texts[uri]
    assert at(typist, uri, "implicit_todo_ids") == []


def test_08_each_occurrence_of_an_id_leads_to_the_other(typist: Typist, uri: str) -> None:
    typist.open(uri, text_of("08"))
    text = typist.texts[uri]
    found = [told for told in typist.told(uri) if told.code == "duplicate_todo_ids"]

    assert [text[slice(*told.place)] for told in found] == ["todo_yarn", "todo_warp", "todo_yarn", "todo_warp"]
    assert [told.related for told in found] == [(found[other].place,) for other in (2, 3, 0, 1)]


def test_13_separators_of_unicode_move_no_line(typist: Typist, uri: str) -> None:
    typist.open(uri, text_of("13"))

    [(line, covered)] = at(typist, uri, "implicit_todo_ids")
    assert line == 13
    assert covered == lines_of(typist.texts[uri])[13].rstrip()


def test_14_a_mark_before_the_text_is_no_change_of_it(typist: Typist, goal_of: GoalOf) -> None:
    """The editor's text has none, and it is the file all the same: nothing is in the way of an agent (LX-084)."""
    marked = case_file("14")
    goal = goal_of(marked)
    uri = goal.path.as_uri()
    typist.open(uri, marked.decode().removeprefix("\ufeff"))
    assert typist.told(uri) == []

    [todo] = goal.todos()
    assert goal.call("todo_update", todo_id=todo, note="seen")["changed"]
    assert goal.content.startswith("\ufeff---\n".encode())
    assert goal.content.count("\ufeff".encode()) == 1

    typist.edit(uri, ((0, typist.texts[uri].index("# ")), ""))
    assert [(told.code, told.place[0]) for told in typist.told(uri) if told.place[0] == 0] == [
        ("missing_frontmatter", 0)
    ]
    typist.close(uri)


def test_16_blocks_that_are_no_frontmatter_are_shown(typist: Typist, uri: str) -> None:
    typist.open(uri, text_of("16/two-blocks"))
    assert [line for line, _ in at(typist, uri, "second_frontmatter_block")] == [4]

    typist.edit(uri, ((0, len(typist.texts[uri])), text_of("16/never-closed")))
    assert [line for line, _ in at(typist, uri, "unterminated_frontmatter")] == [0]


def test_17_each_box_that_is_none_is_shown(typist: Typist, uri: str) -> None:
    typist.open(uri, text_of("17"))
    hinted = [lines_of(typist.texts[uri])[line].rstrip() for line, _ in at(typist, uri, "not_a_todo_marker")]
    (conflict, covered), *more = at(typist, uri, "marker_status_conflict")

    assert len(hinted) == 8
    assert hinted[0].startswith("- [~]")
    assert (lines_of(typist.texts[uri])[conflict], covered, more) == (
        "- [ ] ticked by hand, metadata not updated\n",
        "[ ]",
        [],
    )


def test_19_a_merge_is_shown_where_it_begins(typist: Typist, uri: str) -> None:
    typist.open(uri, text_of("19"))
    [(line, _)] = at(typist, uri, "conflict_marker")

    assert lines_of(typist.texts[uri])[line].startswith("<<<<<<<")
    assert "unresolved merge" in next(told.message for told in typist.told(uri) if told.code == "conflict_marker")
    assert at(typist, uri, "duplicate_todo_ids")


@pytest.mark.parametrize("file", sorted(file for file in FILES if file.startswith("25/") and file != "25/ok"))
def test_25_the_damaged_marker_is_shown(typist: Typist, uri: str, file: str) -> None:
    """Role, line and what was expected: this is the state that people have to repair by hand."""
    typist.open(uri, text_of(file))
    errors = [told for told in typist.told(uri) if told.severity == 1]
    places = [lines_of(typist.texts[uri][: told.place[0]]) for told in errors]

    assert any(
        "loopx:todo-region" in lines_of(typist.texts[uri])[len(before) - 1]
        and ("agent" in told.message or "user" in told.message)
        and ("expected" in told.message or "put" in told.message)
        for told, before in zip(errors, places, strict=True)
    )


def test_26_what_was_typed_into_a_section_can_move_out_and_become_a_todo(typist: Typist, goal_of: GoalOf) -> None:
    """LX-069: both lines are shown, each with a fix, and neither text is lost."""
    goal = goal_of(case_file("27"))
    goal.promote()
    goal.save(case_file("26"))
    uri = goal.path.as_uri()
    typist.open(uri, text_of("26"))
    note, row = "Anna says the 50 mm one, see photo.", "- [ ] [P2] also clean the bench (typed by a human)"
    shown = {line: item for item in typist.items(uri) if (line := item["range"]["start"]["line"]) in (11, 18)}
    assert [lines_of(typist.texts[uri])[line].rstrip() for line in sorted(shown)] == [note, row]

    [moves] = [action for action in typist.actions(uri, shown[11]) if "edit" in action]
    assert typist.apply(moves["edit"])
    assert f"role=user end -->\n\n{note}\n" in typist.texts[uri]
    [line] = [number for number, line in enumerate(lines_of(typist.texts[uri])) if line.rstrip() == row]
    typed = next(item for item in typist.items(uri) if item["range"]["start"]["line"] == line)
    [takes] = [action["command"] for action in typist.actions(uri, typed) if "command" in action]
    typist.ask("workspace/executeCommand", command=takes["command"], arguments=takes["arguments"])
    typist.until(lambda: row not in typist.texts[uri])
    assert "[P2] also clean the bench (typed by a human)" in [todo["text"] for todo in goal.todos().values()]

    goal.save(typist.texts[uri])
    typist.saved(uri)
    wait_for(lambda: goal.display["state"] == "current")
    assert note in goal.content.decode()
    assert "also clean the bench (typed by a human)" in goal.content.decode()
    typist.close(uri)


def test_40_each_bad_value_is_shown_on_its_own_characters(typist: Typist, uri: str) -> None:
    typist.open(uri, text_of("40"))
    covered = {
        code: [text for _, text in at(typist, uri, code)]
        for code in ("invalid_todo_id", "normalised_value", "invalid_metadata_value", "repeated_metadata_key")
    }

    assert covered == {
        "invalid_todo_id": ["todo_ab", "T-14", '"todo_quoted"'],
        "normalised_value": ["todo_Lever_3", "Agent_Zed"],
        "invalid_metadata_value": ["in_progress", "100%zz%E6"],
        "repeated_metadata_key": ["todo_id=todo_first_id", "todo_id=todo_meta_a"],
    }
    assert at(typist, uri, "implicit_todo_ids")


class TestPositions:
    """36: emoji and Chinese text before what is edited and what is shown. LX-082."""

    def test_each_version_is_the_text_of_the_editor(self, typist: Typist, uri: str) -> None:
        typist.open(uri, text_of("36"))
        row = f"- [ ] [P1] {WAVE}{WAVE} \u6838\u5bf9 port list"
        assert [line for line, _ in at(typist, uri, "duplicate_todo_ids")] == [11, 13]
        assert at(typist, uri, "implicit_todo_ids") == [(9, row)]
        [item] = [each for each in typist.items(uri) if each["code"] == "implicit_todo_ids"]
        assert item["range"]["end"]["character"] == {"utf-8": 36, "utf-16": 28, "utf-32": 26}[typist.client.encoding]

        end = typist.texts[uri].index(row) + len(row)
        typist.edit(uri, ((end, end), "\n  <!-- loopx:todo todo_id=todo_port status=open -->"))
        assert at(typist, uri, "implicit_todo_ids") == []
        wave = typist.texts[uri].index(WAVE)
        typist.edit(uri, ((wave, wave + 1), ""), ((wave, wave + 1), "\u6f6e"))
        assert lines_of(typist.texts[uri])[9] == "- [ ] [P1] \u6f6e \u6838\u5bf9 port list\n"
        assert typist.told(uri) == problems_of(typist.texts[uri])
        [symbol] = [each for each in symbols(typist, uri) if "port list" in each["name"]]
        assert typist.texts[uri][slice(*typist.span(typist.texts[uri], symbol["selectionRange"]))].endswith("port list")

    def test_a_character_beyond_the_end_of_a_line_is_its_end(self, typist: Typist, uri: str) -> None:
        typist.open(uri, text_of("36"))
        typist.edit_at(uri, 9, 999, "\n  <!-- loopx:todo todo_id=todo_port status=open -->")

        assert typist.told(uri) == problems_of(typist.texts[uri])
        assert at(typist, uri, "implicit_todo_ids") == []

    def test_no_version_comes_after_a_newer_one(self, typist: Typist, uri: str) -> None:
        typist.open(uri, text_of("36"))
        for _ in range(20):
            typist.edit(uri, ((len(typist.texts[uri]),) * 2, "x"))
        typist.told(uri)

        versions = [each["version"] for each in typist.published if each["uri"] == uri]
        assert versions == sorted(set(versions))


class TestSaves:
    """37: saved by rename, twice; deleted; moved. DM-007."""

    BAD: Final = case_file("37", "bad")
    GOOD: Final = case_file("37", "good")
    SAME_SIZE: Final = case_file("37", "bad-same-size-as-good")

    def test_what_is_read_and_what_is_shown_is_on_disk(self, typist: Typist, daemon: Daemon) -> None:
        folder = daemon.cwd.resolve() / "goals"
        folder.mkdir()
        path = folder / "ACTIVE_GOAL_STATE.md"
        uri = path.as_uri()
        path.write_bytes(self.BAD)
        with daemon.agent() as agent, daemon.bridge() as wire:
            watching = Typist(wire, typist.client, daemon.cwd.resolve())

            def demand(content: bytes) -> float:
                """Check that it is read at once, and shown without a word of the client; return in how many seconds."""
                since = time.monotonic()
                read = agent.call("goal_diagnostics", {"path": str(path)})["items"]
                wanted = sorted(told.code for told in problems_of(content.decode()))
                assert sorted(item["code"] for item in read) == wanted
                watching.until(lambda: sorted(watching.shown_codes(uri)) == wanted)
                return time.monotonic() - since

            demand(self.BAD)
            took = []
            for content in (self.GOOD, self.BAD, self.GOOD, self.BAD):
                save(path, content)
                took.append(demand(content))
            # A busy machine delays one, and not all of them.
            assert min(took) < 1
            path.rename(folder / "away.md")
            watching.until(lambda: watching.shown_codes(uri) == [])
            assert not path.exists()
            path.write_bytes(self.GOOD)
            demand(self.GOOD)
            before = path.stat()
            path.write_bytes(self.SAME_SIZE)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            demand(self.SAME_SIZE)
            path.unlink()
            watching.until(lambda: watching.shown_codes(uri) == [])
            path.write_bytes(self.BAD)
            demand(self.BAD)
            folder.rename(daemon.cwd / "elsewhere")
            watching.until(lambda: watching.shown_codes(uri) == [])
            (daemon.cwd / "elsewhere").rename(folder)
            demand(self.BAD)
            path.unlink()
            path.write_bytes(self.GOOD)
            demand(self.GOOD)


def test_38_unsaved_text_and_a_commit_do_not_meet(typist: Typist, goal_of: GoalOf) -> None:
    """LX-084, LX-087: the sections are offered as an edit, the typed paragraph stays, and nothing is reopened."""
    goal = goal_of(case_file("38", "disk"))
    goal.promote()
    goal.save(case_file("38", "disk"))
    uri = goal.path.as_uri()
    typist.open(uri, text_of("38/disk"))
    typist.edit(uri, ((0, len(typist.texts[uri])), text_of("38/buffer")))
    paragraph = "Unsaved paragraph the human is typing right no"
    shown = {told.place for told in typist.told(uri)}
    assert {told.place for told in problems_of(typist.texts[uri])} <= shown
    revision = int(goal.revision.rpartition(":")[2])

    answer = goal.call("todo_complete", todo_id="todo_grind", agent_id="agent-a")
    demand_pending(answer, "todo_projection_buffer_dirty")
    assert goal.content == case_file("38", "disk")
    typist.until(lambda: "- [x] [P1] Grind it." in typist.texts[uri])
    assert paragraph in typist.texts[uri]

    # The editor writes the text without the tick over the file.
    goal.save(case_file("38", "buffer"))
    typist.edit(uri, ((0, len(typist.texts[uri])), text_of("38/buffer")))
    typist.saved(uri)
    wait_for(lambda: goal.display["state"] == "current")
    assert "- [x] [P1] Grind it." in goal.content.decode()
    assert paragraph in goal.content.decode()
    assert goal.todos()["todo_grind"]["status"] == "done"
    assert int(goal.revision.rpartition(":")[2]) == revision + 1
    typist.close(uri)


class TestHugeFile:
    """23: 1500 todos. LX-074."""

    def test_fifty_quick_edits_are_shown_as_they_are(self, typist: Typist, goal_of: GoalOf, daemon: Daemon) -> None:
        """The last one is, older ones may be skipped, none comes after a newer one; and memory stays flat."""
        goal = goal_of(case_file("23"))
        uri = goal.path.as_uri()
        typist.open(uri, text_of("23"))
        typist.told(uri)

        def type_one() -> None:
            end = typist.texts[uri].index("\n  <!-- loopx:todo todo_id=todo_s0750")
            typist.edit(uri, ((end, end), WAVE))

        for _ in range(10):
            type_one()
        typist.told(uri)
        before_kib = memory_kib(daemon)
        for _ in range(50):
            type_one()
        assert memory_kib(daemon) < before_kib + MEMORY_KIB
        assert typist.told(uri) == problems_of(typist.texts[uri])
        versions = [each["version"] for each in typist.published if each["uri"] == uri]
        assert versions == sorted(set(versions))

        listed = goal.call("todo_list", role="agent", status="open")
        assert len(listed["todos"]) == 304
        typist.close(uri)
        before = goal.content
        goal.call("todo_complete", todo_id="todo_s0750", agent_id="agent-a")
        gone, come = goal.lines_that_differ(before)
        assert len(gone) <= 2
        assert all(b"frame 750" in line or b"todo_s0750" in line for line in [*gone, *come])


def symbols(typist: Typist, uri: str) -> list[Message]:
    """Return all symbols of the outline, in one list."""
    found: list[Message] = []
    waiting = typist.ask("textDocument/documentSymbol", textDocument={"uri": uri})
    while waiting:
        found.append(waiting.pop(0))
        waiting = [*found[-1].get("children", []), *waiting]
    return found


def memory_kib(daemon: Daemon) -> int:
    """Return the memory that a daemon has in use."""
    [line] = [line for line in Path(f"/proc/{daemon.pid}/status").read_text("ascii").splitlines() if "VmRSS" in line]
    return int(line.split()[1])


def wait_for(condition: Callable[[], bool]) -> None:
    """Ask until it is so."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
