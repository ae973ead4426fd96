"""Decisions and drafts: what is stored, what is answered from memory, and what is refused."""

from __future__ import annotations

import hashlib
from typing import Any, Final

import pytest

from stateward_engine.errors import (
    CorruptStore,
    IdempotencyConflict,
    InvalidRequest,
    OutOfBounds,
    Refused,
    StaleBasis,
    UnwantedOwner,
)
from stateward_engine.state.commands import (
    Command,
    Configure,
    ImportState,
    PatchState,
    Respond,
    parse_answer,
    parse_fork,
)
from stateward_engine.state.decide import decide, revision_of
from stateward_engine.state.draft import RECEIPTS_KEPT_MAX, Draft
from stateward_engine.state.history import transitions
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.read import ReadRequest, read
from stateward_engine.state.transition import Repeat, Transition, from_entry
from stateward_engine.state.view import SCOPES, Identity, KeptReceipt, ReceiptKey, Scope, Selection, View
from stateward_engine.state.whole_state import exported, parse_scopes

CWD: Final = "/home/ada/project"
ADA: Final = Selection(CWD, "morning", SCOPES)
AT: Final = "2026-01-01T00:00:00Z"


def patch(planes: Any, who: Selection = ADA, **options: str) -> PatchState:
    return PatchState(who, parse_patch(planes, who.wanted), **options)


def committed(view: View, *commands: Command, at: str = AT) -> View:
    """Return the view after commands that are all accepted."""
    draft = Draft(view)
    for sequence, command in enumerate(commands, view.sequence + 1):
        decision = decide(draft, command)
        assert isinstance(decision, Transition)
        draft.apply(decision, at=at, sequence=sequence)
    return draft.finish()


class TestRevision:
    """protocol.md, section 3: `state_status` → `{revision: "G15/C8/S31", ...}`."""

    def test_it_counts_what_changed_each_scope(self) -> None:
        """One accepted transition raises the revision of each changed scope by one (SF-175)."""
        both = {"cwd": {"tactics": {"a": 1}}, "session": {"tactics": {"a": 1}}}
        view = committed(View(), patch(both), patch({"cwd": {"tactics": {"a": 2}}}))

        assert revision_of(view, ADA) == "G0/C2/S1"

    def test_it_names_wanted_scopes_only(self) -> None:
        view = committed(View(), patch({"cwd": {"tactics": {"a": 1}}}))

        assert revision_of(view, Selection(CWD, None, ("global", "cwd"))) == "G0/C1"

    def test_a_current_one_lets_the_patch_pass(self) -> None:
        view = committed(View(), patch({"cwd": {"tactics": {"a": 1}}}))

        committed(view, patch({"cwd": {"tactics": {"a": 2}}}, if_revision="G0/C1/S0"))

    def test_a_stale_one_is_refused_with_the_current_one(self) -> None:
        """A patch against a stale basis is rejected (SF-191)."""
        view = committed(View(), patch({"global": {"tactics": {"a": 1}}}))

        with pytest.raises(StaleBasis) as caught:
            decide(view, patch({"cwd": {"tactics": {"a": 2}}}, if_revision="G0/C0/S0"))
        assert (caught.value.facts["got"], caught.value.facts["wanted"]) == ("G0/C0/S0", "G1/C0/S0")

    def test_it_is_checked_before_the_patch_is_applied(self) -> None:
        with pytest.raises(StaleBasis):
            decide(View(), patch({"cwd": {"lazy": {"[0]": 1}}}, if_revision="G9/C0/S0"))


