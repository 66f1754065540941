"""Agents that change the workflow they are in: within their limits, and no further."""

from typing import Any

import pytest

from plait import Engine
from plait.dialects.graph.graph import graph
from plait.engine.agent_patches import AgentPatches
from plait.testing import ScriptedModel
from tests.agents.tools.building import use

MAIL = {"id": "mail", "type": "transform", "config": {"output": "sent"}}


def added(*nodes: dict[str, Any], source: str = "qualify") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"op": "add", "path": "/nodes/-", "value": node} for node in nodes]
    return found + [{"op": "add", "path": "/edges/-", "value": {"from": source, "to": node["id"]}} for node in nodes]


def patch(*operations: dict[str, Any], **more: Any) -> dict[str, Any]:
    args = {"workflow_tag": "orders", "patch_spec": {"operations": list(operations)}, **more}
    return {"tool": "patch_workflow", "args": args}


def agent(id: str = "helper", **settings: Any) -> dict[str, Any]:
    return {"id": id, "type": "agent", "agent_config": {"model": "m", **settings}}


def orders(tools: list[str] | None = None) -> dict[str, Any]:
    """start → qualify → pay, which a manager approves."""
    return {
        "nodes": [
            agent("qualify", available_tools=tools or ["patch_workflow"]),
            {"id": "manager", "type": "human", "human_config": {"timeout_hours": 1}},
            {"id": "pay", "type": "transform", "config": {"output": "paid"}},
        ],
        "edges": [{"from": "qualify", "to": "manager"}, {"from": "manager", "to": "pay"}],
    }


def simple(tools: list[str] | None = None) -> dict[str, Any]:
    return {"nodes": [agent("qualify", available_tools=["patch_workflow"] if tools is None else tools)], "edges": []}


async def run(definition: dict[str, Any], *turns: Any) -> tuple[Any, list[tuple[str, dict[str, Any]]], ScriptedModel]:
    model = ScriptedModel({"qualify": [*turns, {"output": "done"}]})
    async with Engine("memory:", models={"m": model}) as engine:
        handle = await engine.start(graph(definition))
        async for events in handle.follow():
            if any(event.type in ("approval.created", "run.completed", "run.failed") for event in events):
                break
        found = [(event.type, event.data) for event in await handle.events()]
        return (await handle.row()).output, found, model


def types(events: list[tuple[str, dict[str, Any]]], word: str) -> list[str]:
    return [type for type, _ in events if type.startswith(word)]


async def test_the_seeds_patch_adds_a_node_and_the_agents_own_routing_sees_it():
    output, events, model = await run(simple(), patch(*added(MAIL)))
    assert bytes(output) == b'{"mail":"sent"}'
    [applied] = [data for type, data in events if type == "patch.applied"]
    assert (applied["agent"], applied["by"], applied["revision"]) == ("qualify", "agent qualify", 2)
    assert '"applied"' in model.requests[1].messages[-1].content


async def test_an_agent_without_the_tool_changes_nothing_and_that_it_tried_is_recorded():
    _, events, _ = await run(simple([]), patch(*added(MAIL)))
    assert types(events, "patch") == ["patch.rejected"]
    assert types(events, "agent.tool") == ["agent.tool_denied"]
    assert [data["code"] for type, data in events if type == "patch.rejected"] == ["graph.tool_not_allowed"]


@pytest.mark.parametrize(
    "operations",
    [
        added(*(agent(f"helper{n}", available_tools=[]) for n in range(6))),
        added(agent(available_tools=["openapi_action"])),
        [{"op": "replace", "path": "/nodes/qualify/agent_config/available_tools", "value": ["openapi_action"]}],
        [{"op": "replace", "path": "/nodes/manager/human_config/timeout_hours", "value": 0}],
        [{"op": "add", "path": "/edges/-", "value": {"from": "qualify", "to": "pay"}}],
        [*added({**MAIL, "id": "detour"}), {"op": "add", "path": "/edges/-", "value": {"from": "detour", "to": "pay"}}],
        [{"op": "add", "path": "/limits", "value": {"max_tokens": 99_999}}],
    ],
    ids=["six agents", "more tools", "own tools", "the approval", "past it", "around it", "limits"],
)
async def test_a_patch_that_widens_or_touches_approvals_is_refused_and_the_model_is_told(operations: Any):
    _, events, model = await run(orders(), patch(*operations))
    assert types(events, "patch") in (["patch.rejected"], []), events
    assert types(events, "patch.applied") == []
    assert '"error"' in model.requests[1].messages[-1].content


async def test_agents_add_five_agents_to_a_run_in_all():
    three = added(*(agent(f"a{n}", available_tools=[]) for n in range(3)))
    more = added(*(agent(f"b{n}", available_tools=[]) for n in range(3)))
    _, events, _ = await run(orders(), patch(*three), patch(*more))
    assert types(events, "patch") == ["patch.applied", "patch.rejected"]


async def test_a_new_version_for_everybody_waits_for_a_person_unless_the_namespace_says_otherwise():
    model = ScriptedModel({"qualify": [patch(*added(MAIL), scope="workflow"), {"output": 1}]})
    async with Engine("memory:", models={"m": model}) as engine:
        await engine.definitions.save("graph", "orders", simple())
        handle = await engine.start("orders")
        async for events in handle.follow():
            if any(event.type == "task.suspended" for event in events):
                break
        [asked] = await engine.approvals.list()
        assert asked.title == "Agent `qualify` proposes a new version of `orders`"
        assert await engine.definitions.resolve("orders@main") == "orders@v1.0"
        await engine.approvals.decide(asked.id, "approve", by="ada")
        await handle.result()
        assert await engine.definitions.resolve("orders@main") == "orders@v1.1"


async def test_a_namespace_may_save_what_its_agents_propose_without_asking():
    model = ScriptedModel({"qualify": [patch(*added(MAIL), scope="workflow"), {"output": 1}]})
    async with Engine("memory:", models={"m": model}) as engine:
        await engine.policies.set({"agents": {"auto_apply": True}})
        await engine.definitions.save("graph", "orders", simple())
        await (await engine.start("orders")).result()
        assert await engine.definitions.resolve("orders@main") == "orders@v1.1"


async def test_a_version_that_was_saved_before_the_process_died_is_not_saved_again():
    async with Engine("memory:", models={"m": ScriptedModel({})}) as engine:
        await engine.definitions.save("graph", "orders", simple())
        patches = AgentPatches(engine.kernel, engine.definitions, engine.agent_policy)
        for number in range(6):
            await patches.save(use(key=f"x/{number}/0"), "orders", added({**MAIL, "id": f"mail{number}"}), "mail")
        call = use(key="x/7/0")
        last = await patches.save(call, "orders", added(MAIL), "mail")
        assert await patches.save(call, "orders", added(MAIL), "mail") == last == "v1.7"
