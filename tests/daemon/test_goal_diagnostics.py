"""`goal_diagnostics`: what an agent is told of a document, over the wire types. Source: protocol.md section 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import stateward
from stateward_engine.goals.todos import generated_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = "---\nstatus: active\n---\n## Next Action\n- go\n"
ROW = "## Agent Todo\n- [ ] 核 🌊\n"
STATES = (
    f"{HEAD}Read $cwd.lazy.plan and $cwd.lazy.plna, `$session.tactics`, US$cwd.lazy.no and $effective.lazy.plan[0].\n"
)
SOUND = "## Agent Todo\n- [ ] a\n  <!-- loopx:todo todo_id=todo_aaa -->\n"


@pytest.fixture
def client(folder: Path) -> Iterator[stateward.Client]:
    with stateward.connect(cwd=folder, store=folder / "store", start="embedded") as client:
        client.patch_state({"cwd": {"lazy": {"plan": {"step": 1}}}})
        yield client


def found(client: stateward.Client, **params: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = msgspec.to_builtins(client.goal_diagnostics(**params).items)
    return items


def test_a_fix_is_edits_on_ranges_in_code_points(client: stateward.Client) -> None:
    """NX-06: a repair that agents and editors make alike."""
    [item] = found(client, text=HEAD + ROW)
    end = {"line": 6, "character": 9}

    assert item["fix"].pop("edits") == [
        {
            "range": {"start": end, "end": end},
            "text": f"\n  <!-- loopx:todo todo_id={generated_id('agent', 'Agent Todo', 1, '核 🌊')} -->",
        }
    ]
    assert item["fix"] == {"title": "give the row its id", "safe": True}


def test_a_problem_without_a_fix_has_no_such_member(client: stateward.Client) -> None:
    [item] = found(client, text=f"{HEAD}{SOUND}\n## Ideas\n\n- [ ] later\n")

    assert (item["code"], "fix" in item) == ("todo_outside_region", False)


def test_references_into_the_state_are_those_of_the_caller(client: stateward.Client) -> None:
    """What the caller cannot read is told; whose owner it does not work with may be another one's matter."""
    items = [item for item in found(client, text=STATES + SOUND) if item["code"] == "dangling_state_reference"]

    assert [item["range"]["start"]["character"] for item in items] == [25, 80]
    assert "no key plna" in items[0]["message"]
    assert "needs an array" in items[1]["message"]


def test_no_project_is_that_of_the_directory_where_the_daemon_happens_to_run(
    client: stateward.Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path beside a text is a hint, and a relative one leads nowhere here."""
    (folder / "stateward.toml").write_text('rules = { implicit_todo_ids = "off" }')
    monkeypatch.chdir(folder)

    assert [item["code"] for item in found(client, text=HEAD + ROW, path="GOAL.md")] == ["implicit_todo_ids"]
    assert found(client, text=HEAD + ROW, path=str(folder / "GOAL.md")) == []


def test_in_mode_off_no_state_is_looked_at(client: stateward.Client) -> None:
    client.set_mode("off")

    assert found(client, text=STATES + SOUND) == []


def test_a_hidden_or_ignored_reference_is_not_told(client: stateward.Client) -> None:
    hidden = f"{HEAD}```\n$cwd.lazy.no\n```\n<!-- stateward: ignore dangling_state_reference -->\n$cwd.lazy.no\n{SOUND}"

    assert found(client, text=hidden) == []


def test_the_document_of_a_promoted_goal_is_compared_with_its_authority(client: stateward.Client, folder: Path) -> None:
    """By its place; a text alone is that of no goal."""
    document = folder / "ACTIVE_GOAL_STATE.md"
    document.write_text(HEAD + SOUND)
    client.goal_register("g1", str(document))
    client.authority_shadow_bootstrap("g1")
    client.authority_promote("g1")
    assert found(client, path=str(document)) == []
    typed = document.read_text().replace("- [ ] a", "- [ ] b")
    document.write_text(typed)
    items = found(client, path=str(document))

    assert [item["code"] for item in items] == ["edited_projection"]
    assert [typed.splitlines()[item["range"]["start"]["line"]] for item in items] == ["- [ ] b"]
    assert "edited_projection" not in {item["code"] for item in found(client, text=typed)}


def test_the_rules_of_the_project_hold(client: stateward.Client, folder: Path) -> None:
    (folder / "stateward.toml").write_text('[rules]\nimplicit_todo_ids = "off"\nnested_todo = "warning"\n')
    document = folder / "ACTIVE_GOAL_STATE.md"
    document.write_text(f"{HEAD}## Agent Todo\n  - [ ] a\n")

    assert [(item["code"], item["severity"]) for item in found(client, path=str(document))] == [
        ("nested_todo", "warning")
    ]
    assert [item["code"] for item in found(client, text=document.read_text())] == ["implicit_todo_ids", "nested_todo"]
