"""`/engine/ws`: what happens, as it happens."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from plait.server.site import Settings
from tests.server.argyll.stage import GREET, MOUNTED, Json, events, http, mounted, over, register, script, start
from tests.server.argyll.steps import StepServer
from tests.server.serving import Served, soon

ANN = {"name": ["Ann"]}


class Line:
    """One client's connection."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, message: Any) -> None:
        await self._socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    async def next(self) -> Json:
        async with asyncio.timeout(20):
            return json.loads(await self._socket.recv())

    async def closed(self) -> int:
        """The code with which the server ended it, after whatever else it sent."""
        async with asyncio.timeout(20):
            await self._socket.wait_closed()
        return self._socket.close_code or 0

    async def take(self, count: int) -> list[Json]:
        return [await self.next() for _ in range(count)]

    async def until(self, type: str) -> list[Json]:
        found: list[Json] = []
        while not found or found[-1]["type"] != type:
            found.append(await self.next())
        return found

    async def subscribe(self, sub_id: str, *aggregates: list[str], **more: Any) -> Json:
        """The answer, which comes before anything else of this subscription."""
        data = {"sub_id": sub_id, **more} | ({"aggregate_ids": list(aggregates)} if aggregates else {})
        await self.send({"type": "subscribe", "data": data})
        answer = (await self.until("subscribed"))[-1]
        assert set(answer) == {"type", "sub_id", "items"}
        assert answer["sub_id"] == sub_id
        return answer

    async def nothing_more(self) -> None:
        """What was sent before this came back would have come before it."""
        await self.send({"type": "unsubscribe", "data": {"sub_id": "~"}})
        assert await self.next() == {"type": "unsubscribed", "sub_id": "~"}


@contextlib.asynccontextmanager
async def line(served: Served, **options: Any) -> AsyncGenerator[Line]:
    async with connect(served.url.replace("http", "ws") + "/engine/ws", **options) as socket:
        yield Line(socket)


def sequences(found: list[Json]) -> list[int]:
    return [each["sequence"] for each in found]


async def test_a_flow_is_told_from_its_first_event_on():
    async with mounted() as served, line(served) as there:
        await register(served, GREET)
        assert (await there.subscribe("a", ["flow", "f"]))["items"] == []
        await start(served, "f", "greet", init=ANN)
        found = await there.until("flow_deactivated")
        assert sequences(found) == [*range(7), 6]
        told = await events(served, "f")
        assert [(each["type"], each["data"]) for each in found] == [(each["type"], each["data"]) for each in told]
        assert {(each["sub_id"], *each["id"]) for each in found} == {("a", "flow", "f")}
        assert all(isinstance(each["timestamp"], int) for each in found)
        assert set(found[0]) == {"type", "data", "id", "sub_id", "timestamp", "sequence"}


async def test_state_is_followed_by_what_comes_after_it():
    async with mounted() as served, StepServer() as steps, line(served) as there:
        await register(served, http("wait", f"{steps.url}/silent", ["done"], type="async"))
        await start(served, "f", "wait")
        url = await soon(lambda: accepted(served, steps))
        answer = await there.subscribe("a", ["flow", "f"], ["flow", "nope"], include_state=True)
        [item] = answer["items"]  # a flow that is unknown is left out
        assert item["id"] == ["flow", "f"]
        assert item["data"] == (await served.client.get("/engine/flow/f")).json()
        assert item["sequence"] == len(await events(served, "f"))
        assert (await served.client.post(url, json={"done": 1})).status_code == 200
        found = await there.until("flow_completed")
        assert found[0]["sequence"] == item["sequence"]
        assert sequences(found) == list(range(item["sequence"], item["sequence"] + len(found)))


async def accepted(served: Served, steps: StepServer) -> Any:
    told = [each["type"] for each in await events(served, "f")]
    return steps.calls[-1]["headers"]["argyll-webhook-url"] if "work_accepted" in told else None


async def test_without_state_only_what_comes_is_told():
    async with mounted() as served, line(served) as there:
        await register(served, GREET)
        await start(served, "f", "greet", init=ANN)
        await over(served, "f")
        assert (await there.subscribe("a", ["flow", "f"]))["items"] == []
        await there.nothing_more()


