"""Agents as steps of goals and of refs: the same executor, the same journal, the same record."""

from typing import Any

import pytest

from plait import Engine, goals, graph, refs
from plait.catalog import catalog_step
from plait.kernel.errors import PlaitError
from plait.testing import ScriptedModel

SCRIPT = {"score": [{"output": {"score": 80}, "reasoning": "large"}]}


async def records(engine: Engine, handle: Any) -> list[tuple[str, str, int]]:
    return [(each.node_id, each.status, len(each.turns)) for each in (await handle.agents()).agents]


async def test_an_agent_is_a_step_of_goals_and_answers_with_its_outputs():
    async with Engine("memory:", models={"m": ScriptedModel(SCRIPT)}) as engine:
        step = catalog_step("score").agent("m", "Score the company", tools=[])
        await engine.catalog.register(step.required("company").output("score"))
        handle = await engine.start(goals("score"), {"company": "x"})
        assert (await handle.result())["score"] == 80
        assert await records(engine, handle) == [("score", "completed", 1)]


async def test_an_agent_is_a_step_of_refs():
    definition = {
        "steps": [
            {"name": "score", "action": {"agent": {"model": "m", "prompt": "Score it"}}, "input": {"company": "x"}},
            {"name": "done", "action": {"return": True}, "input": {"got": "@score.score"}},
        ]
    }
    async with Engine("memory:", models={"m": ScriptedModel(SCRIPT)}) as engine:
        handle = await engine.start(refs(definition))
        assert await handle.result() == {"got": 80}
        assert await records(engine, handle) == [("score", "completed", 1)]


async def test_settings_that_can_t_be_read_are_refused():
    async with Engine("memory:") as engine:
        with pytest.raises(Exception, match="agent"):
            await engine.start(refs({"steps": [{"name": "a", "action": {"agent": {"model": "m"}}}]}))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"model": "m"}, "missing required field `prompt`"),
        ({"model": "m", "prompt": "p", "max_turn": 3}, "unknown field `max_turn`"),
        ({"model": "m", "prompt": "p", "max_tokens": "many"}, "`max_tokens`: expected `int`, got `str`"),
    ],
)
async def test_settings_that_can_t_be_read_are_named(settings: Any, told: str):
    async with Engine("memory:") as engine:
        with pytest.raises(PlaitError) as refused:
            await engine.start(refs({"steps": [{"name": "a", "action": {"agent": settings}}]}))
        assert told in refused.value.text.replace("Object", "object")


async def test_a_node_without_a_model_is_refused_when_it_is_checked():
    async with Engine("memory:", models={"m": ScriptedModel({})}) as engine:
        with pytest.raises(PlaitError, match="agent `a` has no model"):
            await engine.start(graph({"nodes": [{"id": "a", "type": "agent"}]}))