class TestIdempotency:
    """protocol.md, section 3: "The same key and patch again: the first answer, no new transition"."""

    def test_a_repeat_is_answered_from_the_kept_receipt(self) -> None:
        view = committed(View(), patch({"cwd": {"tactics": {"a": 1}}}, idempotency_key="k"))
        view = committed(view, patch({"cwd": {"tactics": {"a": 2}}}))

        assert decide(view, patch({"cwd": {"tactics": {"a": 1}}}, idempotency_key="k")) == Repeat({"changed": ["cwd"]})

    def test_a_key_is_looked_up_before_the_revision(self) -> None:
        command = patch({"cwd": {"tactics": {"a": 1}}}, idempotency_key="k", if_revision="G0/C0/S0")

        assert decide(committed(View(), command), command) == Repeat({"changed": ["cwd"]})

    def test_another_patch_is_a_conflict(self) -> None:
        view = committed(View(), patch({"cwd": {"tactics": {"a": 1}}}, idempotency_key="k"))

        with pytest.raises(IdempotencyConflict) as caught:
            decide(view, patch({"cwd": {"tactics": {"a": True}}}, idempotency_key="k"))
        assert caught.value.facts["path"] == "$.params.idempotency_key"

    def test_the_order_of_keys_and_the_flat_form_are_no_other_patch(self) -> None:
        alone = Selection(CWD, "morning", ("cwd",))
        view = committed(View(), patch({"cwd": {"lazy": {"a": 1, "b": 2}}}, idempotency_key="k"))

        assert isinstance(decide(view, patch({"lazy": {"b": 2, "a": 1}}, alone, idempotency_key="k")), Repeat)

    def test_the_spelling_of_a_number_is_no_other_patch(self) -> None:
        """state.md, section 2.5: "`1` equals `1.0`"; a client that repeats may have parsed and printed its patch."""
        view = committed(View(), patch({"cwd": {"lazy": {"a": [1, -0.0, 1e300, "1.0"]}}}, idempotency_key="k"))

        assert isinstance(
            decide(view, patch({"cwd": {"lazy": {"a": [1.0, 0, 1e300, "1.0"]}}}, idempotency_key="k")), Repeat
        )
        for other in ([1, 0, 1e300, "1"], [True, 0, 1e300, "1.0"], [1.5, 0, 1e300, "1.0"]):
            with pytest.raises(IdempotencyConflict):
                decide(view, patch({"cwd": {"lazy": {"a": other}}}, idempotency_key="k"))

    @pytest.mark.parametrize(
        "other", [Selection(CWD, "evening", SCOPES), Selection("/home/ada/other", "morning", SCOPES)]
    )
    def test_a_key_belongs_to_its_directory_and_session(self, other: Selection) -> None:
        view = committed(View(), patch({"global": {"tactics": {"a": 1}}}, idempotency_key="k"))

        assert isinstance(
            decide(view, patch({"global": {"tactics": {"a": 2}}}, other, idempotency_key="k")), Transition
        )

    def test_what_changes_nothing_is_not_recorded(self) -> None:
        view = committed(View(), patch({"cwd": {"tactics": {"a": 1}}}))

        assert decide(view, patch({"cwd": {"tactics": {"a": 1}}}, idempotency_key="k")) == Repeat({"changed": []})
        assert view.receipts == {}

    def test_the_oldest_receipts_go(self) -> None:
        kept = {
            ReceiptKey(CWD, None, str(n)): KeptReceipt("", {}, 0, Identity("cwd", CWD))
            for n in range(RECEIPTS_KEPT_MAX)
        }
        view = committed(View(receipts=kept), patch({"cwd": {"tactics": {"a": 1}}}, idempotency_key="new"))

        assert len(view.receipts) == RECEIPTS_KEPT_MAX
        assert ReceiptKey(CWD, None, "0") not in view.receipts
        assert list(view.receipts)[-1] == ReceiptKey(CWD, "morning", "new")
        assert len(kept) == RECEIPTS_KEPT_MAX


class TestSessions:
    """state.md, section 7.1: a session is created by the first accepted transition attached to it, in any scope."""

    def test_the_first_transition_names_it_and_later_ones_renew_it(self) -> None:
        view = committed(View(), patch({"cwd": {"tactics": {"a": 1}}}), at="2026-01-01T00:00:00Z")
        later = committed(view, patch({"global": {"tactics": {"a": 1}}}), at="2026-01-02T00:00:00Z")

        assert view.sessions == {CWD: {"morning": "2026-01-01T00:00:00Z"}}
        assert later.sessions == {CWD: {"morning": "2026-01-02T00:00:00Z"}}

    def test_sessions_of_one_directory_stand_side_by_side(self) -> None:
        evening = Selection(CWD, "evening", SCOPES)
        view = committed(View(), patch({"cwd": {"tactics": {"a": 1}}}), patch({"cwd": {"tactics": {"a": 2}}}, evening))

        assert view.sessions == {CWD: {"morning": AT, "evening": AT}}

    def test_without_one_nothing_is_named(self) -> None:
        nobody = Selection(CWD, None, ("global", "cwd"))

        assert committed(View(), patch({"cwd": {"tactics": {"a": 1}}}, nobody)).sessions == {}


