"""Agents as jobs on a real Valkey: by the stream `wf.tasks.agent`, and by lists for workers that know nothing else."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from plait import Context, Engine, workflow
from plait.dialects.graph.graph import graph
from plait.engine.handle import Handle
from plait.errors import PlaitError
from plait.workers.redis.signing_keys import SigningKeys
from tests.server.serving import soon

from .stream_worker import Delivered, StreamWorker, working

STREAM = "wf.tasks.agent"


@asynccontextmanager
async def agents_by(transport: Any, redis: str) -> AsyncGenerator[tuple[Engine, StreamWorker]]:
    async with (
        Engine("memory:", redis=redis, agent_transport=transport) as engine,
        working(redis.partition("?")[0], STREAM) as far,
    ):
        yield engine, far


def qualifying(**more: Any) -> Any:
    settings = {"model": "far", **more.pop("settings", {})}
    node = {"id": "qualify", "type": "agent", "config": {"prompt": "Qualify"}, "agent_config": settings, **more}
    return graph({"nodes": [node], "edges": []})


def replied(turn: int, tokens: int = 100) -> dict[str, Any]:
    return {"entry": "replied", "turn": turn, "at": 1, "ms": 1, "usage": {"input": tokens, "output": 0}}


async def keep(task: Delivered, index: int, entry: dict[str, Any]) -> dict[str, Any]:
    """As a worker does that may be killed: it goes on when the entry is on disk."""
    journal = {"index": index, "entry": entry}
    await task.worker.signal(task.result() | {"status": "working", "journal": journal})
    _, answer = await task.worker.db.blpop(f"{task.worker.prefix}agent:kept:{task.token['job_id']}", 20)
    return json.loads(answer)


async def types(run: Handle[Any]) -> list[str]:
    return [event.type for event in await run.events()]


# -- the stream ------------------------------------------------------------------------------------------------------


async def test_a_job_on_the_stream_has_all_that_its_worker_needs_and_a_signature(redis_url: str):
    async with (
        Engine("memory:", redis=redis_url, agent_transport="stream") as engine,
        working(redis_url, STREAM) as far,
    ):
        run = await engine.start(qualifying(), {"customer": "Ada"}, id="r1", labels={"user": "bob"})
        task = await far.one()
        job = task.token
        ring = await SigningKeys(engine.records, engine.kernel.clock).ring("default")
        assert ring.verifies(job, task.envelope["signature"], task.envelope["signed_by"])
        assert (job["version"], job["run_id"], job["node_id"], job["user_id"]) == ("1.0", "r1", "qualify", "bob")
        assert (job["prompt"], job["payload"], job["retry_count"]) == ("Qualify", {"customer": "Ada"}, 0)
        assert job["allowed_tools"] == ["execute_pipeline", "search_tools"]
        assert job["agent_config"]["model"] == "far"
        metadata = {"tokens_used": 1523, "cache_hit": True, "llm_model": "big-1", "execution_time_ms": 12}
        calls = [{"tool": "execute_pipeline", "args": {"pipeline": []}}]
        await task.complete({"score": 80}, metadata={**metadata, "tool_calls": calls}, reasoning="large")
        assert await run.result() == {"qualify": {"score": 80}}
        [record] = (await run.agents()).agents
        [finished] = [event.data for event in await run.events() if event.type == "agent.finished"]
    assert (record.job_id, record.status, record.tokens_used) == (job["job_id"], "completed", 1523)
    assert (record.cache_hit, record.cost_usd) == (True, None), "what it cost nobody knows"
    assert [(call.tool, call.args) for call in record.tool_calls] == [("execute_pipeline", {"pipeline": []})]
    assert (finished["status"], finished["tool_calls"]) == ("completed", 1)


async def test_an_agent_of_another_dialect_goes_by_the_stream_too(redis_url: str):
    @workflow
    async def ask(ctx: Context) -> Any:
        return await ctx.agent("score", "Score it", {"n": 1}, model="far")

    async with (
        Engine("memory:", definitions=[ask], redis=redis_url, agent_transport="stream") as engine,
        working(redis_url, STREAM) as far,
    ):
        run = await engine.start(ask)
        await (await far.one()).complete(7)
        assert await run.result() == 7


async def test_a_worker_that_is_lost_leaves_its_journal_to_the_next(redis_url: str):
    async with agents_by("stream", f"{redis_url}?lease=3") as (engine, far):
        run = await engine.start(qualifying())
        first = await far.one()
        size = len(first.token["journal"])
        assert (await keep(first, size, replied(1)))["index"] == size + 1
        second = await far.one()  # the lease of the first has run out
        assert second.token["attempt"] == 2
        assert second.token["journal"][size]["turn"] == 1
        stale = await keep(first, size + 1, replied(2))
        assert stale["error"]["code"] == "task.settled"
        assert (await keep(second, len(second.token["journal"]), replied(2)))["granted"]
        await second.complete("done")
        assert await run.result() == {"qualify": "done"}
        [record] = (await run.agents()).agents
    assert [turn.turn for turn in record.turns] == [1, 2]
    assert record.tokens_used == 200


async def test_a_budget_ends_what_may_not_be_asked_and_stops_what_is_under_way(redis_url: str):
    small = {"max_tokens": 10, "budget": {"max_tokens": 1_000}}
    async with (
        Engine("memory:", redis=redis_url, agent_transport="stream") as engine,
        working(redis_url, STREAM) as far,
    ):
        run = await engine.start(qualifying(settings=small, retry={"max_attempts": 2, "backoff_ms": 1}))
        task = await far.one()
        told = await keep(task, len(task.token["journal"]), replied(1, 995))
        assert not told["granted"]
        assert "of 1,000 tokens" in told["reason"]
        await task.complete(status="failed", error={"type": "Budget", "message": "stopped"})
        with pytest.raises(PlaitError):  # the second attempt is not even sent
            await run.result()
        ended = [event.data for event in await run.events() if event.type == "agent.finished"]
    assert [each["error"]["code"] for each in ended] == ["agent.failed", "agent.budget_exceeded"]


async def test_an_answer_that_misfits_and_a_route_that_is_denied_are_tried_again(redis_url: str):
    branch = {"type": "agent_driven", "available_next_nodes": ["sales"], "default": []}
    schema = {"type": "object", "required": ["score"]}
    node = {
        "id": "qualify",
        "type": "agent",
        "config": {"output_schema": schema},
        "agent_config": {"model": "far"},
        "branch": branch,
        "retry": {"max_attempts": 3, "backoff_ms": 1},
    }
    sales = {"id": "sales", "type": "transform", "config": {"output": "sold"}}
    definition = graph({"nodes": [node, sales], "edges": []})
    async with (
        Engine("memory:", redis=redis_url, agent_transport="stream") as engine,
        working(redis_url, STREAM) as far,
    ):
        run = await engine.start(definition)
        first = await far.one()
        assert first.token["available_next_nodes"] == ["sales"]
        await first.complete("no object", next_nodes=["sales"])
        second = await far.one()
        assert second.token["last_error"]["code"] == "agent.bad_answer"
        await second.complete({"score": 1}, next_nodes=["sales", "admin"])
        await (await far.one()).complete({"score": 1}, next_nodes=["sales"], reasoning="fits")
        assert await run.result() == {"sales": "sold"}
        assert "agent.route_denied" in await types(run)


# -- lists -----------------------------------------------------------------------------------------------------------


class ListWorker:
    """A worker of the seed's kind: it knows jobs and results, and nothing of tasks."""

    def __init__(self, far: StreamWorker) -> None:
        self.db = far.db

    async def take(self) -> dict[str, Any]:
        while (found := await self.db.blpop("agent:jobs", 5)) is None:
            pass
        return json.loads(found[1])

    async def answer(self, job: dict[str, Any], output: Any, **more: Any) -> None:
        result = {"version": "1.0", "job_id": job["job_id"], "status": "completed", "result_data": output, **more}
        await self.db.rpush(f"agent:results:{job['job_id']}", json.dumps(result))


