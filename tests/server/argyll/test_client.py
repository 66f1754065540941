"""A client and step servers as Argyll's public SDK makes them, against a live server."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.argyll.argyll import ArgyllClient, ArgyllError
from tests.server.argyll.stage import Json, events, http, mounted, script
from tests.server.argyll.steps import StepServer
from tests.server.serving import soon

WORK = {"max_retries": 5, "backoff": 5, "max_backoff": 10, "backoff_type": "fixed"}


async def done(client: ArgyllClient, id: str, status: str = "completed") -> Json:
    async def ask() -> bool:
        return await client.status(id) == status

    await soon(ask)
    return await client.state(id)


def needing(step: Json, **inputs: Json) -> Json:
    return step | {"attributes": step["attributes"] | inputs}


async def test_an_order_goes_through_sync_and_async_steps():
    async with mounted() as served, StepServer() as there:
        client = ArgyllClient(served.client)
        stock = needing(http("check-stock", f"{there.url}/sync/{{sku}}", ["ticked"]), sku=_required("string"))
        pay = needing(http("pay", f"{there.url}/async", ["done"], type="async"), ticked=_required("any"))
        await client.register(stock | {"http": stock["http"] | {"health_check": f"{there.url}/sync", "timeout": 30000}})
        await client.register(pay)
        await client.register(script("thank", ["done"], ["letter"], '{:letter (str "thanks: " done)}'))
        assert set(await client.steps()) == {"check-stock", "pay", "thank"}
        id = await client.start("Order 7", ["thank"], {"sku": "a/b tea"})
        found = await done(client, id)
        assert found["attributes"]["letter"][0]["value"] == "thanks: yes"
        assert [each["value"] for each in found["attributes"]["sku"]] == ["a/b tea"]

        first, second = [call for call in there.calls if call["headers"].get("argyll-flow-id")]
        assert (first["path"], first["body"]) == ("/sync/a%2Fb%20tea", {"sku": "a/b tea"})
        assert second["body"] == {"ticked": True}
        for call, step in ((first, "check-stock"), (second, "pay")):
            headers = call["headers"]
            [token] = found["executions"][step]["work_items"]
            assert (headers["argyll-flow-id"], headers["argyll-step-id"]) == ("order-7", step)
            assert headers["argyll-receipt-token"] == headers["idempotency-key"] == token
            assert headers["content-type"] == headers["accept"] == "application/json"
        assert "argyll-webhook-url" not in first["headers"]
        assert await there.reported(1) == [(200, b"")]


async def test_registering_again_replaces_the_step():
    async with mounted() as served:
        client = ArgyllClient(served.client)
        await client.register(script("a"))
        await client.register(script("a") | {"name": "New"})
        assert (await client.steps())["a"]["name"] == "New"
        with pytest.raises(ArgyllError, match="400: step 'a'"):
            await client.register(script("a") | {"script": {}})


async def test_a_flaky_server_is_asked_again_with_the_same_key():
    async with mounted() as served, StepServer() as there:
        client = ArgyllClient(served.client)
        await client.register(http("flaky", f"{there.url}/flaky", ["ticked"], work_config=WORK))
        await client.start("f", ["flaky"], {})
        found = await done(client, "f")
        [item] = found["executions"]["flaky"]["work_items"].values()
        assert (item["status"], item["retry_count"], item["outputs"]) == ("succeeded", 2, {"ticked": 3})
        assert len({call["headers"]["idempotency-key"] for call in there.calls}) == 1
        told = [each["type"] for each in await events(served, "f")]
        assert told == [
            "flow_started",
            "step_started",
            "work_started",
            *["work_not_completed", "work_retry_scheduled", "work_started"] * 2,
            "work_succeeded",
            "attribute_set",
            "step_completed",
            "flow_completed",
            "flow_deactivated",
        ]


async def test_a_webhook_that_is_faster_than_the_call_wins():
    async with mounted() as served, StepServer() as there:
        client = ArgyllClient(served.client)
        await client.register(http("early", f"{there.url}/early", ["done"], type="async"))
        await client.start("f", ["early"], {})
        assert (await done(client, "f"))["attributes"]["done"][0]["value"] == "early"


async def test_a_server_that_answers_twice_is_heard_once():
    async with mounted() as served, StepServer() as there:
        client = ArgyllClient(served.client)
        await client.register(http("twice", f"{there.url}/twice", ["done"], type="async"))
        await client.start("f", ["twice"], {})
        assert await there.reported(3) == [(200, b"")] * 3
        assert [each["value"] for each in (await done(client, "f"))["attributes"]["done"]] == [1]


async def test_a_problem_by_webhook_fails_the_flow():
    async with mounted() as served, StepServer() as there:
        client = ArgyllClient(served.client)
        await client.register(http("bad", f"{there.url}/problem", ["done"], type="async"))
        await client.start("f", ["bad"], {})
        found = await done(client, "f", "failed")
        assert found["executions"]["bad"]["error"] == "no stock"


async def test_work_is_fanned_out_and_gathered_in_order():
    async with mounted() as served, StepServer() as there:
        client = ArgyllClient(served.client)
        step = http("each", f"{there.url}/async", ["done"], type="async", work_config={"parallelism": 3})
        await client.register(needing(step, x={"role": "required", "type": "array", "required": {"for_each": True}}))
        await client.start("f", ["each"], {"x": ["a", "b", "c", "d"]})
        found = await done(client, "f")
        [value] = found["attributes"]["done"]
        assert value["value"] == [{"x": each, "done": each} for each in "abcd"]
        items = found["executions"]["each"]["work_items"].values()
        assert [item["inputs"] for item in items] == [{"x": each} for each in "abcd"]


async def test_ids_of_the_clients_own_making_work_in_addresses_too():
    async with mounted() as served:
        client = ArgyllClient(served.client)
        step = script("My_Step", [], ["b"], "{:b 1}")
        await client.register(step)
        await client.register(step | {"name": "New"})
        assert (await served.client.get("/engine/step/My_Step")).json()["name"] == "New"
        assert (await served.client.get("/engine/health/My_Step")).status_code == 200
        assert await client.start("Order A", ["My_Step"], {}) == "order-a"
        assert (await done(client, "Order%20A"))["id"] == "order-a"
        assert len(await events(served, "Order%20A")) == 8


async def test_a_flow_id_of_the_clients_is_one_flow():
    async with mounted() as served:
        client = ArgyllClient(served.client)
        await client.register(script("a", [], ["b"], "{:b 1}"))
        assert await client.start("Same", ["a"], {}) == await client.start("same", ["a"], {}) == "same"
        with pytest.raises(ArgyllError, match="409"):
            await client.start("same", ["a"], {"x": 1})


def _required(type: str) -> dict[str, Any]:
    return {"role": "required", "type": type}