async def test_the_catalog_and_the_cluster_are_told():
    async with mounted() as served, line(served) as there:
        await register(served, script("old", [], ["x"]))
        answer = await there.subscribe("a", ["catalog"], include_state=True)
        [item] = answer["items"]
        assert (item["id"], item["sequence"], list(item["data"]["steps"])) == (["catalog"], 1, ["old"])
        await register(served, GREET)
        await served.client.put("/engine/step/greet", json=GREET | {"name": "Other"})
        await served.client.delete("/engine/step/greet")
        found = await there.take(3)
        assert [each["type"] for each in found] == ["step_registered", "step_updated", "step_unregistered"]
        assert sequences(found) == [1, 2, 3]
        assert found[1]["data"]["step"]["name"] == "Other"
        assert found[2]["data"] == {"step_id": "greet"}
        assert all(each["id"] == ["catalog"] for each in found)


async def test_health_is_told():
    async with mounted() as served, line(served) as there:
        await there.subscribe("a", ["cluster"])
        await register(served, GREET)
        found = await there.next()
        assert (found["type"], found["id"], found["sequence"]) == ("step_health_changed", ["cluster"], 0)
        assert (found["data"]["step_id"], found["data"]["status"]) == ("greet", "healthy")
        [item] = (await there.subscribe("b", ["cluster"], include_state=True))["items"]
        assert item["sequence"] == 1
        assert list(item["data"]["nodes"].values()) == [{"health": {"greet": {"status": "healthy"}}}]


async def test_without_aggregates_everything_is_told():
    async with mounted() as served, StepServer() as steps, line(served) as there:
        waits = http("wait", f"{steps.url}/silent", ["done"], type="async")
        child = script("child", ["name"], ["greeting"]) | {"type": "flow", "flow": {"goals": ["greet"]}}
        del child["script"]
        await register(served, GREET, waits)
        await start(served, "f", "wait")
        url = await soon(lambda: accepted(served, steps))
        began = len(await events(served, "f"))
        answer = await there.subscribe("all", include_state=True)
        assert [item["id"] for item in answer["items"]][:2] == [["catalog"], ["cluster"]]
        assert (await served.client.post(url, json={"done": 1})).status_code == 200
        await start(served, "g", "greet", init=ANN)
        await over(served, "g")
        await register(served, child | {"attributes": {"name": child["attributes"]["name"]}})
        await start(served, "h", "child", init=ANN)
        whole = await over(served, "h")
        [token] = whole["executions"]["child"]["work_items"]

        found: dict[str, list[Json]] = {}
        wanted = {
            "f": "flow_deactivated",
            "g": "flow_deactivated",
            "h": "flow_deactivated",
            f"h:child:{token}": "flow_deactivated",
        }
        while wanted:
            each = await there.next()
            key = each["id"][-1]
            found.setdefault(key, []).append(each)
            if wanted.get(key) == each["type"]:
                del wanted[key]
        assert found["f"][0]["sequence"] == began  # from where it was
        for id in ("g", "h", f"h:child:{token}"):
            told = await events(served, id)
            assert sequences(found[id]) == sequences(told)
        assert [each["type"] for each in found["catalog"]] == ["step_registered"]


async def test_an_active_flow_has_its_state_told_when_everything_is():
    async with mounted() as served, StepServer() as steps, line(served) as there:
        await register(served, http("wait", f"{steps.url}/silent", ["done"], type="async"))
        await start(served, "f", "wait")
        await soon(lambda: accepted(served, steps))
        items = (await there.subscribe("all", include_state=True))["items"]
        assert [item["id"] for item in items] == [["catalog"], ["cluster"], ["flow", "f"]]


async def test_event_types_are_a_filter():
    async with mounted() as served, line(served) as there:
        await register(served, GREET)
        await there.subscribe("a", ["flow", "f"], event_types=["step_completed", "flow_completed"])
        await start(served, "f", "greet", init=ANN)
        assert [each["type"] for each in await there.take(2)] == ["step_completed", "flow_completed"]
        await there.nothing_more()


async def test_the_same_id_replaces_a_subscription():
    async with mounted() as served, line(served) as there:
        await register(served, GREET)
        await there.subscribe("a", ["flow", "f"])
        await there.subscribe("a", ["flow", "g"])
        await start(served, "f", "greet", init=ANN)
        await over(served, "f")
        await start(served, "g", "greet", init=ANN)
        assert {each["id"][1] for each in await there.until("flow_completed")} == {"g"}


async def test_two_subscriptions_are_told_apart():
    async with mounted() as served, line(served) as there:
        await register(served, GREET)
        await there.subscribe("a", ["flow", "f"])
        await there.subscribe("b", ["flow", "f"], event_types=["flow_completed"])
        await start(served, "f", "greet", init=ANN)
        found = await there.take(9)
        assert sorted(each["sub_id"] for each in found) == [*"aaaaaaaab"]


