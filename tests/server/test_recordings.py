"""Recordings over HTTP: calls as messages, drafts, and what is saved of them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import Any

import pytest

from plait.registry.client import Client
from tests.dialects.refs.recording import shop_servers

from .serving import Served, problem, serving


@asynccontextmanager
async def shop(db: str):
    servers = {"crm": shop_servers.crm(), "orders": shop_servers.orders()}
    async with serving(db, mcp_servers=servers) as served:
        yield served


async def call(served: Served, run: str, tool: str, arguments: Any, **more: Any) -> dict[str, Any]:
    body = {"name": "call", "body": {"tool": tool, "arguments": arguments, **more}, "wait_ms": 20_000}
    answer = await served.post(f"/runs/{run}/messages", body)
    assert answer.status_code == 200, answer.text
    return answer.json()["answer"]


async def test_a_recording_is_fed_drafted_saved_and_started_with_plain_http(db: str):
    async with shop(db) as served:
        definition = {"mode": "recording", "title": "Order tea"}
        started = {"dialect": "refs", "definition": definition, "input": {"customer": 7}, "id": "rec"}
        assert (await served.post("/runs", started)).status_code == 201
        user = await call(served, "rec", "GET_USER", {"id": "@input.customer"}, read_only=True)
        assert (user["step"], user["result"]["structuredContent"]["name"]) == ("get_user_1", "Anneliese")
        await call(served, "rec", "CREATE_ORDER", {"userId": 42, "items": ["tea"]})
        draft = (await served.post("/plan", {"dialect": "refs", "from_run": "rec"})).json()
        assert draft["valid"]
        steps = {step["name"]: step for step in draft["plan"]["steps"]}
        assert steps["get_user_1"]["reason"] == "exploratory"
        assert steps["create_order_1"]["included"]
        (offered,) = [each for each in draft["plan"]["suggestions"] if each["pointer"] == "/userId"]
        assert (offered["ref"], offered["confidence"]) == ("@get_user_1.id", 90)
        save = {"dialect": "refs", "name": "order-tea", "from_run": "rec", "options": {"accept": [offered["id"]]}}
        saved = await served.post("/definitions", save)
        assert saved.status_code == 201, saved.text
        run = await served.start("order-tea", {"customer": 8})
        assert (await served.ended(run))["output"]["number"] == "order-43"
        wrong = await served.post("/runs", {"definition": "order-tea", "input": {"customer": "eight"}})
        problem(wrong, 422, "invalid_input")


async def test_what_can_not_be_drafted_or_saved_says_why(db: str):
    async with shop(db) as served:
        recording = {"dialect": "refs", "definition": {"mode": "recording"}, "id": "rec"}
        await served.post("/runs", recording)
        await call(served, "rec", "GET_USER", {"id": 7}, read_only=True)
        await call(served, "rec", "CREATE_ORDER", {"userId": "@get_user_1.id", "items": ["tea"]})
        save = {"dialect": "refs", "name": "x", "from_run": "rec", "options": {"exclude": ["get_user_1"]}}
        refused = problem(await served.post("/definitions", save), 422, "invalid_definition")
        assert refused["errors"][0]["pointer"] == "/steps/0/input/userId"
        assert refused["errors"][0]["code"] == "ref_to_excluded"
        problem(await served.post("/definitions", save | {"options": {"inclde": []}}), 422, "bad_options")
        problem(await served.post("/definitions", save | {"definition": {}}), 422, "definitions.no_content")
        problem(await served.post("/definitions", save | {"dialect": "graph"}), 422, "kernel.other_dialect")
        problem(await served.post("/plan", {"from_run": "none"}), 404, "kernel.no_run")
        problem(await served.post("/plan", {}), 422, "plan.no_source")
        problem(await served.post("/plan", {"from_run": "rec"}, params={"namespace": "other"}), 404, "kernel.no_run")
        bad = {"name": "call", "body": {"tool": "GET_USER", "arguments": {"id": "@nope.y"}}, "wait_ms": 20_000}
        refused = problem(await served.post("/runs/rec/messages", bad), 422, "bad_ref")
        assert "@@nope.y" in refused["detail"] + refused["title"]


async def test_the_client_records_like_an_engine(db: str):
    async with shop(db) as served, Client(served.url) as client:
        run = await client.recordings.start({"customer": 7})
        called = await client.recordings.call(run, "GET_USER", {"id": "@input.customer"})
        assert called.output["id"] == 42
        assert await client.recordings.preset(run, "price", 5) == "price"
        assert await client.recordings.stop(run, {"who": "@get_user_1.name"}) == {"who": "Anneliese"}
        draft = await client.recordings.draft(run)
        assert [step.name for step in draft.steps] == ["get_user_1", "price"]
        await client.recordings.save(run, "who")
        assert await (await client.start("who", {"customer": 8})).result() == {"who": "Bernhard"}
        with pytest.raises(Exception, match="recording_closed"):
            await client.recordings.call(run, "GET_USER", {"id": 7})


async def test_the_tools_that_steps_may_call_are_listed(db: str):
    async with shop(db) as served:
        found = (await served.get("/tools")).json()
        assert {(tool["server"], tool["name"]) for tool in found["tools"]} >= {("crm", "GET_USER"), ("orders", "LIST")}
        only = (await served.get("/tools", params={"server": "crm"})).json()["tools"]
        assert {tool["name"] for tool in only} == {"GET_USER", "LIST"}
        problem(await served.get("/tools", params={"server": "none"}), 404, "mcp.no_server")
