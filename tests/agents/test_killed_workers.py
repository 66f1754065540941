"""Workers that carry an agent are killed in the middle of its calls; what they said on their standard output is the
ledger outside."""

import asyncio
import json
import subprocess
from typing import Any

from plait import Engine
from plait.agents.budgets import Spent
from plait.agents.spending import Spending
from plait.dialects.graph.graph import graph
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.workers.redis.signing_keys import SigningKeys
from tests.server.serving import serving
from tests.support.processes import start

PAY: dict[str, Any] = {
    "id": "pay",
    "type": "agent",
    "queue": "gpu",
    "agent_config": {"model": "m", "available_tools": ["charge"], "budget": {"max_tokens": 100_000}},
}


CALLS = [
    f"turn {turn} of attempt 1" if index is None else f"tool {turn}/{index}"
    for turn, index in ((1, None), (1, 0), (1, 1), (2, None), (2, 0), (3, None))
]
"""Of the script, in order."""


def one_life(module: str, *arguments: str, calls: int) -> list[str]:
    """The calls that a worker makes until it is killed in the last of them."""
    with start(module, *arguments, str(calls), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        made = [process.stdout.readline().strip().removeprefix("call ") for _ in range(calls)]
        process.kill()
        return made


async def test_killed_over_http_the_next_worker_goes_on_behind_what_is_recorded():
    async with serving() as served:
        run = await served.engine.start(graph({"nodes": [PAY]}))
        killed_in_a_tool = await asyncio.to_thread(one_life, "tests.agents.far_worker", served.url, calls=3)
        killed_in_a_turn = await asyncio.to_thread(one_life, "tests.agents.far_worker", served.url, calls=2)
        assert killed_in_a_tool == CALLS[:3]
        assert killed_in_a_turn == CALLS[2:4], "only the call that had no result is made again"
        with start("tests.agents.far_worker", served.url, "99", stdout=subprocess.DEVNULL) as last:
            assert await run.result() == {"pay": {"paid": 21}}
            last.kill()
        [record] = (await run.agents()).agents
    assert [turn.turn for turn in record.turns] == [1, 2, 3]
    assert record.attempt == 3, "two workers were lost"
    assert record.tokens_used == sum(turn.usage.input + turn.usage.output for turn in record.turns)


async def test_killed_on_redis_the_next_worker_goes_on_behind_what_is_recorded(redis_url: str):
    async with Engine("memory:", redis=f"{redis_url}?lease=3", agent_transport="stream") as engine:
        ring = await SigningKeys(engine.records, engine.kernel.clock).ring("default")
        worker = ("tests.agents.stream_agent", redis_url, json.dumps({key.id: key.secret for key in ring.keys}))
        run = await engine.start(graph({"nodes": [{"id": "a", "type": "agent", "agent_config": {"model": "far"}}]}))
        assert await asyncio.to_thread(one_life, *worker, calls=2) == ["turn 1", "turn 2"]
        assert await asyncio.to_thread(one_life, *worker, calls=2) == ["turn 2", "turn 3"]
        with start(*worker, "99", stdout=subprocess.PIPE) as last:
            assert await run.result() == {"a": {"text": "turn 3: a"}}
            last.kill()
            assert last.stdout is not None
            assert last.stdout.read() == "call turn 3\n"
        [record] = (await run.agents()).agents
    assert [turn.turn for turn in record.turns] == [1, 2, 3]
    assert (record.attempt, record.tokens_used) == (3, 330)


def test_what_a_conversation_spent_counts_once_however_many_workers_it_had():
    entries: list[tuple[int, int, dict[str, Any]]] = [
        (1, 0, {"entry": "begun", "execution": "x", "node_id": "a", "job_id": "j", "model": "m", "at": 1}),
        (1, 1, {"entry": "replied", "turn": 1, "at": 1, "ms": 1, "usage": {"input": 5, "output": 1}, "cost_usd": 0.5}),
        (2, 2, {"entry": "replied", "turn": 2, "at": 1, "ms": 1, "usage": {"input": 7, "output": 1}, "cost_usd": 0.25}),
    ]
    events = [
        Recorded(seq, Millis(0), "task.journaled", {"token": "t", "attempt": attempt, "index": index, "entry": entry})
        for seq, (attempt, index, entry) in enumerate(entries, 1)
    ]
    spending = Spending()
    spending.add(events[:2])
    spending.add(events)
    assert spending.spent("x") == spending.spent() == Spent(14, 0.75)
    assert spending.spent("y") == Spent()
