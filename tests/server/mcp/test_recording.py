"""The SDK's client records a session against real MCP servers, over HTTP and stdio, and replays what it saved."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import ToolListChangedNotification

from tests.dialects.refs.recording import shop_servers
from tests.server.serving import Served, serving
from tests.support.ports import free_port

from .clients import Caller, over_http

pytestmark = [pytest.mark.costly, pytest.mark.timeout(240)]

SHOP = Path(shop_servers.__file__)
TOOLS = Path(__file__).parents[2] / "workers" / "mcp"


@pytest.fixture
def effects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "effects"
    path.touch()
    monkeypatch.setenv("SHOP_EFFECTS", str(path))
    return path


@contextmanager
def orders_over_http() -> Iterator[str]:
    """A real server of another process."""
    port = free_port()
    with subprocess.Popen([sys.executable, str(SHOP), "orders", "http", str(port)], env={**os.environ}) as process:
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


@asynccontextmanager
async def shop(db: str) -> AsyncIterator[Served]:
    """With both servers in this process: for what does not depend on how they are reached."""
    async with serving(db, mcp_servers={"crm": shop_servers.crm(), "orders": shop_servers.orders()}) as served:
        yield served


async def step_of(client: Client, tool: str, arguments: dict[str, Any], **more: Any) -> tuple[str, Any]:
    result = await client.call_tool(tool, arguments, **more)
    assert not result.is_error, result.content
    assert result.meta is not None
    return result.meta["plait/step"], result.structured_content


async def record_an_order(call: Caller) -> None:
    """What a model does: it orders tea for customer 7, and writes literals where it might have written references."""
    client = call.client
    assert await step_of(client, "GET_USER", {"id": "@input.customer"}) == ("get_user_1", shop_servers.CUSTOMERS[7])
    made = await step_of(client, "CREATE_ORDER", {"userId": 42, "items": ["tea"]})
    assert made == ("create_order_1", {"number": "order-42", "total": 10})
    mail = {"to": "@get_user_1.email", "text": "Order @create_order_1.number for @@octocat"}
    assert (await step_of(client, "SEND_MAIL", mail))[0] == "send_mail_1"


async def save_and_replay(call: Caller, start: str = "START_WORKFLOW_ORDER_TEA") -> None:
    draft = await call("WORKFLOW_RECORDING_TEMPLATIZE")
    assert [(step["name"], step["reason"]) for step in draft["steps"]] == [
        ("get_user_1", "referenced"),
        ("create_order_1", "success"),
        ("send_mail_1", "success"),
    ]
    (literal,) = [each for each in draft["suggestions"] if each["pointer"] == "/userId"]
    assert (literal["ref"], literal["confidence"]) == ("@get_user_1.id", 90)
    saved = await call(
        "WORKFLOW_RECORDING_SAVE_AS_TEMPLATE", name="order-tea", title="Order tea", accept=[literal["id"]]
    )
    assert saved["item"]["id"] == "order-tea"
    await call("WORKFLOW_RECORDING_STOP", output={"order": "@create_order_1.number"})


async def test_a_session_over_http_against_servers_on_stdio_and_http_is_saved_and_replayed(
    db: str, effects: Path
) -> None:
    crm = {"command": sys.executable, "args": [str(SHOP), "crm"]}
    with orders_over_http() as orders:
        async with serving(db, mcp_servers={"crm": crm, "orders": {"url": orders}}, **_open_egress()) as served:
            await _reachable(served)
            async with over_http(f"{served.url}/mcp") as call:
                started = await call("WORKFLOW_RECORDING_START", input={"customer": 7}, title="Order tea")
                run = started["executionId"]
                assert started["url"] == f"{served.url}/mcp/record/{run}"
            async with over_http(started["url"]) as call:
                names = await call.names()
                assert {"GET_USER", "crm_LIST", "orders_LIST", "WORKFLOW_RECORDING_STOP"} <= names
                assert "RUN_LIST" not in names
                assert "@get_user_1.id" in (call.client.instructions or "")
                await record_an_order(call)
                await save_and_replay(call)
            async with over_http(f"{served.url}/mcp") as call:
                done = await call("START_WORKFLOW_ORDER_TEA", input={"customer": 8}, wait=True)
                assert done["status"] == "success"
                wrong = await call.fails("START_WORKFLOW_ORDER_TEA", input={"customer": "eight"})
                assert wrong["code"] == "invalid_input"
    assert effects.read_text().splitlines() == [
        "order 42 tea",
        "mail ann@example.org Order order-42 for @@octocat",
        "order 43 tea",
        "mail b@example.org Order order-43 for @@octocat",
    ]


def _open_egress() -> dict[str, Any]:
    from plait.egress import EgressSettings

    return {"egress": EgressSettings(private=True)}


async def _reachable(served: Served) -> None:
    async with asyncio.timeout(60):
        while "orders" in (await served.get("/tools")).json().get("unavailable", {}):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def test_a_session_over_stdio_is_recorded_saved_and_replayed(tmp_path: Path, effects: Path) -> None:
    """`.mcp.json` as a client has it: the command is `plait mcp --record`."""
    servers = {
        name: {"command": sys.executable, "args": [str(SHOP), name], "env": {"SHOP_EFFECTS": str(effects)}}
        for name in ("crm", "orders")
    }
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    db = f"sqlite:///{tmp_path}/plait.db"

    def plait(*args: str) -> StdioServerParameters:
        arguments = ["-m", "plait.cli.main", "mcp", "--db", db, "--mcp", str(file), *args]
        return StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})

    async with Client(plait("--record")) as client:
        call = Caller(client)
        started = await call("WORKFLOW_RECORDING_START", input={"customer": 7}, title="Order tea")
        await record_an_order(call)
        await save_and_replay(call)
    async with Client(plait()) as client:
        call = Caller(client)
        done = await call("START_WORKFLOW_ORDER_TEA", input={"customer": 8}, wait=True)
        assert done["status"] == "success"
        closed = await call.fails("WORKFLOW_RECORDING_STOP", executionId=started["executionId"])
        assert closed["code"] == "recording_closed"
    assert [line.split()[:2] for line in effects.read_text().splitlines()] == [
        ["order", "42"],
        ["mail", "ann@example.org"],
        ["order", "43"],
        ["mail", "b@example.org"],
    ]


async def test_the_first_call_opens_a_recording_and_the_session_keeps_it(db: str, effects: Path) -> None:
    async with shop(db) as served, over_http(f"{served.url}/mcp/record") as call:
        first, second = await asyncio.gather(
            call.client.call_tool("GET_USER", {"id": 7}), call.client.call_tool("GET_USER", {"id": 8})
        )
        assert first.meta is not None
        assert second.meta is not None
        assert first.meta["plait/run"] == second.meta["plait/run"]
        assert {first.meta["plait/step"], second.meta["plait/step"]} == {"get_user_1", "get_user_2"}
        found = await call("WORKFLOW_RECORDING_GET")
        assert found["executionId"] == first.meta["plait/run"]


async def test_starting_a_recording_shows_the_tools_of_other_servers(db: str, effects: Path) -> None:
    async with shop(db) as served, over_http(f"{served.url}/mcp", mode="legacy") as call:
        assert "GET_USER" not in await call.names()
        await call("WORKFLOW_RECORDING_START", servers=["crm"])
        names = await call.names()
        assert {"GET_USER", "LIST", "RUN_LIST"} <= names
        assert "CREATE_ORDER" not in names
        assert (await step_of(call.client, "GET_USER", {"id": 7}))[0] == "get_user_1"


@pytest.mark.parametrize("server", ["raw_server.py", "tool_server.py"])  # older and newer: they announce differently
async def test_a_server_that_changes_its_tools_is_announced_to_those_who_record(
    db: str, server: str, tmp_path: Path
) -> None:
    heard: list[object] = []

    async def hear(message: object) -> None:
        heard.append(message)

    servers = {"tools": {"command": sys.executable, "args": [str(TOOLS / server), str(tmp_path / "notes")]}}
    async with (
        serving(db, mcp_servers=servers) as served,
        over_http(f"{served.url}/mcp/record", mode="legacy", message_handler=hear) as call,
    ):
        assert "NEW" not in await call.names()
        grown = await call.client.call_tool("GROW", {})
        assert not grown.is_error, grown.content
        async with asyncio.timeout(30):
            while not any(isinstance(each, ToolListChangedNotification) for each in heard):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert "NEW" in await call.names()
        assert (await step_of(call.client, "NEW", {}))[0] == "new_1"


async def test_two_sessions_feed_one_recording_and_a_repeated_key_is_one_call(db: str, effects: Path) -> None:
    async with shop(db) as served, over_http(f"{served.url}/mcp/record") as one:
        result = await one.client.call_tool("GET_USER", {"id": 7})
        assert result.meta is not None
        run = result.meta["plait/run"]
        async with over_http(f"{served.url}/mcp/record/{run}") as two:
            key: Any = {"plait/idempotency-key": "order-1"}
            order = {"userId": "@get_user_1.id", "items": ["tea"]}
            first = await two.client.call_tool("CREATE_ORDER", order, meta=key)
            again = await one.client.call_tool("CREATE_ORDER", order, meta=key)
            assert first == again
    assert effects.read_text().splitlines() == ["order 42 tea"]


async def test_what_goes_wrong_is_said_and_nothing_is_called(db: str, effects: Path) -> None:
    async with shop(db) as served, over_http(f"{served.url}/mcp/record") as call:
        await call.client.call_tool("GET_USER", {"id": 7})
        wrong = await call.fails("CREATE_ORDER", userId="@get_usr_1.id", items=["@@"])
        assert wrong["code"] == "bad_ref"
        assert "@get_user_1" in wrong["message"]
        assert wrong["errors"][0]["pointer"] == "/userId"
        assert (await call.fails("NO_SUCH_TOOL"))["code"] == "mcp.unknown_tool"
        failed = await call.client.call_tool("GET_USER", {"id": 99})
        assert failed.is_error
        assert "there is no user 99" in str(failed.content)
        steps = (await call("WORKFLOW_RECORDING_GET"))["steps"]
        assert [(step["name"], step["status"]) for step in steps] == [
            ("get_user_1", "completed"),
            ("get_user_2", "failed"),
        ]
        await call("WORKFLOW_RECORDING_STOP")
        assert (await call.fails("GET_USER", id=7))["code"] == "recording_closed"
        assert not effects.read_text()


async def test_a_recording_of_another_namespace_is_not_found(db: str) -> None:
    async with shop(db) as served:
        async with over_http(f"{served.url}/mcp") as call:
            run = (await call("WORKFLOW_RECORDING_START"))["executionId"]
        async with over_http(f"{served.url}/mcp/record/{run}?namespace=other") as call:
            assert await call.names() == {name for name in await call.names() if name.startswith("WORKFLOW_RECORDING_")}
            assert (await call.fails("WORKFLOW_RECORDING_GET"))["code"] == "recording_not_found"


async def test_a_note_tells_the_step_to_clients_that_hide_the_meta(db: str) -> None:
    async with shop(db) as served, over_http(f"{served.url}/mcp/record?annotate=text") as call:
        result = await call.client.call_tool("GET_USER", {"id": 7})
        assert "refer to its result with @get_user_1" in str(result.content[-1])


async def test_progress_of_a_tool_reaches_the_client_that_records(db: str, effects: Path) -> None:
    async with shop(db) as served, over_http(f"{served.url}/mcp/record", mode="legacy") as call:
        await call("GET_USER", id=7)
        slow = [asyncio.ensure_future(call("SLOW")) for _ in range(2)]  # which never end
        async with asyncio.timeout(30):
            while len(call.progress) < 6:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert sorted(call.progress) == sorted([(float(n), 3.0, f"step {n}") for n in (1, 2, 3)] * 2)
        for each in slow:
            each.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        steps = (await call("WORKFLOW_RECORDING_GET"))["steps"]
        assert [step["name"] for step in steps] == ["get_user_1", "slow_1", "slow_2"]


async def test_a_cancelled_call_is_cancelled_at_its_server(db: str, effects: Path) -> None:
    async with shop(db) as served, over_http(f"{served.url}/mcp/record", mode="legacy") as call:
        slow = asyncio.ensure_future(call.client.call_tool("SLOW", {}))
        async with asyncio.timeout(30):
            while not (await served.get("/runs")).json()["runs"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        run = (await served.get("/runs")).json()["runs"][0]["id"]
        async with asyncio.timeout(30):
            while "step.started" not in (await served.get(f"/runs/{run}/events")).text:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        async with asyncio.timeout(30):
            while "slow cancelled" not in effects.read_text():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        (step,) = (await call("WORKFLOW_RECORDING_GET"))["steps"]
        assert (step["status"], step["error"]["code"]) == ("failed", "cancelled")
