"""The runbook for a run that does not move, and what it repairs."""

from __future__ import annotations

from typing import Any

from plait import Engine, graph, handler, step, workflow
from plait.engine.run_check import RunCheck, check_run, repair_run
from plait.kernel.ids import RunId, TaskToken, shard_of
from plait.kernel.store import Write
from plait.stores.memory import MemoryStore
from tests.engine.places import soon


@step(queue="gpu", max_attempts=1)
async def render(page: int) -> str:
    raise AssertionError("the engine's own process must not do this")


@workflow
async def book(ctx: Any) -> str:
    return await ctx.step("render", render, 1)


@handler
async def broken(payload: Any) -> Any:
    raise ValueError("no ink")


async def checked(engine: Engine, run: str) -> RunCheck:
    return await check_run(engine.kernel, await (await engine.get(run)).row())


def codes(check: RunCheck) -> list[str]:
    return [problem.code for problem in check.problems]


async def test_the_sums_of_a_counter_are_shown_with_its_dead_letters():
    nodes = [
        {"id": "a", "type": "task", "config": {"handler": "broken"}, "retry": {"max_attempts": 1}},
        {"id": "b", "type": "transform", "config": {"output": 1}},
        {"id": "c", "type": "transform", "config": {"output": 1}, "dependencies": ["a", "b"]},
    ]
    async with Engine("memory:", definitions=[broken]) as engine:
        await engine.start(graph({"nodes": nodes, "on_failure": "hold"}), id="g")
        await soon(lambda: engine.dlq.list())
        check = await checked(engine, "g")
        assert check.facts["counter"] == "2 in memory, 2 by the last event, 2 by the sum of all"
        assert codes(check) == ["doctor.dead_letter"]
        assert "no ink" in str(check.problems[0])
        assert check.facts["dead letters"] == "1"


async def test_a_task_whose_row_is_lost_is_put_back_on_its_queue():
    store = MemoryStore()
    async with Engine(store=store, definitions=[book]) as engine:
        run = await engine.start(book, id="b")
        [held] = await soon(lambda: store.queues.held(RunId("b")))
        assert codes(await checked(engine, "b")) == []
        epoch = engine.kernel.leases.epochs[shard_of(held.task.run_id)]
        lost = Write(held.task.run_id, held.task.shard, epoch, dequeued=[TaskToken(held.task.token)])
        assert await store.commit([lost]) == ["ok"]
        check = await checked(engine, "b")
        assert (codes(check), check.lost) == (["doctor.lost_task"], [held.task.token])
        assert await repair_run(engine.kernel, await run.row(), check) == 1
        assert codes(await checked(engine, "b")) == []
        [again] = await engine.queues.claim("w1", ["gpu"])
        assert again.attempt == held.task.attempt
    await store.dispose()