async def test_a_worker_of_lists_sends_back_nothing_but_the_id_of_its_job(redis_url: str):
    async with agents_by("list", redis_url) as (engine, far):
        worker = ListWorker(far)
        run = await engine.start(qualifying(), id="r1")
        job = await worker.take()
        key = (await SigningKeys(engine.records, engine.kernel.clock).ring("default")).current
        signature, signed_by = job.pop("signature"), job.pop("signed_by")
        assert (key.sign(job), key.id) == (signature, signed_by)
        assert (job["run_id"], job["node_id"], job["timeout_sec"]) == ("r1", "qualify", 300)
        await worker.answer(job, {"score": 1})
        assert await run.result() == {"qualify": {"score": 1}}
        [record] = (await run.agents()).agents
        assert record.job_id == job["job_id"]


async def test_a_second_result_of_a_job_is_late(redis_url: str):
    async with agents_by("list", redis_url) as (engine, far):
        worker = ListWorker(far)
        run = await engine.start(
            graph(
                {
                    "nodes": [
                        {"id": "qualify", "type": "agent", "agent_config": {"model": "far"}},
                        {"id": "rest", "type": "wait", "config": {"seconds": 3600}},
                    ],
                    "edges": [{"from": "qualify", "to": "rest"}],
                }
            )
        )
        job = await worker.take()
        await worker.answer(job, 1)
        await soon(lambda: _has(run, "agent.finished"))
        await worker.answer(job, 2)
        await soon(lambda: _gone(far, job))
        events = [event.data for event in await run.events() if event.type == "agent.finished"]
        assert len(events) == 1
        assert (await run.agents()).agents[0].result_data == 1
        await run.cancel()


