"""Queues over HTTP: limits, who holds slots, and runs that wait."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from plait import Context, step, workflow
from plait.client import Client
from tests.server.serving import Served, problem, serving, soon


class Crowd:
    """How many were in the step at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def enter(self) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(20):
            await asyncio.sleep(0)
        self.now -= 1


crowd = Crowd()


@step
async def enter() -> None:
    await crowd.enter()


@workflow
async def visit(ctx: Context) -> None:
    await ctx.step("enter", enter)


@workflow
async def wait(ctx: Context) -> None:
    await ctx.listen("go")


@asynccontextmanager
async def museum(url: str = "memory:") -> AsyncGenerator[Served]:
    async with serving(url) as served:
        for each in (visit, wait):
            served.engine.code.registry.add(each)
        yield served


async def _start(served: Served, definition: str, **options: Any) -> Any:
    return await served.post("/runs", {"definition": definition, "queue": "door", **options})


async def test_limits_are_set_shown_and_taken_back():
    async with museum() as served:
        made = await served.put("/queues/door", {"concurrency": 1, "rate": 50, "period_ms": 2_000})
        assert made.json()["limits"] == {"concurrency": 1, "rate": 50, "period_ms": 2_000}
        assert (await served.post("/queues/door/pause", {})).json()["limits"]["paused"] is True
        assert "paused" not in (await served.post("/queues/door/resume", {})).json()["limits"]
        [listed] = (await served.get("/queues")).json()["queues"]
        assert listed["name"] == "door"
        assert (await served.put("/queues/door", {})).json()["limits"] == {}
        refused = await served.put("/queues/door", {"concurrency": 0})
        assert refused.status_code == 422
        problem(await served.post("/queues/a%20b/pause", {}), 422, "queue.bad_name")


async def test_a_run_waits_and_who_holds_the_slot_is_shown():
    async with museum() as served:
        await served.put("/queues/door", {"concurrency": 1})
        assert (await _start(served, "wait", id="one")).status_code == 201
        assert (await _start(served, "wait", id="two")).status_code == 201

        async def held() -> list[Any]:
            return (await served.get("/queues/door")).json()["slots"]

        [slot] = await soon(held)
        assert (slot["kind"], slot["run_id"], slot["label"]) == ("run", "one", "wait")
        shown = (await served.get("/runs/two")).json()
        assert [reason["text"] for reason in shown["waiting"]] == ["next on `door`, 1 of 1 slots taken"]
        assert shown["run"]["waiting"]["kind"] == "queued"
        await served.post("/runs/one/cancel", {})
        await soon(lambda: _holds(served, "two"))


async def _holds(served: Served, id: str) -> bool:
    return [slot["run_id"] for slot in (await served.get("/queues/door")).json()["slots"]] == [id]


async def test_a_duplicate_gives_the_first_run_or_409():
    async with museum() as served:
        first = (await _start(served, "wait", dedup_id="x", delay_ms=60_000)).json()["id"]
        again = await _start(served, "wait", dedup_id="x")
        assert (again.status_code, again.json()["id"]) == (200, first)
        refused = await _start(served, "wait", dedup_id="x", reject=True)
        problem(refused, 409, "queue.duplicate")


async def test_the_client_sets_and_shows_what_the_engine_does():
    async with museum() as served, Client(served.url) as client:
        set_ = await client.queues.set("door", concurrency=2, rate=3, period=60, partitioned=True, max_waiting=9)
        assert set_ == (await served.engine.queues.show("door")).settings
        assert (await client.queues.pause("door")).paused
        run = await client.start("wait", queue="door", partition="a", priority=-1, dedup_id="x", delay=60)
        assert await client.queues.list() == await served.engine.queues.list()
        assert await client.queues.show("door") == await served.engine.queues.show("door")
        await client.queues.resume("door")
        await run.cancel()
        assert await run.status() == "cancelled"
        assert await client.queues.holders("door") == await served.engine.queues.holders("door")


async def test_no_more_than_the_slots_run_at_once_on_a_file(tmp_path: Path):
    async with museum(f"sqlite:///{tmp_path / 'plait.db'}") as served:
        crowd.most = 0
        await served.put("/queues/door", {"concurrency": 3})
        await served.post("/queues/door/pause", {})
        ids = [(await _start(served, "visit")).json()["id"] for _ in range(20)]
        await served.post("/queues/door/resume", {})
        for id in ids:
            await served.ended(id)
        assert 1 <= crowd.most <= 3
