"""protocol.md section 5: a typed method each, a connection that mends itself, and no write done twice."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import re
import subprocess
import sys
import traceback
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import stateward
from stand_in import HANG_UP, Message, StandIn, attached, lock_file, refusal, result
from stateward import AsyncClient, Client, StatewardError, goal_options
from stateward.location import Announcement, Place
from stateward.transport import SocketTransport
from stateward_protocol import __version__
from stateward_protocol import messages as m
from stateward_protocol.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# What the clients fill in themselves.
OWN_PARAMS = {"client", "protocol"}


@pytest.fixture
def serve(folder: Path) -> Iterator[Callable[[Callable[[Message], list[Message]]], StandIn]]:
    started: list[StandIn] = []

    def start(answer: Callable[[Message], list[Message]]) -> StandIn:
        def with_attach(message: Message) -> list[Message]:
            return attached(message) if message["method"] == "attach" else answer(message)

        started.append(StandIn(folder / "d.sock", with_attach))
        (folder / "store").mkdir()
        announced = Announcement(1, str(folder / "d.sock"), __version__)
        (folder / "store/lock").write_bytes(lock_file(announced))
        return started[-1]

    yield start
    for stand_in in started:
        stand_in.close()


@pytest.fixture
def connect(folder: Path) -> Callable[..., Client]:
    return functools.partial(stateward.connect, store=folder / "store", start="never", timeout_s=10.0)


@pytest.fixture
def connect_async(folder: Path) -> Callable[..., Any]:
    return functools.partial(AsyncClient.connect, store=folder / "store", start="never", timeout_s=10.0)


def once(first: list[Message] | None, then: Callable[[Message], list[Message]]) -> Callable[[Message], list[Message]]:
    """Answer the first call with `first`, and later ones by `then`."""
    rest = [first]
    return lambda message: rest.pop() if rest else then(message)  # type: ignore[return-value] # None is never popped


def added(operation_id: str) -> Message:
    """Return what `todo_add` is answered."""
    return {
        "status": "applied",
        "changed": True,
        "goal_id": "g1",
        "operation_id": operation_id,
        "operation_id_given": True,
        "provider_revision": "file:s:1",
        "cursor": "1",
        "source_authority": "file_v0",
        "todo": {},
        "todo_id": "todo_one",
        "added": True,
    }


def value_one(message: Message) -> list[Message]:
    return result(message, {"value": 1})


def params_of(function: Callable[..., Any]) -> set[str]:
    """Return what a method takes by name, with what it takes as the keys of a typed dictionary."""
    names: set[str] = set()
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            unpacked = re.fullmatch(r"Unpack\[(\w+)\]", parameter.annotation)
            assert unpacked is not None
            names |= getattr(goal_options, unpacked[1]).__annotations__.keys()
        else:
            names.add(name)
    return names - {"self"}


def public_methods(client: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(client, inspect.isfunction) if not name.startswith("_")}


class TestMethods:
    """Section 5: one typed method per protocol method."""

    @pytest.mark.parametrize("client", [Client, AsyncClient])
    def test_each_client_has_exactly_the_methods_of_the_table(self, client: type) -> None:
        assert public_methods(client) - {"changes", "close", "connect"} == METHODS.keys()

    @pytest.mark.parametrize("client", [Client, AsyncClient])
    @pytest.mark.parametrize("name", sorted(METHODS))
    def test_each_method_takes_the_params_of_its_row(self, client: type, name: str) -> None:
        assert params_of(getattr(client, name)) == set(METHODS[name].params.__struct_fields__) - OWN_PARAMS

    @pytest.mark.parametrize("name", sorted(METHODS))
    def test_both_clients_agree_and_return_the_type_of_the_row(self, name: str) -> None:
        synchronous, asynchronous = inspect.signature(getattr(Client, name)), getattr(AsyncClient, name)

        assert synchronous == inspect.signature(asynchronous)
        assert inspect.iscoroutinefunction(asynchronous)
        returned = synchronous.return_annotation.partition("[")[0].rpartition(".")[2]
        assert returned == METHODS[name].result.__name__

    def test_params_that_are_not_given_are_not_sent(self, serve: Any, connect: Any) -> None:
        stand_in = serve(lambda message: result(message, {"value": 1}))
        with connect() as client:
            client.read_state("cwd.tactics")

        assert stand_in.received[1][1]["params"] == {"path": "cwd.tactics", "projection": "value"}

    def test_results_are_structs(self, serve: Any, connect: Any) -> None:
        serve(lambda message: result(message, {"changed": ["cwd"], "member_of_a_later_version": 1}))
        with connect() as client:
            assert client.patch_state({"cwd": {"tactics": {"a": 1}}}) == m.PatchReceipt(changed=["cwd"])

    def test_an_answer_of_another_shape_is_an_error_of_ours(self, serve: Any, connect: Any) -> None:
        serve(lambda message: result(message, {"changed": "cwd"}))
        with connect() as client, pytest.raises(StatewardError, match="does not fit") as refused:
            client.patch_state({"cwd": {}})

        assert refused.value.category == "internal"


class TestAttaching:
    """Section 2: a connection is bound before anything else."""

    def test_connecting_attaches_with_an_absolute_directory(
        self, folder: Path, serve: Any, connect: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stand_in = serve(lambda message: result(message, {}))
        monkeypatch.chdir(folder)
        with connect("project", "s1", ["cwd", "session"], "passive") as client:
            assert client.attached.mode == "passive"

        params = stand_in.received[0][1]["params"]
        assert params == {
            "client": {"name": "stateward-python", "version": __version__},
            "protocol": 1,
            "cwd": str(folder / "project"),
            "session": "s1",
            "wanted": ["cwd", "session"],
            "mode": "passive",
        }

    def test_without_a_daemon_it_says_so_and_creates_nothing(self, folder: Path, connect: Any) -> None:
        """Field case 39: never an empty store because the daemon is gone."""
        with pytest.raises(StatewardError) as refused:
            connect()

        assert refused.value.data["reason_code"] == "not_running"
        assert not (folder / "store").exists()

    def test_a_refused_attachment_is_passed_on(self, folder: Path, serve: Any) -> None:
        stand_in = serve(lambda message: result(message, {}))
        stand_in._answer = lambda message: refusal(message, "invalid_request", path="$.params.protocol")

        with pytest.raises(StatewardError) as refused:
            stateward.connect(store=folder / "store", start="never")

        assert refused.value.data["path"] == "$.params.protocol"

    def test_a_lost_connection_is_attached_as_before(self, serve: Any, connect: Any) -> None:
        stand_in = serve(once(HANG_UP, lambda message: result(message, {"value": 1})))
        with connect(session="s1", cwd="/") as client:
            client.read_state("cwd.tactics")

        attachments = [message["params"] for _, message in stand_in.received if message["method"] == "attach"]
        assert len(attachments) == 2
        assert attachments[0] == attachments[1]
        assert [number for number, _ in stand_in.received] == [0, 0, 1, 1]

    def test_a_lost_connection_is_attached_in_the_mode_that_was_set(self, serve: Any, connect: Any) -> None:
        answer = once(HANG_UP, lambda message: result(message, {"value": 1}))
        stand_in = serve(lambda m: result(m, {"mode": "passive"}) if m["method"] == "set_mode" else answer(m))
        with connect(session="s1", cwd="/") as client:
            client.set_mode("passive")
            assert client.attached.mode == "passive"
            client.read_state("cwd.tactics")

        modes = [message["params"]["mode"] for _, message in stand_in.received if message["method"] == "attach"]
        assert modes == ["active", "passive"]


def sent(stand_in: StandIn, method: str) -> list[Any]:
    return [message["params"] for _, message in stand_in.received if message["method"] == method]


class TestOpening:
    """Section 5: both clients are opened alike."""

    def test_both_are_connected_with_the_same_arguments(self) -> None:
        def spelled(connect: Any) -> list[str]:
            parameters = inspect.signature(connect).parameters.values()
            return [f"{p.kind.name} {p}".replace("m.", "").replace("DaemonStart", "Start") for p in parameters]

        assert spelled(stateward.connect) == spelled(AsyncClient.connect)

    def test_a_start_that_is_none_is_refused_with_those_that_are(self, folder: Path) -> None:
        with pytest.raises(ValueError, match="start is one of auto, never, embedded, not 'nevre'"):
            stateward.connect(store=folder / "store", start="nevre")  # type: ignore[arg-type] # the mistake
        for start in ("nevre", "embedded"):
            with pytest.raises(ValueError, match=f"start is one of auto, never, not '{start}'"):
                AsyncClient.connect(store=folder / "store", start=start)  # type: ignore[arg-type] # the mistake

        assert not (folder / "store").exists()

    async def test_an_asynchronous_client_is_awaited_or_entered(self, serve: Any, connect_async: Any) -> None:
        serve(value_one)
        async with connect_async() as client:
            assert await client.read_state("cwd.tactics") == {"value": 1}
        with pytest.raises(RuntimeError, match="closed"):
            await client.ping()
        client = await connect_async()
        assert await client.read_state("cwd.tactics") == {"value": 1}
        await client.close()

    async def test_what_is_refused_on_entering_is_raised_there(self, connect_async: Any) -> None:
        with pytest.raises(StatewardError) as refused:
            async with connect_async():
                pass

        assert refused.value.data["reason_code"] == "not_running"


class TestClosing:
    """A client that was closed stays closed."""

    def test_a_call_is_refused_and_nothing_is_opened(self, serve: Any, connect: Any) -> None:
        stand_in = serve(value_one)
        client = connect()
        client.close()
        client.close()

        with pytest.raises(RuntimeError, match="this client is closed; connect again"):
            client.read_state("cwd.tactics")
        assert stand_in.methods() == ["attach"]

    async def test_the_same_of_an_asynchronous_one(self, serve: Any, connect_async: Any) -> None:
        stand_in = serve(value_one)
        client = await connect_async()
        await client.close()
        await client.close()

        with pytest.raises(RuntimeError, match="this client is closed; connect again"):
            await client.read_state("cwd.tactics")
        assert stand_in.methods() == ["attach"]

    async def test_a_read_that_waits_then_is_not_repeated(self, serve: Any, connect_async: Any) -> None:
        stand_in = serve(lambda _: [])
        client = await connect_async()
        call = asyncio.create_task(client.read_state("cwd.tactics"))
        await asyncio.to_thread(stand_in.wait_for, "read_state")
        await client.close()

        with pytest.raises(StatewardError) as refused:
            await call
        assert refused.value.data["reason_code"] == "connection_lost"
        assert stand_in.methods() == ["attach", "read_state"]


class TestRepeating:
    """Section 5: reads are repeated once; writes only with an idempotency key, which makes them one."""

    def test_a_read_is_repeated_once(self, serve: Any, connect: Any) -> None:
        stand_in = serve(once(HANG_UP, lambda message: result(message, {"value": 1})))
        with connect() as client:
            assert client.read_state("cwd.tactics") == {"value": 1}

        assert len(sent(stand_in, "read_state")) == 2

    def test_a_read_is_not_repeated_twice(self, serve: Any, connect: Any) -> None:
        stand_in = serve(lambda _: HANG_UP)
        with connect() as client, pytest.raises(StatewardError):
            client.read_state("cwd.tactics")

        assert len(sent(stand_in, "read_state")) == 2

    def test_a_patch_is_repeated_with_the_key_of_the_first_attempt(self, serve: Any, connect: Any) -> None:
        stand_in = serve(once(HANG_UP, lambda message: result(message, {"changed": []})))
        with connect() as client:
            client.patch_state({"cwd": {"tactics": {"a": 1}}})
            client.patch_state({"cwd": {"tactics": {"a": 1}}})

        first, repeated, second = sent(stand_in, "patch_state")
        assert first == repeated
        assert len(first["idempotency_key"]) == 32
        assert second["idempotency_key"] != first["idempotency_key"]

    async def test_a_patch_that_may_have_happened_tells_the_key_to_repeat_it_with(
        self, serve: Any, connect: Any, connect_async: Any
    ) -> None:
        stand_in = serve(lambda _: HANG_UP)
        with connect() as client, pytest.raises(StatewardError) as lost:
            client.patch_state({"cwd": {"tactics": {"a": 1}}})
        waiting = await connect_async()
        with pytest.raises(StatewardError) as lost_too:
            await waiting.patch_state({"cwd": {"tactics": {"a": 1}}})
        await waiting.close()

        keys = [params["idempotency_key"] for params in sent(stand_in, "patch_state")]
        assert keys == [key for error in (lost, lost_too) for key in [error.value.data["idempotency_key"]] * 2]

    def test_the_key_of_the_caller_is_kept(self, serve: Any, connect: Any) -> None:
        stand_in = serve(lambda message: result(message, {"changed": []}))
        with connect() as client:
            client.patch_state({"cwd": {}}, idempotency_key="mine")

        assert sent(stand_in, "patch_state")[0]["idempotency_key"] == "mine"

    def test_a_mutation_of_a_goal_is_repeated_with_its_identity(self, serve: Any, connect: Any) -> None:
        """The daemon knows it again; that the identity was our own idea stays known."""
        stand_in = serve(once(HANG_UP, lambda message: result(message, added(message["params"]["operation_id"]))))
        with connect() as client:
            first = client.todo_add("g1", "agent", "One", priority="P0")
            second = client.todo_add("g1", "agent", "One", operation_id="mine")

        sent_first, repeated, sent_second = sent(stand_in, "todo_add")
        assert sent_first == repeated == {**sent_first, "priority": "P0", "operation_id": first.operation_id}
        assert sent_second["operation_id"] == second.operation_id == "mine"
        assert (first.operation_id_given, second.operation_id_given) == (False, True)

    async def test_a_mutation_of_a_goal_that_may_have_happened_tells_its_identity(
        self, serve: Any, connect: Any, connect_async: Any
    ) -> None:
        stand_in = serve(lambda _: HANG_UP)
        with connect() as client, pytest.raises(StatewardError) as lost:
            client.lease_acquire("g1", "todo_one", "ada", "key-1")
        waiting = await connect_async()
        with pytest.raises(StatewardError) as lost_too:
            await waiting.lease_acquire("g1", "todo_one", "ada", "key-1")
        await waiting.close()

        ids = [params["operation_id"] for params in sent(stand_in, "lease_acquire")]
        assert ids == [key for error in (lost, lost_too) for key in [error.value.data["operation_id"]] * 2]

    @pytest.mark.parametrize(
        ("method", "params"),
        [
            ("configure", {"history_limit": 3}),
            ("import_state", {"scopes": {}}),
            ("shutdown_daemon", {}),
            ("goal_new", {"goal_id": "g1", "path": "/g", "objective": "o"}),
            ("todo_archive_completed", {"goal_id": "g1", "execute": True}),
        ],
    )
    def test_what_could_be_done_twice_is_not_repeated(self, serve: Any, connect: Any, method: str, params: Any) -> None:
        stand_in = serve(lambda _: HANG_UP)
        with connect() as client, pytest.raises(StatewardError) as refused:
            getattr(client, method)(**params)

        assert refused.value.data["reason_code"] == "connection_lost"
        assert len(sent(stand_in, method)) == 1

    def test_after_a_loss_the_next_call_connects_again(self, serve: Any, connect: Any) -> None:
        serve(once(HANG_UP, lambda message: result(message, {"history_limit": 3})))
        with connect() as client:
            with pytest.raises(StatewardError):
                client.configure(history_limit=3)
            assert client.configure(history_limit=3).history_limit == 3

    def test_a_daemon_that_is_leaving_is_left(self, serve: Any, connect: Any) -> None:
        answers = [lambda message: refusal(message, "shutting_down")]

        def answer(message: Message) -> list[Message]:
            return answers.pop()(message) if answers else value_one(message)

        stand_in = serve(answer)
        with connect() as client:
            assert client.read_state("cwd.tactics") == {"value": 1}

        assert [number for number, _ in stand_in.received] == [0, 0, 1, 1]

    def test_a_refusal_is_not_repeated(self, serve: Any, connect: Any) -> None:
        stand_in = serve(lambda message: refusal(message, "missing_path"))
        with connect() as client, pytest.raises(StatewardError):
            client.read_state("cwd.x")

        assert len(sent(stand_in, "read_state")) == 1


class TestAsynchronous:
    """Section 5: the same, with many requests in flight on one connection."""

    async def test_answers_out_of_order_reach_their_callers(self, serve: Any, connect_async: Any) -> None:
        waiting: list[Message] = []

        def answer(message: Message) -> list[Message]:
            waiting.append(message)
            if len(waiting) < 10:
                return []
            return [a for m in reversed(waiting) for a in result(m, {"value": m["params"]["path"]})]

        stand_in = serve(answer)
        async with await connect_async() as client:
            paths = [f"cwd.tactics.n{i}" for i in range(10)]
            answers = await asyncio.gather(*(client.read_state(path) for path in paths))

        assert [a["value"] for a in answers] == paths
        assert [p["path"] for p in sent(stand_in, "read_state")] == paths
        assert {number for number, _ in stand_in.received} == {0}

    async def test_a_patch_is_repeated_with_its_key(self, serve: Any, connect_async: Any) -> None:
        hang_ups = [HANG_UP]
        stand_in = serve(lambda message: hang_ups.pop() if hang_ups else result(message, {"changed": [], "value": 1}))
        async with await connect_async() as client:
            await client.patch_state({"cwd": {}})

        first, second = sent(stand_in, "patch_state")[:2]
        assert first == second

    async def test_a_write_without_a_key_is_not_repeated(self, serve: Any, connect_async: Any) -> None:
        stand_in = serve(lambda _: HANG_UP)
        async with await connect_async() as client:
            with pytest.raises(StatewardError):
                await client.configure(history_limit=1)

        assert len(sent(stand_in, "configure")) == 1

    async def test_callers_that_lose_one_connection_share_the_next(self, serve: Any, connect_async: Any) -> None:
        arrived: list[Message] = []

        def answer(message: Message) -> list[Message]:
            arrived.append(message)
            if len(arrived) < 5:
                return []
            return HANG_UP if len(arrived) == 5 else value_one(message)

        stand_in = serve(answer)
        async with await connect_async() as client:
            await asyncio.gather(*(client.read_state(f"cwd.tactics.n{i}") for i in range(5)))

        assert len(sent(stand_in, "attach")) == 2

    async def test_a_cancelled_call_is_taken_back(self, serve: Any, connect_async: Any) -> None:
        stand_in = serve(lambda _: [])
        async with await connect_async() as client:
            call = asyncio.create_task(client.read_state("cwd.tactics"))
            await asyncio.to_thread(stand_in.wait_for, "read_state")
            call.cancel()
            await asyncio.to_thread(stand_in.wait_for, "$/cancelRequest")
            with pytest.raises(asyncio.CancelledError):
                await call

        asked = next(message for _, message in stand_in.received if message["method"] == "read_state")
        assert sent(stand_in, "$/cancelRequest") == [{"id": asked["id"]}]

    async def test_a_timeout_is_named_and_the_connection_goes_on(self, folder: Path, serve: Any) -> None:
        serve(lambda message: [] if message["method"] == "status" else result(message, {"ok": True}))
        client = await AsyncClient.connect(store=folder / "store", start="never", timeout_s=0.2)
        async with client:
            with pytest.raises(StatewardError, match=r"status took longer than the timeout of 0\.2 s"):
                await client.status()
            assert (await client.ping()).ok

    async def test_closing_fails_what_waits(self, serve: Any, connect_async: Any) -> None:
        stand_in = serve(lambda _: [])
        client = await connect_async()
        call = asyncio.create_task(client.configure(history_limit=1))
        await asyncio.to_thread(stand_in.wait_for, "configure")
        await client.close()

        with pytest.raises(StatewardError):
            await call


class TestImporting:
    """Section 5 and product.md: standard library and msgspec, and nothing that a caller does not use."""

    def test_the_library_imports_neither_asyncio_nor_the_daemon(self) -> None:
        program = "import sys, json, stateward; stateward.connect; print(json.dumps(sorted(sys.modules)))"
        loaded = json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)

        assert {"stateward.client", "msgspec"} <= set(loaded)
        unwanted = {"asyncio", "subprocess", "platformdirs", "stateward_daemon", "stateward_engine", "pygls"}
        assert unwanted.isdisjoint(loaded)

    def test_the_asynchronous_client_is_imported_when_it_is_named(self) -> None:
        assert stateward.AsyncClient.__name__ == "AsyncClient"
        with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
            stateward.Nothing  # noqa: B018 - naming it is the test

    def test_every_public_name_is_there(self) -> None:
        assert [name for name in stateward.__all__ if not hasattr(stateward, name)] == []


def test_an_embedded_client_calls_the_daemon_package_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 5: `start="embedded"` works where there are no sockets."""

    class InProcess:
        def call(self, method: str, params: Any) -> Any:
            return attached({"id": 1, "params": params})[0]["result"] if method == "attach" else {"ok": True}

        def close(self) -> None:
            opened.append("closed")

    opened: list[Any] = []

    def open_transport(place: Place) -> InProcess:
        opened.append(place)
        return InProcess()

    module = ModuleType("stateward_daemon.embedded")
    monkeypatch.setattr(module, "open_transport", open_transport, raising=False)
    monkeypatch.setitem(sys.modules, "stateward_daemon.embedded", module)
    with stateward.connect(store=folder / "store", start="embedded") as client:
        assert client.ping().ok

    assert opened == [Place(folder / "store"), "closed"]


def test_a_client_opens_nothing_before_its_first_call(folder: Path) -> None:
    client = Client(lambda: SocketTransport(str(folder / "nowhere"), 1.0))

    with pytest.raises(StatewardError):
        client.ping()
    client.close()


def test_users_find_what_they_import_under_its_name() -> None:
    """In `dir()` and in a traceback."""
    assert set(stateward.__all__) <= set(dir(stateward))
    error = stateward.StatewardError("refused", "no")

    assert traceback.format_exception_only(error) == ["stateward.StatewardError: no\n"]
