"""Agents on workers over HTTP: their budgets, policies and patches are the server's, whatever the worker asks for."""

import asyncio
from typing import Any

import pytest

from plait import afl
from plait.agents import tool
from plait.agents.model import ModelReply, ModelRequest, Usage
from plait.client import Client
from plait.dialects.graph.graph import graph
from plait.errors import PlaitError
from plait.server.site import Settings
from plait.testing import ScriptedModel
from tests.agents.remote import carrying
from tests.agents.test_patches import MAIL, added, patch
from tests.server.serving import Served, serving


def agents(*ids: str, **more: Any) -> Any:
    settings = {"model": "m", **more.pop("settings", {})}
    nodes = [
        {"id": id, "type": "agent", "queue": "gpu", "agent_config": settings, "retry": {"max_attempts": 1}}
        for id in ids
    ]
    return graph({"nodes": nodes, "edges": [], **more})


async def claimed(served: Served, client: Client, definition: Any) -> tuple[Any, Any]:
    """A run, and the task that a worker by hand has of it."""
    run = await served.engine.start(definition, [{"n": 1}])
    [task] = await client.queues.claim("hand", ["gpu"], wait_ms=10_000)
    return run, task


def begun(execution: str) -> dict[str, Any]:
    return {"entry": "begun", "node_id": "a", "job_id": "j", "model": "m", "at": 1, "max_turns": 10} | {
        "execution": execution
    }


def replied(*calls: dict[str, Any], turn: int = 1) -> dict[str, Any]:
    made = [{"id": f"c{n}", "name": each["tool"], "arguments": each["args"]} for n, each in enumerate(calls)]
    return {
        "entry": "replied",
        "turn": turn,
        "at": 1,
        "ms": 1,
        "tool_calls": made,
        "usage": {"input": 90, "output": 10},
    }


async def test_an_agent_works_with_the_models_and_tools_of_its_worker():
    @tool
    def rate(region: str) -> float:
        """The rate of a region."""
        return {"north": 0.2}[region]

    script = [
        {"tool": "rate", "args": {"region": "north"}},
        {"tool": "execute_pipeline", "args": {"pipeline": [{"step": "top_k", "k": 1}]}},
        {"tool": "search_tools", "args": {"query": "rate"}},
        {"output": {"rate": 0.2}},
    ]
    names = ["rate", "execute_pipeline", "search_tools"]
    async with serving() as served, carrying(served.url, {"m": ScriptedModel({"a": script})}, [rate]):
        run = await served.engine.start(agents("a", settings={"available_tools": names}), [{"n": 1}, {"n": 2}])
        assert await run.result() == {"a": {"rate": 0.2}}
        [record] = (await run.agents()).agents
        [finished] = [event for event in await run.events() if event.type == "agent.finished"]
    calls = [call for turn in record.turns for call in turn.tool_calls]
    assert [(call.tool, call.status) for call in calls] == [(name, "completed") for name in names]
    assert calls[2].result["tools"][0]["name"] == "rate"
    assert (finished.data["token"], finished.data["attempt"]) == (record.token, record.attempt)


async def test_the_policy_of_the_namespace_holds_on_the_worker():
    called: list[str] = []

    @tool
    def pay(key: str) -> str:
        """Pays."""
        called.append(key)
        return "paid"

    script = [{"tool": "pay", "args": {}}, {"output": "no"}]
    async with serving() as served, carrying(served.url, {"m": ScriptedModel({"a": script})}, [pay]):
        await served.engine.policies.set({"agents": {"allowed_tools": ["search_tools"]}})
        run = await served.engine.start(agents("a", settings={"available_tools": ["pay"]}))
        assert await run.result() == {"a": "no"}
        [denied] = [event for event in await run.events() if event.type == "agent.tool_denied"]
    assert denied.data["tool"] == "pay"
    assert called == []


class Meter:
    """Uses 1,500 tokens with each call."""

    def __init__(self) -> None:
        self.used = 0

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.used += 1_500
        await asyncio.sleep(0)
        return ModelReply("fine", usage=Usage(1_499, 1))


