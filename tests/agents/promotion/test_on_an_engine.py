"""An agent's pipeline becomes a tool of its namespace, which the next agent is offered."""

from __future__ import annotations

from typing import Any

import pytest

from plait import Engine
from plait.dialects.graph.graph import graph
from plait.kernel.errors import NotFound
from plait.testing import ScriptedModel

ROWS = [{"price": 310}, {"price": 299}]
STEPS = [{"step": "table_sort", "field": "price"}, {"step": "top_k", "k": 1}]
PIPELINE = {"tool": "execute_pipeline", "args": {"pipeline": STEPS}}
AGENT = {"id": "qualify", "type": "agent", "config": {"prompt": "Sort"}, "agent_config": {"model": "m"}}


async def test_the_second_run_promotes_and_the_third_is_offered_it() -> None:
    def turn(request: Any) -> Any:
        return {"output": 1} if request.messages[-1].role == "tool" else PIPELINE

    model = ScriptedModel(turn)
    async with Engine("memory:", models={"m": model}) as engine:
        for _ in range(3):
            await (await engine.start(graph({"nodes": [AGENT]}), ROWS)).result()
        (made,) = await engine.tools.list()
        offered = [{tool.name for tool in request.tools} for request in model.requests if len(request.messages) < 5]
        assert made.name not in offered[0] | offered[1]
        assert made.name in {tool.name for tool in model.requests[-1].tools}
        await engine.tools.remove(made.name)
        assert await engine.tools.list() == []
        with pytest.raises(NotFound):
            await engine.tools.remove(made.name)


async def test_an_agent_finds_and_calls_a_promoted_tool() -> None:
    seen: list[Any] = []

    async with Engine("memory:", models={"m": ScriptedModel(lambda request: turn(request))}) as engine:
        for key in ("a", "b"):
            await engine.agents.promotions.used("default", STEPS, key)
        (made,) = await engine.tools.list()

        def turn(request: Any) -> Any:
            answers = [message.content for message in request.messages if message.role == "tool"]
            seen[:] = answers
            if not answers:
                return {"tool": "search_tools", "args": {"query": "table sort"}}
            return {"tool": made.name, "args": {}} if len(answers) == 1 else {"output": 1}

        await (await engine.start(graph({"nodes": [AGENT]}), ROWS)).result()
    assert made.name in seen[0]
    assert "299" in seen[1]
    assert "310" not in seen[1]


async def test_a_namespace_says_how_many_uses_make_a_tool() -> None:
    def turn(request: Any) -> Any:
        return {"output": 1} if request.messages[-1].role == "tool" else PIPELINE

    async with Engine("memory:", models={"m": ScriptedModel(turn)}) as engine:
        await engine.policies.set({"agents": {"promote_after": 3}})
        for found in (0, 0, 1):
            await (await engine.start(graph({"nodes": [AGENT]}), ROWS)).result()
            assert len(await engine.tools.list()) == found
        [event] = await engine.tools.events()
        assert event.data["uses"] == 3