async def _has(run: Handle[Any], type: str) -> bool:
    return type in await types(run)


async def _gone(far: StreamWorker, job: dict[str, Any]) -> bool:
    return not await far.db.exists(f"agent:results:{job['job_id']}", "agent:results:in_flight")


async def test_jobs_that_redis_forgot_are_offered_again(redis_url: str):
    async with agents_by("list", redis_url) as (engine, far):
        worker = ListWorker(far)
        run = await engine.start(qualifying())
        lost = await worker.take()
        await far.db.flushdb()
        job = await worker.take()
        assert job["job_id"] == lost["job_id"], "it is the same attempt: nobody did anything wrong"
        await worker.answer(job, "again")
        assert await run.result() == {"qualify": "again"}
        entries = [event.data["entry"]["entry"] for event in await run.events() if event.type == "task.journaled"]
        assert entries == ["begun", "replied", "ended"], "to offer it again adds nothing to the log"


async def test_a_result_that_came_while_no_engine_was_there_counts(redis_url: str, tmp_path: Any):
    db = f"sqlite:///{tmp_path}/plait.db"
    async with working(redis_url, STREAM) as far:
        worker = ListWorker(far)
        async with Engine(db, redis=redis_url, agent_transport="list") as engine:
            await engine.start(qualifying(), id="r1")
            job = await worker.take()
        await worker.answer(job, "kept")
        async with Engine(db, redis=redis_url, agent_transport="list") as engine:
            assert await (await engine.get("r1")).result() == {"qualify": "kept"}


async def test_a_result_with_a_wrong_signature_is_rejected(redis_url: str):
    async with agents_by("list", redis_url) as (engine, far):
        worker = ListWorker(far)
        run = await engine.start(qualifying())
        job = await worker.take()
        await worker.answer(job, "forged", signature="00", signed_by=job["signed_by"])
        await soon(lambda: _has(run, "token.rejected"))
        await worker.answer(job, "true")
        assert await run.result() == {"qualify": "true"}


# -- what is wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["list", "stream", "pigeon"])
def test_a_transport_that_can_not_be_is_refused(transport: Any):
    with pytest.raises(PlaitError) as refused:
        Engine("memory:", agent_transport=transport)
    assert refused.value.code == "agent.bad_transport"


async def test_a_run_that_was_sent_away_stays_there_when_the_transport_changes(tmp_path: Any):
    db = f"sqlite:///{tmp_path}/plait.db"
    async with Engine(db, agent_transport="queue") as engine:
        await engine.start(qualifying(), id="r1")
        [task] = await engine.queues.claim("w", ["agent"], wait_ms=10_000)
    async with Engine(db) as engine:
        await engine.queues.complete(task.id, "far")
        run = await engine.get("r1")
        assert await asyncio.wait_for(run.result(), 20) == {"qualify": "far"}
        assert "agent.unknown_model" not in str([event.data for event in await run.events()])
