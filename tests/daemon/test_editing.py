"""Edits of unpromoted goals on disk: the publication is the commit, and whoever writes meanwhile loses nothing.

Rows LX-046, LX-049 and LX-054 of the features.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from stateward.location import Place
from stateward_daemon import writing
from stateward_daemon.editing import edit
from stateward_daemon.host import Host
from stateward_daemon.settings import Settings
from stateward_engine.authority import commands as c
from stateward_engine.authority.goal import find_goal
from stateward_engine.errors import NotPublished, Overtaken, Refused, UnsafeDocument
from stateward_engine.goals.document import read_bytes, read_document
from stateward_engine.goals.qualification import qualify
from stateward_engine.store.publish_file import publish_file
from stateward_engine.store.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stateward_daemon.unsaved import Held

TEXT = "# Looms\r\n\r\n## Agent Todo\n\n- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n\nprose"
CASES = Path(__file__).parents[1] / "conformance" / "field_cases"


class Desk:
    """A store with one goal, and its document."""

    def __init__(self, place: Path, host: Host) -> None:
        self.path, self.host = place / "goal.md", host
        self.write(TEXT)
        self.host.store.commit_now(c.RegisterGoal("looms", str(self.path), {}, None, "5704e1d5"))

    def write(self, text: str | bytes) -> None:
        self.path.write_bytes(text if isinstance(text, bytes) else text.encode())

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode()

    def complete(self, **members: Any) -> c.CompleteTodo:
        return c.CompleteTodo(**{"goal_id": "looms", "operation_id": "op-1", "todo_id": "todo_one", **members})

    def run(self, command: Any) -> Any:
        """Return what a handler answers that nothing disturbs."""
        due = edit(self.host, command)
        return self.host.store.commit_now(due).receipt if isinstance(due, c.RecordEdit) else due

    def promote(self) -> None:
        report = qualify(read_document(self.text))
        shadow: dict[str, Any] = {"records": report.records, "source_sha256": report.source_sha256}
        self.host.store.commit_now(c.BootstrapShadow(goal_id="looms", operation_id="boot", **shadow))
        self.host.store.commit_now(
            c.PromoteGoal(goal_id="looms", operation_id="go", source_sha256=report.source_sha256)
        )


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_store(tmp_path / "store", any_file_system=True) as store:
        yield Desk(tmp_path, Host(store=store, place=Place(tmp_path / "store"), settings=Settings()))


def before_publishing(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Let something happen once between the first decision and the moment at which its bytes are put in."""
    left = [happens]

    def publish(path: Path, merge: Callable[[bytes], bytes]) -> Any:
        def disturbed(data: bytes) -> bytes:
            merged = merge(data)
            while left:
                left.pop()()
            return merged

        return publish_file(path, disturbed)

    monkeypatch.setattr(writing, "publish_file", publish)


def test_an_edit_is_published_and_its_receipt_kept(desk: Desk) -> None:
    answer = desk.run(desk.complete())
    assert answer["status"] == "done"
    assert desk.text.startswith("# Looms\r\n\r\n## Agent Todo\n\n- [x] a\n  <!-- loopx:todo todo_id=todo_one ")
    assert desk.text.endswith(" -->\n\nprose")
    done = desk.path.read_bytes()
    assert edit(desk.host, desk.complete()) == {**answer, "status": "replayed", "changed": False}
    assert desk.path.read_bytes() == done


def test_a_crash_before_the_receipt_is_made_good_by_the_repeat(desk: Desk) -> None:
    """The publication is the commit; the receipt follows."""
    assert isinstance(edit(desk.host, desk.complete()), c.RecordEdit)
    published = desk.text
    assert desk.run(desk.complete())["status"] == "done"
    assert desk.text == published
    assert edit(desk.host, desk.complete())["status"] == "replayed"  # type: ignore[index]


def test_what_somebody_writes_meanwhile_is_what_is_decided_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before_publishing(monkeypatch, lambda: desk.write(desk.text.replace("prose", "other prose")))
    desk.run(desk.complete())
    assert desk.text.endswith("other prose")
    assert read_document(desk.text).todos[0].status == "done"


