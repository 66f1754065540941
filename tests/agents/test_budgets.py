"""Budgets of nodes, runs and namespaces: they hold, also for a hundred agents at once, and failed attempts count."""

import asyncio
from typing import Any

import pytest

from plait import Engine
from plait.agents.budgets import Budgets, Claim, Limited, Spent
from plait.agents.failure import AgentFailure
from plait.agents.model import ModelReply, ModelRequest, Usage
from plait.dialects.graph.graph import graph
from plait.kernel.errors import PlaitError
from plait.kernel.task_inputs import AgentBudget
from plait.testing import ScriptedModel


def node(id: str = "a", **settings: Any) -> dict[str, Any]:
    return {"id": id, "type": "agent", "agent_config": {"model": "m", **settings}, "retry": {"max_attempts": 1}}


class Meter:
    """Uses all that it may, and knows how much at once."""

    def __init__(self, tokens: int) -> None:
        self.used = 0
        self._tokens = tokens

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.used += self._tokens
        await asyncio.sleep(0)
        return ModelReply("fine", usage=Usage(self._tokens - 1, 1))


async def errors(engine: Engine, definition: dict[str, Any], count: int = 1) -> list[str]:
    handles = [await engine.start(graph(definition)) for _ in range(count)]
    await asyncio.gather(*(handle.result() for handle in handles), return_exceptions=True)
    found = [event for handle in handles for event in await handle.events() if event.type == "agent.finished"]
    return [event.data["error"]["code"] if "error" in event.data else "" for event in found]


async def test_a_call_that_could_exceed_the_budget_of_its_node_is_not_made():
    model = ScriptedModel({"a": [{"output": 1}]})
    async with Engine("memory:", models={"m": model}) as engine:
        assert await errors(engine, {"nodes": [node(budget={"max_tokens": 100})]}) == ["agent.budget_exceeded"]
    assert model.requests == []


async def test_the_budget_of_a_run_holds_for_all_its_agents_at_once():
    meter = Meter(1_500)
    nodes = [node(f"a{n}", max_tokens=100) for n in range(10)]
    async with Engine("memory:", models={"m": meter}) as engine:
        found = await errors(engine, {"nodes": nodes, "limits": {"max_llm_tokens": 6_000}})
    assert meter.used <= 6_000
    assert "agent.budget_exceeded" in found


async def test_a_hundred_agents_at_once_stay_within_the_budget_of_the_day():
    meter = Meter(1_500)
    async with Engine("memory:", models={"m": meter}) as engine:
        await engine.policies.set({"agents": {"max_tokens_per_day": 15_000}})
        found = await errors(engine, {"nodes": [node(max_tokens=100)]}, 100)
    assert meter.used <= 15_000
    assert found.count("") == meter.used // 1_500
    assert found.count("agent.budget_exceeded") == 100 - found.count("")


async def test_what_was_spent_before_a_restart_counts(tmp_path: Any):
    url = f"sqlite:///{tmp_path}/plait.db"

    async def spend() -> tuple[list[str], int]:
        meter = Meter(1_500)
        async with Engine(url, models={"m": meter}) as engine:
            await engine.policies.set({"agents": {"max_tokens_per_day": 3_000}})
            return await errors(engine, {"nodes": [node(max_tokens=100)]}), meter.used

    assert await spend() == ([""], 1_500)
    assert await spend() == (["agent.budget_exceeded"], 0)


async def test_a_budget_in_usd_needs_a_price():
    async with Engine("memory:", models={"m": Meter(1)}) as engine:
        with pytest.raises(PlaitError) as refused:
            await engine.start(graph({"nodes": [node(budget={"max_cost_usd": 1.0})]}))
        assert refused.value.flaws[0].code == "graph.unpriced_model"
    prices = {"m": {"input": 1_000.0, "output": 1_000.0}}
    async with Engine("memory:", models={"m": Meter(1)}, prices=prices) as engine:
        found = await errors(engine, {"nodes": [node(budget={"max_cost_usd": 0.5})]})
    assert found == ["agent.budget_exceeded"]


async def test_what_failed_attempts_spent_is_read_from_where_it_is_recorded():
    async def past() -> Spent:
        return Spent(900, 0.0)

    budgets, limited = Budgets(), (Limited("node", "n", AgentBudget(1_000), past),)
    first = await budgets.reserve(Claim(100, None), limited)
    with pytest.raises(AgentFailure, match="1,100 of 1,000 tokens"):
        await budgets.reserve(Claim(100, None), limited)
    first.book(10, None)
    second = await budgets.reserve(Claim(90, None), limited)
    second.release()
    await budgets.reserve(Claim(90, None), limited)