class TestConfigure:
    """state.md, section 7.1: "`history_limit` is one durable setting of the store"."""

    def test_a_new_limit_is_a_transition_of_no_scope(self) -> None:
        view = committed(View(), Configure(3))

        assert (view.history_limit, view.scopes, view.sessions, view.sequence) == (3, {}, {}, 1)

    def test_a_lower_one_folds_every_scope_at_once(self) -> None:
        patches = [patch({"cwd": {"tactics": {"a": n}}, "global": {"tactics": {"a": n}}}) for n in range(5)]
        view = committed(View(), *patches, Configure(2))

        for kind in ("cwd", "global"):
            scope = view.scope(ADA.identity(kind))
            assert (scope.since, [change.sequence for change in scope.changes]) == (3, [4, 5])

    def test_the_same_limit_is_none(self) -> None:
        assert decide(View(), Configure(7)) == Repeat({"history_limit": 7})


class TestAnswers:
    """state.md, section 8.5: "A changed text is an ordinary transition of the session; the same text is none"."""

    def test_a_changed_text_is_a_transition_of_the_session_alone(self) -> None:
        """SF-032."""
        view = committed(View(), parse_answer(ADA, "done", active=True))

        assert read(view, ADA, ReadRequest(("session.response",))) == {"value": "done"}
        assert read(view, ADA, ReadRequest(("session",), projection="patch")) == {"patch": {"response": "done"}}
        assert revision_of(view, ADA) == "G0/C0/S1"

    def test_the_same_text_is_none(self) -> None:
        view = committed(View(), Respond(ADA, "done"))

        assert decide(view, Respond(ADA, "done")) == Repeat({"changed": []})

    def test_an_empty_text_removes_the_answer(self) -> None:
        view = committed(View(), Respond(ADA, "done"), Respond(ADA, ""))

        assert read(view, ADA, ReadRequest(("session",))) == {"value": {}}
        assert read(view, ADA, ReadRequest(("session.response",), projection="patch")) == {"patch": None}
        assert decide(view, Respond(ADA, "")) == Repeat({"changed": []})

    def test_only_mode_active_answers(self) -> None:
        with pytest.raises(InvalidRequest):
            parse_answer(ADA, "done", active=False)

    def test_only_a_wanted_session_answers(self) -> None:
        with pytest.raises(UnwantedOwner):
            parse_answer(Selection(CWD, "morning", ("cwd",)), "done", active=True)

    def test_text_is_text(self) -> None:
        with pytest.raises(InvalidRequest):
            parse_answer(ADA, "half \ud83d", active=True)


class TestForks:
    """state.md, section 12.1: child session state := parent's current session state; revision 0; new origin."""

    def test_a_child_begins_with_the_current_state_of_its_parent(self) -> None:
        """SF-193: and global and cwd stay as they are, as does the parent."""
        roots: Any = {"board": {"declaration": {"module": "m"}, "value": [1]}}
        view = committed(View(), ImportState(ADA, parse_scopes({"session": {"roots": roots}}, SCOPES)))
        view = committed(view, patch({"session": {"lazy": {"a": 1}}, "cwd": {"tactics": {"a": 1}}}))
        forked = committed(view, parse_fork(ADA, "morning", "noon"))
        child = Selection(CWD, "noon", SCOPES)

        assert exported(forked.scope(child.identity("session"))) == {"lazy": {"a": 1}, "roots": roots}
        assert revision_of(forked, child) == "G0/C1/S0"
        assert transitions(forked, child) == []
        assert forked.scope(ADA.identity("session")) is view.scope(ADA.identity("session"))
        assert list(forked.sessions[CWD]) == ["morning", "noon"]

    @pytest.mark.parametrize(
        ("parent", "child", "reason"), [("x", "noon", "unknown_parent"), ("morning",) * 2 + ("session_exists",)]
    )
    def test_another_parent_or_a_known_child_is_refused(self, parent: str, child: str, reason: str) -> None:
        view = committed(View(), patch({"cwd": {"tactics": {"a": 1}}}))

        with pytest.raises(Refused) as caught:
            decide(view, parse_fork(ADA, parent, child))
        assert caught.value.facts["reason_code"] == reason

    def test_a_forked_child_is_not_imported_into(self) -> None:
        view = committed(View(), patch({"session": {"tactics": {"a": 1}}}), parse_fork(ADA, "morning", "noon"))

        with pytest.raises(Refused):
            decide(view, ImportState(Selection(CWD, "noon", SCOPES), {"session": {"tactics": {}}}))

    def test_sessions_belong_to_a_directory(self) -> None:
        with pytest.raises(InvalidRequest):
            parse_fork(Selection(None, None, ("global",)), "a", "b")


