"""Deliveries of real files: what becomes of a document, what is told, and every step failing once.

Rows LX-084, LX-085, LX-086, LX-087, LX-088, LX-089, LX-090, LX-091, LX-092, LX-105, LX-106, LX-107, LX-108, LX-109,
LX-110, LX-113, LX-114, LX-121, LX-122, LX-123, LX-124, LX-125, LX-126, LX-127, LX-128, LX-129, LX-130, LX-131,
LX-132, LX-133, LX-134, LX-135, LX-143, LX-144, LX-145, LX-146, LX-147, LX-148, LX-149, LX-150.
Source: authority.md
section 5, store.md section 5.
"""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from authority.shown_goal import (
    DOCUMENT,
    FIELD_CASES,
    GOAL,
    Ledger,
    answered,
    host_of,
    record,
)
from stateward_daemon.delivering import Delivering, deliver, means_of, preview, project, settle
from stateward_daemon.lanes import Lanes
from stateward_daemon.standing import goal_status
from stateward_daemon.steps import OnLane
from stateward_engine.authority import delivery as d
from stateward_engine.authority.goal import Machine
from stateward_engine.errors import Busy, CorruptStore, EngineError, Refused, StoreUnavailable
from stateward_engine.goals.validation import complete_declaration, declaration_sha256
from stateward_engine.store.publish_file import create_file, publish_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stateward_daemon.host import Host

