"""What the synchronous and the asynchronous client have in common: params, repeats and results. No I/O."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from stateward_protocol import __version__
from stateward_protocol.envelope import Call
from stateward_protocol.errors import WireError
from stateward_protocol.goal_messages import GoalListResult
from stateward_protocol.messages import StateStatusResult
from stateward_protocol.methods import METHODS, PROTOCOL_VERSION, Kind
from stateward_protocol.notices import NOTICES, DiagnosticsChanged, Notice, StateChanged, TodosChanged, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from stateward_protocol.messages import AttachResult, Mode, Owner
    from stateward_protocol.operation_messages import OperationResult

R = TypeVar("R")
T = TypeVar("T", bound="OperationResult")

CLIENT_NAME: Final = "stateward-python"
# What the caller of an attach that fails for its protocol number can do about it.
RESTART_COMMAND: Final = "stateward daemon restart"


def given(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the params that the caller gave; `None` stands for the method's default."""
    return {name: value for name, value in params.items() if value is not None}


def attach_params(
    client_name: str,
    cwd: str | None = None,
    session: str | None = None,
    wanted: Sequence[Owner] | None = None,
    mode: Mode = "active",
) -> dict[str, Any]:
    """Return the params of `attach`."""
    client = {"name": client_name, "version": __version__}
    return {
        "client": client,
        "protocol": PROTOCOL_VERSION,
        **given({"cwd": cwd, "session": session, "wanted": wanted, "mode": mode}),
    }


_REPEATABLE: Final = frozenset({Kind.CONNECTION, Kind.READ, Kind.DOCUMENT})
# Params by which the daemon knows a mutation again: sent twice, it happens once.
_IDENTITIES: Final = {"patch_state": "idempotency_key"}
_IDENTITY: Final = "operation_id"


def new_idempotency_key() -> str:
    """Return a key that nobody else uses."""
    return os.urandom(16).hex()


@contextlib.contextmanager
def naming_key(key: str, name: str = "idempotency_key") -> Iterator[None]:
    """Let an error after which nobody knows what became of a mutation say the key that it can be repeated with.

    Args:
        key: The key.
        name: What the params call it.
    """
    try:
        yield
    except WireError as error:
        if error.data.get("outcome") == "unknown" or is_lost(error):
            error.data[name] = key
        raise


def identified(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the params of a mutation with an identity: the caller's, or a random one."""
    given = params.get(_IDENTITY)
    return {**params, _IDENTITY: new_idempotency_key() if given is None else given}


def with_identity(answer: T, params: Mapping[str, Any]) -> T:
    """Return an answer that says whether the caller himself chose the identity of the mutation."""
    return msgspec.structs.replace(answer, operation_id_given=params.get(_IDENTITY) is not None)


def lease_params(
    goal_id: str, todo_id: str, owner: str, idempotency_key: str, expected_version: int | None
) -> dict[str, Any]:
    """Return what names a lease."""
    return {
        "goal_id": goal_id,
        "todo_id": todo_id,
        "owner": owner,
        "idempotency_key": idempotency_key,
        "expected_version": expected_version,
    }


def check_open(*, closed: bool) -> None:
    """Refuse a call of a client that was closed: to connect again would be a surprise, and nobody would close it.

    Raises:
        RuntimeError: It was.
    """
    if closed:
        raise RuntimeError("this client is closed; connect again for another one")


def is_lost(error: WireError) -> bool:
    """Whether the connection that raised `error` is of no further use."""
    return error.category == "shutting_down" or error.data.get("reason_code") in ("connection_lost", "timeout")


def may_repeat(error: WireError, method: str, params: Mapping[str, Any]) -> bool:
    """Whether `method` can be sent again over a new connection without doing anything twice.

    A timeout is not repeated: the caller has waited long enough. Nor is a call that concerns the daemon itself: the new
    connection may have started another one.
    """
    if not is_lost(error) or error.data.get("reason_code") == "timeout":
        return False
    return METHODS[method].kind in _REPEATABLE or _IDENTITIES.get(method, _IDENTITY) in params


def _all_scopes(attached: AttachResult, found: StateStatusResult) -> list[Notice]:
    return [StateChanged(scopes=attached.wanted, revision=found.revision)]


def _all_todos(_attached: AttachResult, found: GoalListResult) -> list[Notice]:
    return [TodosChanged(goal_id=goal.goal_id, provider_revision=goal.provider_revision) for goal in found.goals]


def _all_problems(_attached: AttachResult, found: GoalListResult) -> list[Notice]:
    return [DiagnosticsChanged(goal=goal.goal_id, uri=Path(goal.path).as_uri()) for goal in found.goals]


# Of each topic, the method that tells how things are, and what to make of its answer.
_RESUMING: Final[dict[Topic, tuple[str, Any, Callable[[AttachResult, Any], list[Notice]]]]] = {
    "state": ("state_status", StateStatusResult, _all_scopes),
    "goals": ("goal_list", GoalListResult, _all_problems),
    "todos": ("goal_list", GoalListResult, _all_todos),
}


def resuming(topic: Topic) -> str:
    """Return the method that a client which is connected anew asks about a topic, without params."""
    return _RESUMING[topic][0]


def resumed(topic: Topic, attached: AttachResult, answer: Any) -> list[Call]:  # noqa: ANN401 - any JSON value
    """Return what such a client tells itself of the answer: anything may have changed while it was not connected."""
    _, kind, notices = _RESUMING[topic]
    return [Call(notice.method, msgspec.to_builtins(notice), None) for notice in notices(attached, typed(answer, kind))]


def change_of(told: Call) -> Notice | None:
    """Return a notification as its struct; `None` for one that this client does not know."""
    kind = NOTICES.get(told.method)
    return None if kind is None else typed(told.params, kind)


def typed(result: Any, kind: type[R]) -> R:  # noqa: ANN401 - any JSON value
    """Return a result as its struct.

    Raises:
        WireError: `internal`, when the daemon answered something else.
    """
    try:
        return msgspec.convert(result, kind)
    except msgspec.ValidationError as error:
        raise WireError(
            "internal", f"the daemon's answer does not fit this client: {error}", example=RESTART_COMMAND
        ) from None