async def test_an_end_is_acknowledged_and_is_one():
    async with mounted() as served, line(served) as there:
        await register(served, GREET)
        await there.subscribe("a", ["flow", "f"])
        await there.send({"type": "unsubscribe", "data": {"sub_id": "a"}})
        assert await there.next() == {"type": "unsubscribed", "sub_id": "a"}
        await start(served, "f", "greet", init=ANN)
        await over(served, "f")
        await there.nothing_more()


BAD: list[Any] = [
    "",
    "{",
    "[]",
    b"\xff\xfe",
    {"type": "subscribe"},
    {"type": "subscribe", "data": {}},
    {"type": "subscribe", "data": {"sub_id": ""}},
    {"type": "subscribe", "data": {"sub_id": 5}},
    {"type": "subscribe", "data": {"sub_id": "a", "aggregate_ids": "flow"}},
    {"type": "subscribe", "data": {"sub_id": "a", "aggregate_ids": [["flow", 5]]}},
    {"type": "subscribe", "data": {"sub_id": "a", "event_types": "all"}},
    {"type": "unsubscribe", "data": []},
    {"type": "shout", "data": {"sub_id": "a"}},
    {"data": {"sub_id": "a"}},
]


async def test_bad_messages_are_ignored():
    async with mounted() as served, line(served) as there:
        for message in BAD:
            await there.send(message)
        await there.nothing_more()


async def test_what_nothing_is_called_is_subscribed_to_in_vain():
    async with mounted() as served, line(served) as there:
        for aggregate in (["nodes"], [], ["flow"], ["flow", "a/b"], ["flow", "a", "b"]):
            assert (await there.subscribe("a", aggregate, include_state=True))["items"] == []


async def test_a_message_over_64_kib_ends_the_connection():
    async with mounted() as served, line(served) as there:
        await there.send({"type": "x", "data": "x" * 60_000})
        await there.nothing_more()
        await there.send({"type": "x", "data": "x" * 70_000})
        assert await there.closed() == 1009


async def test_a_socket_is_had_at_one_path_and_under_our_names_only():
    async with mounted() as served:
        for path in ("/engine", "/engine/step", "/api/v1/runs", "/"):
            with pytest.raises(InvalidStatus) as refusal:
                await connect(served.url.replace("http", "ws") + path)
            assert refusal.value.response.status_code == 403
        with pytest.raises(InvalidStatus):
            await connect(served.url.replace("http", "ws") + "/engine/ws", additional_headers={"host": "evil.example"})
    async with mounted(settings=Settings()) as served:
        with pytest.raises(InvalidStatus) as refusal:
            await connect(served.url.replace("http", "ws") + "/engine/ws")
        assert refusal.value.response.status_code == 404


async def test_sockets_are_pinged_and_their_messages_bounded():
    async with mounted() as served:
        config = served.process.config
        assert (config.ws_ping_interval, config.ws_max_size) == (54, 64 * 1024)


async def test_a_socket_outlives_the_time_that_a_request_has():
    async with mounted(settings=Settings(argyll="local", head_seconds=0.05)) as served, line(served) as there:
        await asyncio.sleep(0.2)  # longer than a head may take: a socket sends none
        await there.nothing_more()


async def test_sockets_have_their_places_and_end_with_the_server():
    settings = Settings(argyll="local", max_watchers=1)
    async with mounted(settings=settings) as served:
        async with line(served) as there:
            await there.subscribe("a")
            assert served.site.watchers == 1
            with pytest.raises(InvalidStatus):
                await connect(served.url.replace("http", "ws") + "/engine/ws")
            served.process.stop()
            assert await there.closed() == 1012
        await soon(lambda: _free(served))


async def _free(served: Served) -> bool:
    return served.site.watchers == 0 and not served.engine.kernel.subscriptions.watchers


async def test_a_flow_that_is_taken_up_again_is_told_on():
    async with mounted(settings=MOUNTED) as served, StepServer() as steps, line(served) as there:
        await register(served, http("bad", f"{steps.url}/refuse", ["a"]))
        await there.subscribe("one", ["flow", "f"])
        await there.subscribe("all", event_types=["flow_failed", "flow_resumed"])
        await start(served, "f", "bad")
        await over(served, "f", "failed")
        await served.post("/runs/f/retry", {})

        async def twice() -> bool:
            return [each["type"] for each in await events(served, "f")].count("flow_failed") == 2

        await soon(twice)
        one: list[Json] = []
        many: list[str] = []
        while len(many) < 3 or len(one) < len(await events(served, "f")):
            each = await there.next()
            if each["sub_id"] == "one":
                one.append(each)
            else:
                many.append(each["type"])
        assert sequences(one) == sequences(await events(served, "f"))
        assert many == ["flow_failed", "flow_resumed", "flow_failed"]