class TestDraft:
    """One transition after another, as one writer sees them."""

    def test_each_command_of_a_group_meets_what_came_before_it(self) -> None:
        """Indices are checked against the one captured basis (SF-166)."""
        grow = patch({"cwd": {"lazy": {"m": [1, 2]}}})
        view = committed(View(), grow, patch({"cwd": {"lazy": {"m": {"[1]": 9}}}}))

        scope = view.scope(ADA.identity("cwd"))
        assert (scope.planes, scope.revision) == ({"lazy": {"m": [1, 9]}}, 2)

    def test_what_came_before_may_leave_no_such_element(self) -> None:
        shrink = patch({"cwd": {"lazy": {"m": [1]}}})

        with pytest.raises(OutOfBounds):
            committed(View(), shrink, patch({"cwd": {"lazy": {"m": {"[1]": 9}}}}))

    def test_a_finished_one_takes_nothing_more(self) -> None:
        draft = Draft(View())
        decision = decide(draft, Configure(3))
        view = draft.finish()

        with pytest.raises(RuntimeError):
            draft.apply(decision, at=AT, sequence=1)  # type: ignore[arg-type]  # decided above: a transition
        assert view == View()

    @pytest.mark.parametrize(
        "planes",
        [
            {"lazy": {"m": {"b": 1.0, "ab": [2], "c": {}}}},
            # What the deletion of an intent clears and the patch writes again is not recorded where it is equal.
            {"intents": {"ship": None}, "lazy": {"plan": {"n": 1.0, "more": 2}}},
        ],
    )
    def test_what_the_decision_found_is_what_its_record_leads_to(self, planes: Any) -> None:
        """A result is taken over instead of worked out twice; a store that is read again has the same bytes."""
        before = {
            "cwd": {"intents": {"ship": {"$ref": "cwd.lazy.plan"}}, "lazy": {"plan": {"n": 1}, "m": {"a": 1, "b": 1}}}
        }
        view = committed(View(), patch(before))
        transition = decide(view, patch({"cwd": planes}))
        assert isinstance(transition, Transition)

        views = []
        for known in (transition, from_entry(transition.to_entry(AT))):
            draft = Draft(view)
            draft.apply(known, at=AT, sequence=2)
            views.append(repr(draft.finish().scopes))
        assert views[0] == views[1]

    def test_untouched_scopes_are_shared(self) -> None:
        view = committed(View(), patch({"global": {"lazy": {"a": [1]}}}))
        later = committed(view, patch({"cwd": {"lazy": {"a": [1]}}}))

        assert later.scopes[Identity("global")] is view.scopes[Identity("global")]


def test_an_empty_response_is_nothing_to_import() -> None:
    """state.md, section 2.2: "An empty `response` string counts as absent everywhere."""
    scopes = parse_scopes({"session": {"response": ""}, "cwd": {"response": "", "lazy": {}}}, SCOPES)

    assert scopes == {"session": {}, "cwd": {"lazy": {}}}
    assert decide(View(), ImportState(ADA, {"session": scopes["session"]})) == Repeat({"changed": []})


def test_an_import_ends_the_emptiness_of_its_scope() -> None:
    view = committed(View(), ImportState(ADA, {"cwd": {"lazy": {}}}))

    assert view.scope(ADA.identity("cwd")) == Scope({"lazy": {}}, 1, since=1, touched=1)
    with pytest.raises(Refused):
        decide(view, ImportState(ADA, {"cwd": {"tactics": {}}}))


def test_an_entry_of_another_version_is_not_guessed_at() -> None:
    decision = decide(View(), Configure(3))
    assert isinstance(decision, Transition)

    with pytest.raises(CorruptStore):
        from_entry(decision.to_entry(AT) | {"version": 2})


def test_an_entry_is_self_contained() -> None:
    decision = decide(View(), patch({"cwd": {"tactics": {"a": 1}}}, idempotency_key="k"))
    assert isinstance(decision, Transition)

    assert decision.to_entry(AT) == {
        "type": "state",
        "version": 1,
        "at": AT,
        "cwd": CWD,
        "session": "morning",
        "patches": {"cwd": {"tactics": {"a": 1}}},
        "states": {},
        "receipt": {"changed": ["cwd"]},
        "key": "k",
        "digest": hashlib.sha256(b'{"cwd":{"tactics":{"a":1}}}').hexdigest(),
        "history_limit": None,
        "parent": None,
        "reset": False,
    }
