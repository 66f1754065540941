"""A server that does no work itself: other engines run the flows, and it takes reports and tells all the same."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from plait import Engine
from plait.egress import EgressSettings
from plait.server.argyll.webhooks import WebhookUrls
from tests.server.argyll.stage import GREET, MOUNTED, events, http, mounted, over, register, start
from tests.server.argyll.steps import StepServer
from tests.server.argyll.test_live import ANN, accepted, line, sequences
from tests.server.serving import Served, soon


@asynccontextmanager
async def apart(db: str) -> AsyncGenerator[tuple[Served, Engine]]:
    """A server, and an engine that does its work."""
    async with (
        mounted(db, settings=MOUNTED, work=False) as served,
        Engine(db, egress=EgressSettings(private=True)) as engine,
    ):
        engine.executors.callbacks = WebhookUrls(served.site.auth.secret, served.url)
        yield served, engine


async def test_flows_that_others_run_are_told_live(db: str):
    async with apart(db) as (served, _), line(served) as there:
        await register(served, GREET)
        await there.subscribe("one", ["flow", "f"])
        await there.subscribe("all", event_types=["flow_started", "flow_completed"])
        await start(served, "f", "greet", init=ANN)
        found = {"one": [], "all": []}
        while len(found["one"]) < 8 or len(found["all"]) < 2:
            each = await there.next()
            found[each["sub_id"]].append(each)
        assert sequences(found["one"]) == [*range(7), 6]
        assert [each["type"] for each in found["all"]] == ["flow_started", "flow_completed"]
        assert (await over(served, "f"))["status"] == "completed"


async def test_reports_reach_the_engine_that_waits_for_them(db: str):
    async with apart(db) as (served, _), StepServer() as steps:
        await register(served, http("wait", f"{steps.url}/silent", ["done"], type="async"))
        await start(served, "f", "wait")
        url = await soon(lambda: accepted(served, steps))
        answer = await served.client.post(url, json={"done": 1})
        assert (answer.status_code, answer.content) == (200, b"")
        assert (await over(served, "f"))["attributes"]["done"][0]["value"] == 1
        assert [each["type"] for each in await events(served, "f")].count("work_succeeded") == 1


async def test_the_catalog_that_another_process_changes_is_told(db: str):
    async with apart(db) as (served, engine), line(served) as there:
        await there.subscribe("a", ["catalog"])
        await engine.catalog.register(GREET)
        found = await there.next()
        assert (found["type"], found["sequence"], found["data"]["step"]["id"]) == ("step_registered", 0, "greet")


async def test_a_flow_that_nobody_has_taken_up_yet_has_a_state(db: str):
    async with mounted(db, work=False) as served:
        await register(served, GREET)
        await start(served, "f", "greet", init=ANN)
        found = (await served.client.get("/engine/flow/f")).json()
        assert (found["status"], found["attributes"], found["executions"]) == ("active", {}, {})
        assert (await served.client.get("/engine/flow/f/status")).json() == {"id": "f", "status": "active"}
        assert await events(served, "f") == []