@pytest.mark.parametrize("level", ["run", "day"])
async def test_two_workers_stay_within_one_budget(level: str):
    meter, ids = Meter(), [f"a{n}" for n in range(10)]
    limits = {"limits": {"max_llm_tokens": 6_000}} if level == "run" else {}
    async with (
        serving() as served,
        carrying(served.url, {"m": meter}, name="one"),
        carrying(served.url, {"m": meter}, name="two"),
    ):
        if level == "day":
            await served.engine.policies.set({"agents": {"max_tokens_per_day": 6_000}})
        run = await served.engine.start(agents(*ids, settings={"max_tokens": 100}, **limits))
        with pytest.raises(PlaitError):
            await run.result()
        ended = [event.data for event in await run.events() if event.type == "agent.finished"]
    assert 0 < meter.used <= 6_000
    assert {each["error"]["code"] for each in ended if "error" in each} == {"agent.budget_exceeded"}


async def test_the_booking_of_a_lost_worker_is_no_reason_to_refuse_another():
    async with serving() as served, Client(served.url) as client:
        definition = agents("a", "b", settings={"max_tokens": 100}, limits={"max_llm_tokens": 3_000})
        run = await served.engine.start(definition)
        first, second = await client.queues.claim("hand", ["gpu"], limit=2, wait_ms=10_000)
        assert (await client.queues.reserve(first.id, 2_000, None)).granted
        refused = await client.queues.reserve(second.id, 2_000, None)
        assert not refused.granted
        assert "4,000 of 3,000 tokens" in refused.reason
        await client.queues.release(first.id)
        assert (await client.queues.reserve(second.id, 2_000, None)).granted
        await run.cancel()


async def test_what_an_entry_says_was_used_is_booked_and_counts_for_the_next():
    async with serving() as served, Client(served.url) as client:
        _, task = await claimed(served, client, agents("a", settings={"budget": {"max_tokens": 1_000}}))
        execution = task.input["execution"]
        assert (await client.queues.reserve(task.id, 950, None)).granted
        await client.queues.keep(task.id, 0, begun(execution))
        await client.queues.keep(task.id, 1, replied())
        assert (await client.queues.reserve(task.id, 900, None)).granted
        assert not (await client.queues.reserve(task.id, 901, None)).granted


async def test_a_patch_by_an_agent_of_a_worker_is_made_once_by_its_server():
    script = [patch(*added(MAIL, source="a")), {"output": "done"}]
    async with serving() as served, carrying(served.url, {"m": ScriptedModel({"a": script})}):
        run = await served.engine.start(agents("a", settings={"available_tools": ["patch_workflow"]}))
        assert await run.result() == {"mail": "sent"}
        types = [event.type for event in await run.events()]
    assert types.count("run.patched") == 1, types


async def test_a_worker_can_not_patch_what_its_agent_may_not():
    async with serving() as served, Client(served.url) as client:
        run, task = await claimed(served, client, agents("a"))
        with pytest.raises(PlaitError) as early:
            await client.queues.patch(task.id)
        assert early.value.code == "task.no_such_call"
        await client.queues.keep(task.id, 0, begun(task.input["execution"]))
        await client.queues.keep(task.id, 1, replied(patch(*added(MAIL, source="a"))))
        made = await client.queues.patch(task.id)
        assert made.error == "the tool `patch_workflow` is not allowed here"
        assert "patch.rejected" in [event.type for event in await run.events()]


async def test_a_new_version_of_a_workflow_needs_the_approval_that_the_kernel_wrote():
    async with serving() as served, Client(served.url) as client:
        await served.engine.definitions.save("graph", "orders", agents("a").definition)
        definition = agents("a", settings={"available_tools": ["patch_workflow"]})
        _, task = await claimed(served, client, definition)
        await client.queues.keep(task.id, 0, begun(task.input["execution"]))
        await client.queues.keep(task.id, 1, replied(patch(*added(MAIL, source="a"), scope="workflow")))
        assert (await client.queues.patch(task.id)).error == "a person has to approve this first"
        await client.queues.keep(task.id, 2, {"entry": "waiting", "kind": "approval", "turn": 1})
        with pytest.raises(PlaitError) as forged:
            await client.queues.keep(task.id, 3, {"decision": "approve", "by": "ada"})
        assert forged.value.code == "task.bad_entry"
        assert (await client.queues.patch(task.id)).error == "a person has to approve this first"