MISSING_MEMBERS = {"reason_code", "retryable", "error_class"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    document = tmp_path / "ACTIVE_GOAL_STATE.md"
    document.write_text(DOCUMENT, "utf-8")
    return document


@pytest.fixture
def ledger(path: Path) -> Ledger:
    return Ledger(path)


@pytest.fixture
def host(ledger: Ledger) -> Host:
    return host_of(ledger)


def outbox(host: Host, **members: Any) -> dict[str, Any]:
    delivered = deliver(host, GOAL, **members)
    report: dict[str, Any] = delivered["projection_outbox"]
    assert delivered["projection_delivery"] == report["status"]
    return report


def run(host: Host, *, pinned: str | None = None, **means: Any) -> dict[str, Any]:
    """Deliver with some of the means replaced."""
    return Delivering(GOAL, replace(means_of(host, GOAL), **means)).run(pinned)


def names(path: Path) -> list[str]:
    return sorted(found.name for found in path.parent.iterdir())


def typed_over(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


class TestDelivered:
    def test_the_sections_show_the_head_and_all_else_stays(self, host: Host, ledger: Ledger, path: Path) -> None:
        report = outbox(host)

        text = path.read_text("utf-8")
        for narrative in DOCUMENT.split("## User Todo\n\n## Agent Todo\n\n"):
            assert narrative in text
        assert text.count(f"provider_revision={ledger.head} ") == 2
        assert "- [ ] [P1] Grind it." in text
        assert report == {
            "schema_version": "loopx_todo_projection_delivery_v0",
            "goal_id": GOAL,
            "state_file": str(path),
            "source": "committed_authority_journal",
            "source_authority": "file_v0",
            "provider_revision": "file:s:1",
            "observed_provider_revision": "file:s:1",
            "status": "delivered",
            "next_action": "finish",
            "delivery_attempts": 1,
            "todo_count": 2,
            "changed": True,
            "executed": True,
            "source_sha256": report["source_sha256"],
            "rendered_sha256": report["rendered_sha256"],
            "narrative_sha256": report["narrative_sha256"],
            "section_record_sha256": report["section_record_sha256"],
            "parse_render_parity": True,
            "narrative_preserved": True,
        }
        assert sorted(report["section_record_sha256"]) == ["agent", "user"]

    def test_a_second_one_is_current_and_syncs_all_the_same(
        self, host: Host, ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """LX-085, LX-127: nothing of the goal changes either."""
        outbox(host)
        before, revision = path.read_bytes(), ledger.head
        synced: list[int] = []
        real = os.fsync

        def sync(descriptor: int) -> None:
            synced.append(descriptor)
            real(descriptor)

        monkeypatch.setattr(os, "fsync", sync)

        report = outbox(host)

        assert (report["status"], report["changed"], report["next_action"]) == ("current", False, "finish")
        assert (path.read_bytes(), ledger.head) == (before, revision)
        assert synced

    def test_it_is_noted_and_moves_no_revision(self, host: Host, ledger: Ledger) -> None:
        revision = ledger.head
        outbox(host)

        assert ledger.delivered == {"provider_revision": revision}
        assert ledger.head == revision

    def test_one_read_plans_and_one_confirms(self, host: Host, ledger: Ledger) -> None:
        """LX-114."""
        ledger.reads = 0
        outbox(host)

        assert ledger.reads == 2

    def test_an_overlap_is_caught_up_with_the_read_that_found_it(self, host: Host, ledger: Ledger, path: Path) -> None:
        """LX-090, LX-130: two attempts, three reads."""
        ledger.reads = 0
        report = run(host, snapshot=overtaken(host, ledger.finish))

        assert (report["status"], report["delivery_attempts"]) == ("delivered", 2)
        assert report["provider_revision"] == report["observed_provider_revision"] == ledger.head
        assert "- [x] [P1] Grind it." in path.read_text("utf-8")
        assert ledger.reads == 3

    def test_endless_churn_ends_pending(self, host: Host, ledger: Ledger) -> None:
        """LX-091, LX-092, LX-133."""
        report = run(host, snapshot=overtaken(host, ledger.touch, times=99))

        assert (report["status"], report["next_action"], report["delivery_attempts"]) == ("pending", "finish", 3)
        assert report["reason_code"] == "todo_projection_revision_advanced"
        assert report["provider_revision"] != report["observed_provider_revision"] == ledger.head
        assert (report["retryable"], report["retry_business_mutation"]) == (True, False)
        assert "project_markdown" in report["recommended_action"]
        assert report["changed"] is True

    def test_narrative_that_somebody_writes_meanwhile_is_kept(self, host: Host, path: Path) -> None:
        def late(place: Path, merge: Callable[[bytes], bytes]) -> Any:
            typed_over(path, "# Optics", "# Optics and acoustics")
            return publish_file(place, merge)

        assert run(host, publish=late)["status"] == "delivered"
        assert "# Optics and acoustics" in path.read_text("utf-8")

    def test_narrative_that_is_written_between_the_file_and_its_reading_is_no_failure(
        self, host: Host, path: Path
    ) -> None:
        def early(place: Path, merge: Callable[[bytes], bytes]) -> Any:
            done = publish_file(place, merge)
            typed_over(path, "# Optics", "# Optics and acoustics")
            return done

        assert run(host, publish=early)["status"] == "delivered"

    def test_the_whole_narrative_of_field_case_24_stays(self, tmp_path: Path) -> None:
        path = tmp_path / "ACTIVE_GOAL_STATE.md"
        source = (FIELD_CASES / "24-render-keeps-following-narrative/input.md").read_bytes()
        path.write_bytes(source)
        ledger = Ledger(
            path,
            record("todo_strike", "[P0] Choose the strike time.", "done", role="user", task_class="user_gate"),
            record("todo_rope", "[P1] Order the rope."),
            record("todo_bell", "[P2] Clean the bell."),
        )
        host = host_of(ledger)

        assert preview(host, GOAL)["status"] == "planned"
        assert path.read_bytes() == source
        assert outbox(host)["status"] == "delivered"
        text = path.read_text("utf-8")
        assert "- [x] [P0] Choose" in text
        assert "- [ ] [P2] Clean the bell." in text
        kept = source.decode()
        assert kept[kept.index("The council") : kept.index("## Agent Todo")] in text
        assert text.endswith(kept[kept.index("PS: rope") :])
        assert outbox(host)["status"] == "current"


class TestPinned:
    """LX-110, LX-131, LX-132: it shows its revision or none."""

    def test_the_head_can_be_pinned(self, host: Host, ledger: Ledger) -> None:
        assert outbox(host, pinned=ledger.head)["status"] == "delivered"

    @pytest.mark.parametrize("execute", [True, False])
    def test_another_revision_is_refused_before_anything_is_written(
        self, host: Host, ledger: Ledger, path: Path, execute: bool
    ) -> None:
        old = ledger.head
        ledger.touch()
        with pytest.raises(Refused) as caught:
            answered(project(host, GOAL, old, execute=execute))

        assert caught.value.facts["reason_code"] == "provider_revision_mismatch"
        assert caught.value.facts["wanted"] == ledger.head
        assert path.read_text("utf-8") == DOCUMENT

    def test_an_overlap_is_told_and_not_caught_up(self, host: Host, ledger: Ledger) -> None:
        report = run(host, pinned=ledger.head, snapshot=overtaken(host, ledger.finish))

        assert (report["status"], report["delivery_attempts"]) == ("pending", 1)
        assert report["reason_code"] == "todo_projection_revision_advanced"
        assert (report["provider_revision"], report["observed_provider_revision"]) == ("file:s:1", "file:s:2")


class TestProject:
    def test_a_preview_writes_nothing_and_asks_for_no_confirmation(
        self, host: Host, ledger: Ledger, path: Path
    ) -> None:
        """LX-129, LX-144."""
        ledger.reads = 0
        report = answered(project(host, GOAL, None, execute=False))

        assert (report["status"], report["executed"], report["changed"]) == ("planned", False, True)
        assert not report.keys() & {"observed_provider_revision", "next_action", "delivery_attempts", *MISSING_MEMBERS}
        assert path.read_text("utf-8") == DOCUMENT
        assert (ledger.reads, ledger.commands) == (1, [])

    def test_what_would_keep_it_from_being_shown_is_previewed_too(self, host: Host, path: Path) -> None:
        path.write_bytes(b"\xff")
        report = preview(host, GOAL)

        assert (report["status"], report["executed"]) == ("pending", False)
        assert (report["reason_code"], report["kind"]) == ("todo_projection_target_unavailable", "not_utf8")

    def test_it_delivers(self, host: Host, ledger: Ledger) -> None:
        report = answered(project(host, GOAL, ledger.head, execute=True))

        assert report["status"] == "delivered"
        assert "trigger_cursor" not in report

    @pytest.mark.parametrize("execute", [True, False])
    def test_an_unpromoted_goal_is_refused(self, path: Path, execute: bool) -> None:
        """LX-058: never before promotion."""
        with pytest.raises(Refused) as caught:
            answered(project(host_of(Ledger(path, promoted=False)), GOAL, None, execute=execute))

        assert caught.value.facts["reason_code"] == "goal_not_promoted"
        assert path.read_text("utf-8") == DOCUMENT

    def test_nothing_is_written_for_an_authority_that_cannot_be_read(self, host: Host, path: Path) -> None:
        """LX-149."""
        report = run(host, snapshot=failing(StoreUnavailable("away")))

        assert report["reason_code"] == "todo_projection_authority_unavailable"
        assert path.read_text("utf-8") == DOCUMENT


class TestMissing:
    """LX-126, LX-135, LX-143, LX-145, LX-147."""

    def test_it_is_made_private_with_the_sections_alone(self, host: Host, path: Path) -> None:
        path.unlink()
        planned = preview(host, GOAL)
        assert not path.exists()
        report = outbox(host)

        assert report["status"] == "delivered"
        for told in (planned, report):
            assert (told["recovery_scope"], told["narrative_preserved"]) == ("todo_sections_only", False)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "Grind it." in path.read_text("utf-8")
        assert outbox(host)["status"] == "current"

    def test_a_file_that_comes_back_meanwhile_wins(self, host: Host, path: Path) -> None:
        path.unlink()

        def late(place: Path, data: bytes) -> Any:
            path.write_text("# put back\n", "utf-8")
            return create_file(place, data)

        report = run(host, create=late)

        assert (report["reason_code"], report["kind"]) == ("todo_projection_write_unavailable", "document_exists")
        assert path.read_text("utf-8") == "# put back\n"

    def test_a_second_catch_up_replaces(self, host: Host, ledger: Ledger, path: Path) -> None:
        path.unlink()
        report = run(host, snapshot=overtaken(host, ledger.finish))

        assert (report["status"], report["delivery_attempts"]) == ("delivered", 2)
        assert (report["recovery_scope"], report["narrative_preserved"]) == ("todo_sections_only", False)
        assert "- [x] [P1] Grind it." in path.read_text("utf-8")

    @pytest.mark.parametrize("right", [True, False])
    def test_a_private_validation_has_to_match_its_digest(
        self, host: Host, ledger: Ledger, path: Path, right: bool
    ) -> None:
        """LX-150: nothing is run, and without the declaration nothing is rebuilt."""
        complete = complete_declaration({"validation_command": "make test"})
        assert complete is not None
        digest = declaration_sha256(complete)
        validated = {"completion_validation_required": True, "completion_validation_sha256": digest}
        ledger.change(
            records={"todo_grind": validated},
            declarations={"todo_grind": {"validation_command": "make test" if right else "true"}},
        )
        path.unlink()

        report = outbox(host)
        if right:
            assert "validation_command=make%20test" in path.read_text("utf-8")
        else:
            assert report["kind"] == "validation_declaration_mismatch"
            assert not path.exists()


class TestPending:
    """LX-087, LX-107, LX-123, LX-128, LX-134: what failed is told, nothing else is touched, and it can be repeated."""

    @pytest.mark.parametrize("means", ["snapshot", "read", "render", "publish", "confirm"])
    def test_each_step_fails_once(self, host: Host, ledger: Ledger, path: Path, means: str) -> None:
        plan: dict[str, Any] = {means: failing(OSError("secret"))}
        report = run(host, **plan)

        outage = means in ("snapshot", "confirm")
        part = "authority" if outage else "target"
        assert (report["status"], report["reason_code"]) == ("pending", f"todo_projection_{part}_unavailable")
        assert report["error_class"] == "OSError"
        assert (report["retryable"], report["retry_business_mutation"]) == (True, False)
        assert "secret" not in str(report)
        written = means == "confirm"
        assert (path.read_text("utf-8") == DOCUMENT) == (not written)
        assert names(path) == ["ACTIVE_GOAL_STATE.md"]
        assert outbox(host)["status"] == ("current" if written else "delivered")
        assert ledger.head == "file:s:1"

    def test_a_read_back_that_shows_something_else_is_no_success(self, host: Host, path: Path) -> None:
        def torn(place: Path, merge: Callable[[bytes], bytes]) -> Any:
            done = publish_file(place, merge)
            typed_over(path, "[ ] [P1] Grind", "[x] [P1] Grind")
            return done

        report = run(host, publish=torn)

        assert (report["status"], report["reason_code"]) == ("pending", "todo_projection_target_unavailable")
        assert "[x] [P1] Grind" in path.read_text("utf-8")

    @pytest.mark.parametrize(
        "confirmation",
        [
            lambda _readback, _head: None,
            lambda readback, head: d.confirm(readback, head)._replace(status="pending"),
            lambda readback, head: d.confirm(readback, head)._replace(observed_provider_revision="file:s:9"),
            lambda readback, head: d.confirm({**readback, "attempt": 2}, head),
            lambda readback, head: d.confirm(readback, head)._replace(next_action="retry"),
        ],
        ids=["missing", "that says nothing", "of another head", "of another attempt", "that asks for more"],
    )
    def test_a_confirmation_is_no_success(self, host: Host, confirmation: Any) -> None:
        """LX-139."""
        report = run(host, confirm=confirmation)

        assert (report["status"], report["reason_code"]) == ("pending", "todo_projection_authority_unavailable")

    def test_a_full_disk(self, host: Host, ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Field case 27: the commit stands, the file is whole, no copy is left; then one delivery mends it."""
        outbox(host)
        before = path.read_bytes()
        answer = ledger.finish()
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", failing(OSError(28, "No space left on device")))
            settled = answered(settle(host, answer))

        report = settled["projection_outbox"]
        assert settled["projection_delivery"] == "pending"
        assert (report["reason_code"], report["error_code"]) == ("todo_projection_write_unavailable", "ENOSPC")
        assert report["retry_business_mutation"] is False
        assert (path.read_bytes(), names(path)) == (before, ["ACTIVE_GOAL_STATE.md"])
        assert goal_status(host, GOAL)["display"] == {"state": "behind"}
        revision = ledger.head
        assert [outbox(host)["status"] for _ in range(2)] == ["delivered", "current"]
        assert ledger.head == revision

    @pytest.mark.parametrize("call", ["fsync", "fdatasync"])
    def test_a_failed_barrier_acknowledges_nothing(
        self, host: Host, path: Path, monkeypatch: pytest.MonkeyPatch, call: str
    ) -> None:
        """LX-128."""
        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing(OSError(5, "Input/output error")))
            report = outbox(host)

        assert (report["reason_code"], report["error_code"]) == ("todo_projection_write_unavailable", "EIO")
        assert names(path) == ["ACTIVE_GOAL_STATE.md"]
        assert outbox(host)["status"] in ("delivered", "current")

    def test_what_is_no_utf8_stays(self, host: Host, path: Path) -> None:
        """Field case 15."""
        data = (FIELD_CASES / "15-not-utf8/input.md").read_bytes()
        path.write_bytes(data)
        report = outbox(host)

        assert (report["reason_code"], report["kind"]) == ("todo_projection_target_unavailable", "not_utf8")
        assert data[report["byte_offset"]] > 0x7F
        assert path.read_bytes() == data

    def test_a_fence_that_never_closes(self, host: Host, path: Path) -> None:
        """Field case 02: there is no visible section, and none is added."""
        data = (FIELD_CASES / "02-unclosed-fence-hides-todos/input.md").read_bytes()
        path.write_bytes(data)
        report = outbox(host)

        assert (report["reason_code"], report["kind"]) == ("todo_projection_render_rejected", "no_todo_region")
        assert path.read_bytes() == data

    def test_damaged_markers_name_their_line(self, host: Host, path: Path) -> None:
        """Field case 25, LX-148."""
        case = FIELD_CASES / "25-damaged-region-markers"
        for file in sorted(case.glob("*.md")):
            if file.name == "expect.md":
                continue
            path.write_bytes(file.read_bytes())
            report = outbox(host)
            if file.name == "ok.md":
                assert report["status"] == "delivered"
                continue
            assert report["reason_code"] == "todo_projection_render_rejected"
            assert "loopx:todo-region" in file.read_text("utf-8").splitlines()[report["lines"][0] - 1]
            assert path.read_bytes() == file.read_bytes()

    def test_what_a_human_typed_into_a_section_stays(self, host: Host, ledger: Ledger, path: Path) -> None:
        """Field case 26: committed, pending, both lines."""
        source = (FIELD_CASES / "26-human-typed-inside-the-region/input.md").read_text("utf-8")
        path.write_text(source, "utf-8")
        report = answered(settle(host, ledger.finish()))["projection_outbox"]

        assert report["reason_code"] == "todo_projection_region_edited"
        lines = source.splitlines()
        assert [lines[number - 1][:8] for number in report["lines"]] == ["Anna say", "- [ ] [P"]
        assert path.read_text("utf-8") == source

    def test_a_record_that_cannot_be_shown(self, host: Host, ledger: Ledger, path: Path) -> None:
        """LX-061, LX-063."""
        ledger.change(records={"todo_grind": {"text": "two  spaces"}})
        report = outbox(host)

        assert (report["reason_code"], report["kind"]) == ("todo_projection_render_rejected", "parity_mismatch")
        assert (report["todo_id"], report["field"], report["lines"]) == ("todo_grind", "text", [])
        assert path.read_text("utf-8") == DOCUMENT

    def test_a_link_in_the_place_of_the_document(self, host: Host, path: Path, tmp_path: Path) -> None:
        other = tmp_path / "other.md"
        path.rename(other)
        path.symlink_to(other)
        report = outbox(host)

        assert (report["reason_code"], report["kind"]) == ("todo_projection_target_unavailable", "document_is_link")
        assert other.read_text("utf-8") == DOCUMENT

    def test_a_directory_in_the_place_of_the_document(self, host: Host, path: Path) -> None:
        path.unlink()
        path.mkdir()
        assert outbox(host)["reason_code"] == "todo_projection_target_unavailable"
        assert goal_status(host, GOAL)["display"]["state"] == "unsafe"

    def test_a_damaged_stream_is_an_outage(self, host: Host) -> None:
        report = run(host, snapshot=failing(CorruptStore("damaged")))
        assert (report["reason_code"], report["error_class"]) == (
            "todo_projection_authority_unavailable",
            "CorruptStore",
        )

    @pytest.mark.parametrize("error", [StoreUnavailable("full"), Busy("busy")])
    def test_a_note_that_fails_fails_no_delivery(self, host: Host, error: EngineError) -> None:
        assert run(host, note=failing(error))["status"] == "delivered"
        assert outbox(host)["status"] == "current"

    def test_where_a_store_is_shared_what_cannot_be_noted_is_not_written(self, ledger: Ledger, path: Path) -> None:
        """Others go on meanwhile, and a display that nobody knows any more would be taken for edited."""
        here = Machine("m", "loom")
        ledger.change(registration={"machine": here._asdict()})
        host, before = replace(host_of(ledger), machine=here), path.read_bytes()
        report = run(host, note=failing(StoreUnavailable("away")))
        assert (report["status"], report["reason_code"]) == ("pending", "todo_projection_authority_unavailable")
        assert path.read_bytes() == before
        assert outbox(host)["status"] == "delivered"

    def test_a_display_that_was_written_and_not_confirmed_is_noted(self, host: Host, ledger: Ledger) -> None:
        run(host, confirm=lambda _readback, _head: None)
        assert ledger.delivered == {"provider_revision": "file:s:1"}


class Killed(BaseException):
    """The process ends."""


@pytest.mark.parametrize("means", ["snapshot", "wait", "read", "render", "publish", "confirm", "note"])
@pytest.mark.parametrize("late", [True, False])
def test_a_delivery_after_a_crash_mends_the_display(
    host: Host, ledger: Ledger, path: Path, means: str, late: bool
) -> None:
    """LX-124: the process dies before or after any step; the journal is the outbox."""
    outbox(host)
    ledger.finish()
    real = getattr(means_of(host, GOAL), means)

    def dying(*arguments: Any) -> Any:
        if late:
            real(*arguments)
        raise Killed

    plan: dict[str, Any] = {means: dying}
    with pytest.raises(Killed):
        run(host, **plan)

    assert outbox(host)["status"] in ("delivered", "current")
    assert "- [x] [P1] Grind it." in path.read_text("utf-8")
    assert names(path) == ["ACTIVE_GOAL_STATE.md"]


class TestSettle:
    def test_the_answer_keeps_its_members_and_says_what_was_to_be_shown(self, host: Host, ledger: Ledger) -> None:
        """LX-121, LX-122: two facts in two members."""
        answer = ledger.finish()
        settled = answered(settle(host, answer))

        assert {**settled, **answer} == settled
        assert settled["projection_delivery"] == "delivered"
        report = settled["projection_outbox"]
        assert (report["trigger_provider_revision"], report["trigger_cursor"]) == ("file:s:2", "2")

    def test_the_answer_of_the_first_run_may_be_of_an_older_revision(self, host: Host, ledger: Ledger) -> None:
        """LX-113: the display catches up, and the record stays as it was."""
        answer = ledger.finish()
        ledger.touch()
        settled = answered(settle(host, {**answer, "status": "replayed"}))

        assert settled["provider_revision"] == settled["projection_outbox"]["trigger_provider_revision"] == "file:s:2"
        assert settled["projection_outbox"]["provider_revision"] == "file:s:3"

    @pytest.mark.parametrize("members", [{"status": "planned"}, {"source_authority": "markdown_active_state"}])
    def test_where_no_display_is_involved_there_is_nothing_to_tell(
        self, host: Host, ledger: Ledger, path: Path, members: dict[str, Any]
    ) -> None:
        """LX-106."""
        answer = ledger.answer(**members)
        assert answered(settle(host, answer)) == answer
        assert path.read_text("utf-8") == DOCUMENT

    @pytest.mark.parametrize("error", [Busy("full"), ZeroDivisionError("secret"), OSError(24, "no descriptors")])
    def test_whatever_breaks_the_commit_is_answered(self, host: Host, ledger: Ledger, error: Exception) -> None:
        steps = settle(host, ledger.finish())
        next(steps)
        with pytest.raises(StopIteration) as ended:
            steps.throw(error)

        answer = ended.value.value
        assert answer["projection_delivery"] == "pending"
        assert answer["projection_outbox"]["error_class"] == type(error).__name__
        assert answer["projection_outbox"]["retry_business_mutation"] is False
        assert "secret" not in str(answer)

    def test_callers_who_wait_together_are_served_by_one_delivery(self, host: Host, ledger: Ledger) -> None:
        """Each gets its own trigger."""
        jobs: list[Any] = []
        host.lanes = Lanes(lambda job, done, _failed: jobs.append((job, done)))
        host.lanes.run(OnLane(GOAL, lambda: None), lambda _: None, lambda _: None)
        answers: list[Any] = []
        for _ in range(3):
            ledger.touch()
            steps = settle(host, ledger.answer())
            step = next(steps)
            assert isinstance(step, OnLane)
            host.lanes.run(step, partial(_finish, steps, answers), lambda _: None)

        for job, done in jobs:
            done(job())

        assert len(jobs) == 2
        assert [answer["projection_outbox"]["trigger_cursor"] for answer in answers] == ["2", "3", "4"]
        assert {answer["projection_outbox"]["provider_revision"] for answer in answers} == {"file:s:4"}


def _finish(steps: Any, answers: list[Any], result: Any) -> None:
    try:
        steps.send(result)
    except StopIteration as end:
        answers.append(end.value)


class TestStatus:
    def test_a_promoted_goal(self, host: Host, ledger: Ledger, path: Path) -> None:
        outbox(host)
        assert goal_status(host, GOAL) == {
            "goal_id": GOAL,
            "path": str(path),
            "promoted": True,
            "handoff_mode": "soft_claim",
            "agents": [],
            "provider_revision": "file:s:1",
            "cursor": "1",
            "source_authority": "file_v0",
            "display": {"state": "current"},
        }
        ledger.touch()
        assert goal_status(host, GOAL)["display"] == {"state": "behind"}

    def test_a_missing_document(self, host: Host, path: Path) -> None:
        path.unlink()
        assert goal_status(host, GOAL)["display"] == {"state": "missing"}
        assert not path.exists()


def failing(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object) -> Any:
        raise error

    return fail


def overtaken(host: Host, commit: Callable[[], object], times: int = 1) -> Callable[[], Any]:
    """Return a reading of the authority in which something was committed just before each but the first, so often."""
    calls = iter([False, *[True] * times])

    def read() -> Any:
        if next(calls, False):
            commit()
        return means_of(host, GOAL).snapshot()

    return read