def test_what_somebody_decides_meanwhile_is_refused_then(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before_publishing(monkeypatch, lambda: desk.write(desk.text.replace("- [ ] a", "- [x] a")))
    with pytest.raises(Refused) as caught:
        desk.run(desk.complete())
    assert caught.value.facts["reason_code"] == "todo_not_open"
    assert desk.text == TEXT.replace("- [ ] a", "- [x] a")


def test_a_goal_that_is_promoted_is_not_edited(desk: Desk) -> None:
    """LX-054: after promotion the document never decides."""
    desk.promote()
    assert edit(desk.host, desk.complete()) is None
    assert desk.text == TEXT


def test_a_goal_that_is_promoted_meanwhile_is_not_edited(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def disturb() -> None:
        desk.promote()
        desk.write(desk.text + " goes on")

    before_publishing(monkeypatch, disturb)
    assert edit(desk.host, desk.complete()) is None
    assert desk.text == TEXT + " goes on"


def test_a_promotion_between_the_publication_and_the_receipt_has_the_mutation_too(desk: Desk) -> None:
    """The ledger decides it then, under the same operation id."""
    due = edit(desk.host, desk.complete())
    assert isinstance(due, c.RecordEdit)
    published = desk.text
    desk.write(TEXT)
    desk.promote()
    desk.write(published)
    answer = desk.host.store.commit_now(due).receipt
    assert (answer["status"], answer["source_authority"]) == ("done", "file_v0")
    assert find_goal(desk.host.store.view, "looms").records["todo_one"]["status"] == "done"
    assert desk.host.store.commit_now(desk.complete()).receipt["status"] == "replayed"


class TestUnsavedChanges:
    """store.md section 5: nothing is written under an editor, whose save would undo what was acknowledged."""

    def typing(self, desk: Desk) -> Held:
        """Open the document in an editor and type."""
        held = cast("Held", SimpleNamespace(is_unsaved=True))
        desk.host.unsaved.open(desk.path, held)
        return held

    @pytest.mark.parametrize("dry_run", [False, True])
    def test_an_edit_waits_for_their_end(self, desk: Desk, dry_run: bool) -> None:
        held = self.typing(desk)
        with pytest.raises(Overtaken) as caught:
            desk.run(desk.complete(dry_run=dry_run))
        assert (caught.value.facts["reason_code"], caught.value.facts["outcome"]) == (
            "document_buffer_dirty",
            "refused",
        )
        assert desk.text == TEXT

        desk.host.unsaved.close(desk.path, held)
        assert desk.run(desk.complete())["status"] == "done"

    def test_they_are_looked_for_at_the_last_moment(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        def disturb() -> None:
            desk.write(TEXT + " goes on")
            self.typing(desk)

        before_publishing(monkeypatch, disturb)
        with pytest.raises(Overtaken) as caught:
            desk.run(desk.complete())
        assert caught.value.facts["reason_code"] == "document_buffer_dirty"
        assert desk.text == TEXT + " goes on"

    def test_what_writes_nothing_is_answered(self, desk: Desk) -> None:
        """A repeat, another reason to refuse, and what is so already."""
        desk.run(desk.complete())
        self.typing(desk)
        assert desk.run(desk.complete())["status"] == "replayed"
        with pytest.raises(Refused) as caught:
            desk.run(desk.complete(operation_id="op-2", todo_id="todo_two"))
        assert caught.value.facts["reason_code"] == "todo_not_found"
        archival = c.ArchiveCompleted(goal_id="looms", operation_id="op-3")
        assert desk.run(archival)["status"] == "no_change"


def test_a_dry_run_and_a_stale_revision_write_nothing(desk: Desk) -> None:
    stat = desk.path.stat()
    assert desk.run(desk.complete(dry_run=True))["status"] == "planned"
    with pytest.raises(Refused) as caught:
        desk.run(desk.complete(expected_provider_revision="file:5704e1d5:7"))
    assert caught.value.facts["reason_code"] == "provider_revision_mismatch"
    assert (desk.text, desk.path.stat()) == (TEXT, stat)


def test_case_15_bytes_that_are_no_utf8_stay(desk: Desk) -> None:
    """Field case 15: without an authority the mutation is refused, bytes untouched."""
    data = (CASES / "15-not-utf8" / "input.md").read_bytes()
    desk.write(data)
    with pytest.raises(UnsafeDocument):
        desk.run(c.AddTodo(goal_id="looms", operation_id="k1", role="agent", text="Print the notice."))
    assert sha256(desk.path.read_bytes()).digest() == sha256(data).digest()


def test_a_byte_order_mark_stays(desk: Desk) -> None:
    data = (CASES / "14-bom" / "input.md").read_bytes()
    desk.write(data)
    desk.run(desk.complete(todo_id=read_bytes(data).todos[0].todo_id))
    assert desk.path.read_bytes()[:3] == data[:3] == b"\xef\xbb\xbf"


def test_a_missing_document_is_told(desk: Desk) -> None:
    desk.path.unlink()
    with pytest.raises(NotPublished) as caught:
        desk.run(desk.complete())
    assert caught.value.facts["reason_code"] == "document_missing"