async def test_a_worker_can_not_start_a_workflow_that_its_agent_may_not():
    async with serving() as served, Client(served.url) as client:
        await served.engine.definitions.save("graph", "payout", agents("a").definition)
        run, task = await claimed(served, client, agents("a"))
        with pytest.raises(PlaitError) as refused:
            await client.queues.suspend(task.id, {"for": "child", "definition": "payout", "dialect": "graph"})
        assert refused.value.code == "task.foreign_child"
        assert "task.suspended" not in [event.type for event in await run.events()]


async def test_a_saved_workflow_is_a_tool_on_the_worker_too():
    child = graph({"nodes": [{"id": "t", "type": "transform", "config": {"output": 5}}]})
    script = [{"tool": "workflow__five", "args": {}}, {"output": "five"}]
    async with serving() as served, carrying(served.url, {"m": ScriptedModel({"a": script})}):
        await served.engine.definitions.save("graph", "five", child.definition)
        run = await served.engine.start(agents("a", settings={"available_tools": ["workflow:five"]}))
        assert await run.result() == {"a": "five"}
        [record] = (await run.agents()).agents
    assert record.turns[0].tool_calls[0].status == "completed"


async def test_a_pipeline_that_workers_use_twice_is_promoted_and_offered_to_them():
    pipeline = {"pipeline": [{"step": "top_k", "k": 2}]}
    script = [{"tool": "execute_pipeline", "args": pipeline}, {"output": 1}]
    async with serving() as served, carrying(served.url, {"m": ScriptedModel({"a": script})}):
        for _ in range(2):
            await (await served.engine.start(agents("a"), [{"n": 1}])).result()
        [promoted] = await served.engine.tools.list()
        async with Client(served.url) as client:
            run = await served.engine.start(
                graph({"nodes": [{"id": "b", "type": "agent", "queue": "hand"} | {"agent_config": {"model": "m"}}]})
            )
            [task] = await client.queues.claim("hand", ["hand"], wait_ms=10_000)
            terms = await client.queues.terms(task.id)
            await run.cancel()
    assert [each.name for each in terms.pipelines] == [promoted.name]
    assert terms.allowed_tools == ["execute_pipeline", "search_tools"]


async def test_a_key_of_another_queue_learns_nothing():
    async with serving("memory:", settings=Settings(open=False)) as served:
        keys = served.site.auth.keys
        _, right = await keys.create("right", "worker", queues=["gpu"])
        _, wrong = await keys.create("wrong", "worker", queues=["cpu"])
        async with Client(served.url, right) as mine, Client(served.url, wrong) as other:
            _, task = await claimed(served, mine, agents("a"))
            assert (await mine.queues.terms(task.id)).id == task.id
            asks = (other.queues.terms(task.id), other.queues.reserve(task.id, 1, None), other.queues.patch(task.id))
            for ask in asks:
                with pytest.raises(PlaitError) as refused:
                    await ask
                assert refused.value.code == "task.unknown"


async def test_an_agent_of_afl_that_names_no_model_is_carried_by_whichever_there_is():
    source = """
namespace leads {
    event facet Score(lead: String) => (score: Long) prompt { template "Score {lead}" }
    workflow Rate(lead: String) => (score: Long) andThen { s = Score(lead = $.lead) yield Rate(score = s.score) }
}
"""
    model = ScriptedModel(lambda request: {"output": {"score": 7}})
    async with (
        serving(agent_transport="queue") as served,
        carrying(served.url, {"m": model}, queue="agent"),
    ):
        run = await served.engine.start(afl(source, "leads.Rate"), {"lead": "Ada"})
        assert await run.result() == {"score": 7}
