"""Goals over their methods, in this process: where each call is decided, and what it says of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import UNSET

import stateward
from stateward_daemon.editing import edit
from stateward_engine.authority.goal import identity_of
from stateward_engine.errors import StoreUnavailable
from stateward_engine.store.store import Store, open_store
from stateward_protocol.methods import METHODS, Kind
from stateward_protocol.notices import TodosChanged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stateward import Client

FIELD_CASES = Path(__file__).parent.parent / "conformance/field_cases"
GOAL = """\
---
status: active
---
# Goal

## Next Action

- Go on.

## Agent Todo

- [ ] [P1] Rehearse
  <!-- loopx:todo todo_id=todo_rehearse -->
"""


@pytest.fixture
def document(folder: Path) -> Path:
    path = folder / "GOAL.md"
    path.write_text(GOAL, encoding="utf-8")
    return path


@pytest.fixture
def client(folder: Path, document: Path) -> Iterator[Client]:
    """A client in this process, with the goal g1 registered."""
    with stateward.connect(store=folder / "store", start="embedded") as opened:
        opened.goal_register("g1", str(document))
        yield opened


def promote(client: Client, **options: Any) -> Any:
    client.authority_shadow_bootstrap("g1", operation_id="shadow-1")
    return client.authority_promote("g1", operation_id="promote-1", **options)


class TestPlaces:
    """Which file is a document: a plain one of a project, by its real path."""

    def test_a_link_is_registered_as_what_it_leads_to(self, client: Client, folder: Path, document: Path) -> None:
        (folder / "link.md").symlink_to(document)

        with pytest.raises(stateward.StatewardError) as caught:
            client.goal_register("g2", str(folder / "link.md"))
        assert (caught.value.data["reason_code"], caught.value.data["goal_id"]) == ("goal_registration_conflict", "g1")

    def test_no_file_of_the_store_is_a_document(self, client: Client, folder: Path) -> None:
        for call in (client.goal_register, lambda goal_id, path: client.goal_new(goal_id, path, "Weave")):
            for name in ("FORMAT", "journal/000001.log", "new.md"):
                with pytest.raises(stateward.StatewardError) as caught:
                    call("g2", str(folder / "store" / name))
                assert (caught.value.category, caught.value.data["path"]) == ("invalid_request", "$.params.path")

    def test_a_goal_names_its_document(self, client: Client, document: Path) -> None:
        """protocol.md section 3: `goal_id` or `path`."""
        by_path = client.goal_projection(path=str(document), goal_id="g1")

        assert client.goal_projection(goal_id="g1") == by_path
        assert client.goal_diagnostics(goal_id="g1") == client.goal_diagnostics(path=str(document))

    def test_a_document_that_cannot_be_read_is_no_current_display(self, client: Client, document: Path) -> None:
        document.write_text(GOAL.replace("status: active\n---\n", "status: active\n"), encoding="utf-8")

        display = client.goal_status("g1").display
        assert (display["state"], display["reason_code"], display["lines"]) == (
            "unsafe",
            "unterminated_frontmatter",
            [1],
        )

    def test_what_a_refusal_repeats_of_a_call_is_short(self, client: Client) -> None:
        with pytest.raises(stateward.StatewardError) as caught:
            client.todo_add("g1", "agent", "Ship", expected_provider_revision="x" * 100_000)
        assert caught.value.data["got"] == "x" * 160


class TestBeforePromotion:
    def test_a_receipt_that_cannot_be_kept_is_no_refusal(
        self, client: Client, document: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """store.md section 3: the document is changed, so the outcome is unknown, and a repeat settles it."""

        def fail(*_: object) -> None:
            raise StoreUnavailable("the disk is full")

        with monkeypatch.context() as broken:
            broken.setattr(Store, "commit_now", fail)
            with pytest.raises(stateward.StatewardError) as caught:
                client.todo_add("g1", "agent", "Ship", operation_id="op-1")
        assert (caught.value.data["outcome"], caught.value.data["operation_id"]) == ("unknown", "op-1")
        assert "Ship" in document.read_text(encoding="utf-8")

        again = client.todo_add("g1", "agent", "Ship", operation_id="op-1")
        assert document.read_text(encoding="utf-8").count("Ship") == 1
        assert client.todo_receipt("g1", "op-1").status == "found"
        assert again.todo_id in document.read_text(encoding="utf-8")

    def test_nothing_is_edited_while_nothing_can_be_kept(
        self, client: Client, document: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client.todo_add("g1", "agent", "Ship")
        before = document.read_bytes()

        with monkeypatch.context() as broken:
            broken.setattr(Store, "health", "poisoned")
            with pytest.raises(stateward.StatewardError) as caught:
                client.todo_add("g1", "agent", "Sail")
        assert (caught.value.category, caught.value.data["outcome"]) == ("store_unavailable", "refused")
        assert document.read_bytes() == before

    def test_the_document_is_the_authority(self, client: Client, document: Path) -> None:
        """LX-052, LX-055: a mutation edits it, and what somebody types into it is so."""
        added = client.todo_add("g1", "agent", "Ship", operation_id="op-1")

        assert (added.status, added.source_authority, added.projection_outbox) == (
            "applied",
            "markdown_active_state",
            UNSET,
        )
        assert f"todo_id={added.todo_id}" in document.read_text(encoding="utf-8")
        document.write_text(GOAL.replace("Rehearse", "Practise"), encoding="utf-8")
        assert [todo["title"] for todo in client.todo_list("g1")["todos"]] == ["Practise"]

    def test_reading_says_so_and_has_no_revision(self, client: Client) -> None:
        answer = client.todo_list("g1")

        assert answer["source"] == "markdown_active_state"
        assert answer.keys().isdisjoint({"provider_revision", "cursor", "records_sha256"})

    def test_a_document_that_nobody_can_read_is_not_guessed_at(self, client: Client, document: Path) -> None:
        document.write_text("---\nopen: yes\n", encoding="utf-8")
        for read in (lambda: client.todo_list("g1"), lambda: client.lease_inspect("g1", "todo_rehearse")):
            with pytest.raises(stateward.StatewardError) as refused:
                read()
            assert refused.value.category == "unsafe_document"

    def test_rows_with_one_id_are_listed_and_none_is_picked(self, client: Client, document: Path) -> None:
        """Field case 08: what is not ready to be migrated stays good to look at, and nothing to act on (LX-034)."""
        twin = "- [x] Another\n  <!-- loopx:todo todo_id=todo_rehearse -->\n"
        document.write_text(f"{GOAL}\n## Completed Work Archive\n\n{twin}", encoding="utf-8")

        assert [todo["text"] for todo in client.todo_list("g1")["todos"]] == ["[P1] Rehearse"]
        for ask in (
            lambda: client.todo_list("g1", todo_id="todo_rehearse"),
            lambda: client.lease_inspect("g1", "todo_rehearse"),
            lambda: client.lease_acquire("g1", "todo_rehearse", "codex", idempotency_key="k"),
        ):
            with pytest.raises(stateward.StatewardError) as refused:
                ask()
            assert (refused.value.data["reason_code"], refused.value.data["lines"]) == ("duplicate_todo_id", (12, 17))

    def test_a_projection_is_for_reading(self, client: Client, document: Path) -> None:
        """LX-003, LX-036: nothing takes one back, reading it leaves no trace, and one that was changed is not asked."""
        before = (document.stat().st_mtime_ns, document.read_bytes())
        projection = client.goal_projection(path=str(document))
        projection["todos"]["agent"]["items"][0]["status"] = "done"

        assert client.goal_projection(path=str(document)) != projection
        assert [name for name in METHODS if "projection" in name] == ["goal_projection"]
        assert METHODS["goal_projection"].kind is Kind.DOCUMENT
        with pytest.raises(stateward.StatewardError) as refused:
            client.patch_state({"todos": projection["todos"]})
        assert refused.value.category == "invalid_patch"
        assert client.todo_list("g1", todo_id="todo_rehearse")["todo"]["status"] == "open"
        assert (document.stat().st_mtime_ns, document.read_bytes()) == before

    @pytest.mark.parametrize("case", ["10", "14", "18", "20"])
    def test_a_list_and_a_projection_say_the_same(self, client: Client, document: Path, case: str) -> None:
        """LX-038: they are two readers of one document."""
        [source] = FIELD_CASES.glob(f"{case}-*/input.md")
        document.write_bytes(source.read_bytes())
        projected = client.goal_projection(path=str(document))["todos"]

        for role in ("user", "agent"):
            listed = client.todo_list("g1", role=role)["todos"]
            shown = projected[role]
            assert [(each["todo_id"], each["status"], each["text"]) for each in listed] == [
                (each["todo_id"], each["status"], each["text"]) for each in shown["items"]
            ]
            assert shown["total_count"] == len(listed)
            assert shown["done_count"] == len([each for each in listed if each["done"]])

    def test_a_lease_is_given_back_without_the_document(self, client: Client, document: Path) -> None:
        """LX-103: whatever has become of the todo."""
        client.lease_acquire("g1", "todo_rehearse", "ada", "k1")
        document.unlink()
        released = client.lease_release("g1", "todo_rehearse", "ada", "k1", 1)

        assert released.lease is not None
        assert released.lease.status == "released"

    def test_a_dry_run_leaves_every_byte(self, client: Client, document: Path) -> None:
        planned = client.todo_add("g1", "agent", "Ship", dry_run=True)

        assert (planned.status, planned.changed) == ("planned", False)
        assert document.read_text(encoding="utf-8") == GOAL
        assert client.todo_receipt("g1", planned.operation_id).status == "missing"


class TestPromotion:
    def test_the_first_delivery_follows_it(self, client: Client, document: Path) -> None:
        """authority.md section 4: one entry, then the display."""
        promoted = promote(client)

        assert (promoted.source_authority, promoted.projection_delivery) == ("file_v0", "delivered")
        assert "loopx:todo-region-v0" in document.read_text(encoding="utf-8")
        assert client.goal_status("g1").display == {"state": "current"}

    def test_its_repeat_is_answered_alike_whatever_the_document_says_by_then(
        self, client: Client, document: Path
    ) -> None:
        """Identity is the operation id: what was qualified is no part of what was asked."""
        first = promote(client, handoff_mode="hard_lease")
        document.write_text("no goal at all", encoding="utf-8")
        again = client.authority_promote("g1", operation_id="promote-1", handoff_mode="hard_lease")

        assert (again.status, again.original_receipt) == ("replayed", first.original_receipt)
        with pytest.raises(stateward.StatewardError) as refused:
            client.authority_promote("g1", operation_id="promote-1")
        assert refused.value.data["reason_code"] == "coordination_operation_identity_mismatch"

    def test_so_is_that_of_a_shadow(self, client: Client, document: Path) -> None:
        first = client.authority_shadow_bootstrap("g1", operation_id="shadow-1")
        document.write_text("no goal at all", encoding="utf-8")
        again = client.authority_shadow_bootstrap("g1", operation_id="shadow-1")

        assert (again.status, again.original_receipt) == ("replayed", first.original_receipt)

    def test_who_is_subscribed_is_told_of_every_todo(self, client: Client) -> None:
        client.subscribe(["todos"])
        promoted = promote(client)

        assert list(client.changes()) == [
            TodosChanged(goal_id="g1", provider_revision=promoted.provider_revision, todo_ids=["todo_rehearse"])
        ]

    def test_a_document_that_does_not_qualify_is_not_promoted(self, client: Client, document: Path) -> None:
        document.write_text(GOAL.replace("todo_id=todo_rehearse", "colour=red"), encoding="utf-8")
        found = client.authority_shadow_qualify("g1")

        assert not found.qualified
        assert {"unknown_metadata_key", "implicit_todo_ids"} <= {refusal["reason_code"] for refusal in found.refusals}
        with pytest.raises(stateward.StatewardError) as refused:
            client.authority_shadow_bootstrap("g1")
        assert refused.value.data["reason_code"] == "authority_not_qualified"
        assert not client.goal_list().goals[0].promoted


class TestAfterPromotion:
    def test_the_document_is_never_consulted(self, client: Client, document: Path) -> None:
        """LX-047, LX-054: gone or nonsense, it neither changes nor hides what is so."""
        promote(client)
        for spoil in (lambda: document.write_text("- [ ] [P0] Lies\n", encoding="utf-8"), document.unlink):
            spoil()
            answer = client.todo_list("g1")
            assert (answer["source"], [todo["title"] for todo in answer["todos"]]) == ("file_v0", ["Rehearse"])
            assert client.lease_inspect("g1", "todo_rehearse").source_authority == "file_v0"

    @pytest.mark.parametrize(
        ("mutate", "shown"),
        [
            (lambda client: client.todo_add("g1", "agent", "Ship"), "- [ ] [P1] Ship\n"),
            (lambda client: client.todo_claim("g1", "todo_rehearse", "codex"), " claimed_by=codex "),
            (lambda client: client.todo_update("g1", "todo_rehearse", note="soon"), " note=soon "),
            (lambda client: client.todo_complete("g1", "todo_rehearse"), "- [x] [P1] Rehearse\n"),
            (
                lambda client: client.todo_archive_completed("g1", max_active_done=0, execute=True),
                "## Completed Work Archive\n",
            ),
        ],
        ids=["add", "claim", "update", "complete", "archive"],
    )
    def test_each_mutation_is_shown_at_once(
        self, client: Client, document: Path, mutate: Callable[[Client], Any], shown: str
    ) -> None:
        """LX-154: none of them waits for the delivery of another."""
        promote(client)
        written = client.todo_add("g1", "agent", "Write")
        client.todo_complete("g1", written.todo_id)
        assert shown not in document.read_text("utf-8")

        assert mutate(client).projection_delivery == "delivered"
        assert shown in document.read_text("utf-8")

    def test_a_receipt_keeps_what_was_answered_and_not_how_it_was_asked(self, client: Client, folder: Path) -> None:
        """LX-111: what served the call alone, as the revision that it expected, is no part of the record or receipt."""
        promote(client)
        head = client.goal_status("g1").provider_revision
        client.todo_update("g1", "todo_rehearse", note="x", operation_id="op-1", expected_provider_revision=head)
        client.close()

        planes = open_store(folder / "store", read_only=True).view.scopes[identity_of("g1")].planes
        receipt: Any = planes["receipts"]["op-1"]  # type: ignore[index,call-overload]
        assert sorted(receipt) == ["answer", "at", "cursor", "method", "request_sha256"]
        assert "expected_provider_revision" not in str(planes)
        assert "projection" not in str(receipt)

    def test_a_lease_has_no_path_and_shows_its_todo(self, client: Client) -> None:
        """LX-096, LX-097, LX-098: from one revision, and nothing where nothing is."""
        promote(client)
        found = client.lease_inspect("g1", "todo_rehearse")

        assert (found.lease, found.active, found.lease_path, found.legacy_fallback_used) == (None, False, None, False)
        assert found.todo is not None
        assert found.provider_revision == client.goal_status("g1").provider_revision

    def test_a_lease_is_no_matter_of_the_display(self, client: Client) -> None:
        """authority.md section 1: delivery members are left out where no display is involved."""
        promote(client)
        acquired = client.lease_acquire("g1", "todo_rehearse", "ada", "k1")

        assert acquired.projection_outbox is UNSET

    def test_a_display_that_cannot_be_written_takes_nothing_back(self, client: Client, document: Path) -> None:
        """LX-107, LX-123: pending beside the commit."""
        promote(client)
        document.write_bytes(b"\xff\xfe")
        added = client.todo_add("g1", "agent", "Ship")

        assert (added.status, added.projection_delivery) == ("applied", "pending")
        assert document.read_bytes() == b"\xff\xfe"
        assert client.todo_receipt("g1", added.operation_id).status == "found"

    def test_an_edit_that_waited_while_the_goal_was_promoted_is_decided_by_the_ledger(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The look at the view is taken before the wait in the lane, and another one in it."""
        promoted: list[Any] = []

        def later(*arguments: Any) -> Any:
            promoted.append(promote(client))
            return edit(*arguments)

        monkeypatch.setattr("stateward_daemon.mutations.edit", later)
        added = client.todo_add("g1", "agent", "Ship")

        assert promoted
        assert (added.source_authority, added.projection_delivery) == ("file_v0", "delivered")

    def test_a_turn_again_is_the_first_record(self, client: Client) -> None:
        """LX-105, LX-114: and catches the display up as well."""
        promote(client)
        first = client.refresh_state("g1", agent_id="ada", classification="in_progress", turn_key="turn-1")
        again = client.refresh_state("g1", agent_id="ada", classification="in_progress", turn_key="turn-1")

        assert (first.status, again.status) == ("applied", "replayed")
        assert again.record == first.record
        assert again.projection_delivery == "current"

    @pytest.mark.parametrize("promoted", [False, True])
    def test_an_operation_id_is_one_for_todos_and_refreshes_of_all_goals(
        self, client: Client, document: Path, promoted: bool
    ) -> None:
        """authority.md section 1: unique per store."""
        other = document.with_name("OTHER.md")
        other.write_text(GOAL, encoding="utf-8")
        client.goal_register("g2", str(other))
        if promoted:
            promote(client)
        client.todo_add("g1", "agent", "Ship", operation_id="add-1")
        client.refresh_state("g1", operation_id="look-1", turn_key="turn-1")

        [receipt] = client.todo_receipt("g1", "look-1").receipts
        again = client.refresh_state("g1", operation_id="look-1", turn_key="turn-1")
        assert (again.status, again.original_receipt) == ("replayed", receipt)
        assert client.todo_receipt("g1", "turn-1").status == "missing"
        for goal in ("g1", "g2"):
            before = (document.read_bytes(), other.read_bytes())
            with pytest.raises(stateward.StatewardError) as refused:
                client.todo_add(goal, "agent", "Ship", operation_id="look-1")
            assert refused.value.data["reason_code"] == "coordination_operation_identity_mismatch"
            with pytest.raises(stateward.StatewardError) as refused:
                client.refresh_state(goal, operation_id="add-1", turn_key="turn-2")
            assert refused.value.data["reason_code"] == "coordination_operation_identity_mismatch"
            assert (document.read_bytes(), other.read_bytes()) == before

    def test_the_same_archival_of_the_same_head_is_one_operation(self, client: Client) -> None:
        promote(client)
        client.todo_complete("g1", "todo_rehearse", no_followup=True)
        shown = client.todo_archive_completed("g1", max_active_done=0)
        done = client.todo_archive_completed("g1", max_active_done=0, execute=True)

        assert (shown.status, done.status, done.moved_todo_ids) == ("planned", "applied", ["todo_rehearse"])
        assert (shown.operation_id, shown.operation_id_given) == (done.operation_id, False)
        assert [todo["todo_id"] for todo in client.todo_list("g1", role="archive")["todos"]] == ["todo_rehearse"]
