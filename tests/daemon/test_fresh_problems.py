"""The answers of mutations carry the problems of the document where they changed it, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from msgspec import UNSET

import stateward
from stateward_daemon import fresh_problems

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward import Client

HEAD: Final = "---\nstatus: active\n---\n# Goal\n\n## Next Action\n\n- Go on.\n\n## Agent Todo\n\n"
ROW: Final = "- [ ] [P1] Rehearse\n  <!-- loopx:todo todo_id=todo_rehearse -->\n"
UNNAMED: Final = "- [ ] [P1] Polish\n"


@pytest.fixture
def document(folder: Path) -> Path:
    path = folder / "GOAL.md"
    path.write_text(HEAD + ROW, encoding="utf-8")
    return path


@pytest.fixture
def client(folder: Path, document: Path) -> Iterator[Client]:
    with stateward.connect(folder, store=folder / "store", start="embedded") as opened:
        opened.goal_register("g1", str(document))
        yield opened


def promote(client: Client) -> None:
    client.authority_shadow_bootstrap("g1")
    client.authority_promote("g1")


def test_an_edit_tells_what_is_wrong_now(client: Client, document: Path) -> None:
    """The items are those of `goal_diagnostics`, with their fixes: whoever made the edit may mend it."""
    document.write_text(HEAD + ROW + UNNAMED, encoding="utf-8")
    answer = client.todo_update("g1", "todo_rehearse", note="soon")

    assert isinstance(answer.problems, list)
    assert [item.code for item in answer.problems] == ["implicit_todo_ids"]
    assert answer.problem_count == 1
    assert answer.problems == client.goal_diagnostics(goal_id="g1").items
    assert answer.problems[0].fix is not UNSET


def test_an_edit_of_a_sound_document_says_so(client: Client) -> None:
    answer = client.todo_add("g1", "agent", "Ship")

    assert (answer.problems, answer.problem_count) == ([], 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.todo_update("g1", "todo_rehearse", note="soon", dry_run=True),
        lambda client: client.todo_update("g1", "todo_rehearse", note="first", operation_id="op-1"),
        lambda client: client.todo_update("g1", "todo_rehearse", note="first"),
        lambda client: client.todo_archive_completed("g1", max_active_done=0),
    ],
    ids=["dry run", "repeat", "no change", "preview"],
)
@pytest.mark.parametrize("promoted", [False, True])
def test_what_changes_no_document_tells_nothing_of_it(client: Client, call: Any, promoted: bool) -> None:
    if promoted:
        promote(client)
    client.todo_update("g1", "todo_rehearse", note="first", operation_id="op-1")
    answer = call(client)

    assert (answer.problems, answer.problem_count) == (UNSET, UNSET)


def test_a_display_that_was_delivered_tells_what_is_wrong_around_it(client: Client, document: Path) -> None:
    promote(client)
    document.write_text(
        document.read_text(encoding="utf-8").replace("# Goal", "# Goal\n\nSee $cwd.lazy.plan."), "utf-8"
    )
    answer = client.todo_claim("g1", "todo_rehearse", "codex")

    assert isinstance(answer.problems, list)
    assert (answer.projection_delivery, [item.code for item in answer.problems]) == (
        "delivered",
        ["dangling_state_reference"],
    )


def test_a_display_that_stays_behind_tells_nothing(client: Client, document: Path) -> None:
    promote(client)
    document.write_bytes(b"\xff")
    answer = client.todo_claim("g1", "todo_rehearse", "codex")

    assert (answer.projection_delivery, answer.problems) == ("pending", UNSET)


def test_a_delivery_that_is_asked_for_tells_them(client: Client, document: Path) -> None:
    promote(client)
    behind = document.read_text(encoding="utf-8")
    client.todo_update("g1", "todo_rehearse", note="soon")
    document.write_text(behind, encoding="utf-8")
    preview = client.project_markdown("g1")
    made = client.project_markdown("g1", execute=True)
    again = client.project_markdown("g1", execute=True)

    assert (preview["changed"], made["status"], again["status"]) == (True, "delivered", "current")
    assert (made["problems"], made["problem_count"]) == ([], 0)
    assert not [report for report in (preview, again) if "problems" in report]


def test_of_many_the_gravest_are_told(client: Client, document: Path) -> None:
    twin = "- [ ] [P1] Twin\n  <!-- loopx:todo todo_id=todo_twin -->\n"
    document.write_text(HEAD + ROW + UNNAMED * 30 + twin * 2, encoding="utf-8")
    answer = client.todo_update("g1", "todo_rehearse", note="soon")

    assert isinstance(answer.problems, list)
    assert (len(answer.problems), answer.problem_count) == (20, 32)
    assert [item.severity for item in answer.problems] == ["warning"] * 18 + ["error"] * 2


def test_what_goes_wrong_with_them_is_no_failure_of_the_mutation(
    client: Client, document: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The change is made: whoever is told otherwise would repeat it."""

    def breaks(*_: object) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(fresh_problems, "_look", breaks)
    answer = client.todo_update("g1", "todo_rehearse", note="soon")

    assert (answer.status, answer.problems) == ("applied", UNSET)
    assert "note=soon" in document.read_text(encoding="utf-8")
    assert "no memory" in caplog.text


def test_beside_a_text_a_goal_says_whose_it_is(client: Client, document: Path) -> None:
    """An unsaved text of a promoted goal is compared with its authority, and a goal that nobody knows is no fault."""
    promote(client)
    typed = document.read_text(encoding="utf-8").replace("- [ ] [P1] Rehearse", "- [ ] [P1] Rehearsed")

    assert [item.code for item in client.goal_diagnostics(goal_id="g1", text=typed).items] == ["edited_projection"]
    assert client.goal_diagnostics(goal_id="nobody", text=HEAD + ROW).items == []
