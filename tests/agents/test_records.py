"""What is told of agents: records, waiting sentences, and approvals that their calls wait for."""

import asyncio
from typing import Any

import pytest

from plait import Engine
from plait.agents import tool
from plait.agents.records import agent_records
from plait.dialects.graph.graph import graph
from plait.engine.handle import Handle
from plait.kernel.errors import PlaitError
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis, RunId
from plait.testing import ScriptedModel

NODE = {"id": "qualify", "type": "agent", "config": {"prompt": "Qualify"}, "agent_config": {"model": "m"}}

LOST = {"code": "task.lost", "message": "its process died"}


def node(**settings: Any) -> dict[str, Any]:
    return {"nodes": [{**NODE, "agent_config": {"model": "m", **settings}}]}


async def until(handle: Handle[Any], wanted: str, times: int = 1) -> str:
    seen = 0
    async for events in handle.follow():
        seen += sum(event.type == wanted for event in events)
        if seen >= times:
            break
    return (await handle.waiting())[0].text


async def test_a_record_has_each_turn_with_its_calls_and_what_they_cost():
    script = [
        {"tool": "execute_pipeline", "args": {"pipeline": [{"step": "top_k", "k": 1}]}},
        {"output": {"score": 1}, "reasoning": "only one"},
    ]
    prices = {"m": {"input": 1.0, "output": 2.0, "cached": 0.5}}
    async with Engine("memory:", models={"m": ScriptedModel({"qualify": script})}, prices=prices) as engine:
        handle = await engine.start(graph(node()), [{"n": 1}, {"n": 2}])
        await handle.result()
        found = await handle.agents()
    [record] = found.agents
    assert (record.status, record.node_id, record.attempt, len(record.turns)) == ("completed", "qualify", 1, 2)
    [call] = record.turns[0].tool_calls
    assert (call.tool, call.status, call.result["preview"]["row_count"]) == ("execute_pipeline", "completed", 1)
    assert record.decision is not None
    assert record.decision.reasoning == "only one"
    assert record.tokens_used == sum(turn.usage.input + turn.usage.output for turn in record.turns)
    assert record.cost_usd == found.cost_usd == sum(turn.cost_usd or 0 for turn in record.turns)
    assert (record.turns[0].cache_hit, record.turns[1].cache_hit) == (False, True)
    assert record.prompt is not None
    assert record.prompt.endswith("Qualify")
    assert record.result_data == {"score": 1}


async def test_a_price_that_is_not_known_is_none_and_prompts_need_not_be_kept():
    model = ScriptedModel({"qualify": [{"text": "fine"}]})
    async with Engine("memory:", models={"m": model}, keep_prompts=False) as engine:
        handle = await engine.start(graph(node()), {"secret": "swordfish"})
        await handle.result()
        [record] = (await handle.agents()).agents
        log = str([event.data for event in await handle.events() if event.type == "task.journaled"])
    assert (record.cost_usd, record.prompt, len(record.prompt_hash)) == (None, None, 64)
    assert "swordfish" not in log


async def test_an_agent_under_way_says_in_which_turn_it_is():
    asked, go = asyncio.Event(), asyncio.Event()

    @tool
    async def slow() -> str:
        """Takes its time."""
        asked.set()
        await go.wait()
        return "done"

    model = ScriptedModel({"qualify": [{"tool": "slow"}, {"output": 1}]})
    async with Engine("memory:", models={"m": model}, definitions=[slow]) as engine:
        handle = await engine.start(graph(node(available_tools=["slow"])))
        await asked.wait()
        assert [reason.text for reason in await handle.waiting()] == ["agent `qualify`: turn 1 of 10"]
        [record] = (await handle.agents()).agents
        assert (record.status, record.turns[0].tool_calls[0].status) == ("running", "running")
        go.set()
        assert await handle.result() == {"qualify": 1}


async def test_a_call_that_needs_approval_waits_for_a_person_and_tells_the_model_what_was_decided():
    paid: list[int] = []

    @tool(needs_approval=True)
    def pay(amount: int) -> str:
        """Pays."""
        paid.append(amount)
        return "paid"

    script = [[{"tool": "pay", "args": {"amount": 5}}, {"tool": "pay", "args": {"amount": 7}}], {"output": "ok"}]
    model = ScriptedModel({"qualify": script})
    async with Engine("memory:", models={"m": model}, definitions=[pay]) as engine:
        handle = await engine.start(graph(node(available_tools=["pay"])))
        assert await until(handle, "task.suspended") == "approval of `pay`, called by agent `qualify`"
        [first] = await engine.approvals.list()
        assert first.title == "Agent `qualify` wants to call `pay`"
        assert (await handle.agents()).agents[0].status == "waiting"
        await engine.approvals.decide(first.id, "approve", by="ada")
        await until(handle, "task.suspended", 2)
        [second] = [each for each in await engine.approvals.list() if each.id != first.id]
        await engine.approvals.decide(second.id, "reject", by="ada", comment="too much")
        assert await handle.result() == {"qualify": "ok"}
        [record] = (await handle.agents()).agents
    assert paid == [5]
    assert "a person refused this call (ada): too much" in model.requests[1].messages[-1].content
    assert [call.status for call in record.turns[0].tool_calls] == ["completed", "failed"]
    assert record.turns[0].tool_calls[0].approval_id == first.id


async def test_a_rate_limited_model_is_waited_for():
    script = [{"error": "rate_limited", "retry_after": 0.05}, {"output": 1}]
    async with Engine("memory:", models={"m": ScriptedModel({"qualify": script})}) as engine:
        handle = await engine.start(graph(node()))
        assert (await until(handle, "task.suspended")).startswith("model `m` rate limited until ")
        assert await handle.result() == {"qualify": 1}


async def test_a_saved_workflow_is_a_tool_and_its_run_is_a_child():
    double = {"nodes": [{"id": "d", "type": "transform", "config": {"output": {"twice": "$payload.n"}}}]}
    script = [{"tool": "workflow__double", "args": {"n": 21}}, {"output": "ok"}]
    model = ScriptedModel({"qualify": script})
    async with Engine("memory:", models={"m": model}) as engine:
        await engine.definitions.save("graph", "double", double)
        handle = await engine.start(graph(node(available_tools=["workflow:double"])))
        assert await handle.result() == {"qualify": "ok"}
        [record] = (await handle.agents()).agents
        child = await engine.get(record.turns[0].tool_calls[0].child_run_id)
        assert (await child.row()).parent == handle.id
    assert "twice" in model.requests[1].messages[-1].content


async def test_a_fork_asks_one_turn_anew_with_another_prompt_and_model_and_keeps_the_turns_before():
    looks: list[int] = []

    @tool
    def look() -> str:
        """Looks."""
        looks.append(1)
        return "seen"

    first = ScriptedModel({"qualify": [{"tool": "look"}, {"output": "first"}]})
    second = ScriptedModel(lambda request: {"output": request.messages[-3].content[-5:]})
    async with Engine("memory:", models={"m": first, "other": second}, definitions=[look]) as engine:
        handle = await engine.start(graph(node(available_tools=["look"])))
        await handle.result()
        [record] = (await handle.agents()).agents
        edits = {"agents": {"qualify": {"prompt": "Again", "model": "other"}}}
        fork = await handle.fork(at=record.turns[1].seq - 1, edits=edits)
        assert await fork.result() == {"qualify": "Again"}
        [again] = (await fork.agents()).agents
        assert "edit_agents" in (await fork.picture()).actions
    assert looks == [1], "the call of the first turn is not made again"
    assert (again.model, len(again.turns), again.turns[0].seq) == ("other", 2, record.turns[0].seq)
    assert again.prompt is not None
    assert again.prompt.endswith("Again")
    assert again.created_at == record.created_at


async def test_a_fork_refuses_settings_of_agents_that_can_not_be():
    model = ScriptedModel({"qualify": [{"text": "fine"}]})
    async with Engine("memory:", models={"m": model}) as engine:
        handle = await engine.start(graph(node()))
        await handle.result()
        [record] = (await handle.agents()).agents
        for edits, words in (
            ({"nobody": {"model": "m"}}, "no agent 'nobody'"),
            ({"qualify": {"temperature": "hot"}}, "no setting 'temperature'"),
            ({"qualify": {"prompt": 1}}, "not text"),
            ({"qualify": {"model": "unknown"}}, "unknown"),
        ):
            with pytest.raises(PlaitError, match=words):
                await handle.fork(at=record.turns[0].seq - 1, edits={"agents": edits})


async def test_a_run_tells_what_its_agents_used_without_its_log():
    script = [{"text": "fine"}]
    prices = {"m": {"input": 1.0, "output": 2.0}}
    async with Engine("memory:", models={"m": ScriptedModel({"qualify": script})}, prices=prices) as engine:
        handle = await engine.start(graph(node()))
        await handle.result()
        found = await handle.agents()
        row, view = await handle.row(), (await handle.picture()).view
    assert row.past is not None
    assert row.past.agents == view.agents
    assert view.agents is not None
    assert (view.agents.attempts, view.agents.tokens, view.agents.cost_usd) == (1, found.tokens_used, found.cost_usd)


async def test_the_record_of_a_cancelled_run_says_so_and_waits_for_nothing():
    @tool(needs_approval=True)
    def pay(cents: int) -> str:
        """Pays."""
        return "paid"

    model = ScriptedModel({"qualify": [{"tool": "pay", "args": {"cents": 5}}]})
    async with Engine("memory:", models={"m": model}, definitions=[pay]) as engine:
        handle = await engine.start(graph(node(available_tools=["pay"])))
        await until(handle, "task.suspended")
        await handle.cancel()
        async for _ in handle.follow():
            pass
        [record] = (await handle.agents()).agents
    assert (record.status, record.waiting) == ("cancelled", "")
    assert record.completed_at is not None
    assert [call.status for call in record.turns[0].tool_calls] == ["failed"]


def test_the_record_of_an_attempt_that_was_lost_has_the_cause():
    begun = {"entry": "begun", "node_id": "a", "job_id": "run:x:1", "model": "m", "at": 5, "max_turns": 3}
    events = [
        Recorded(1, Millis(5), "task.journaled", {"token": "t", "attempt": 1, "index": 0, "entry": begun}),
        Recorded(2, Millis(9), "task.retry_scheduled", {"token": "t", "attempt": 1, "error": LOST}),
        Recorded(3, Millis(20), "run.completed", {"output": None}),
    ]
    [record] = agent_records(RunId("run"), events).agents
    assert (record.status, record.completed_at, record.execution_time_ms) == ("failed", 9, 4)
    assert record.error is not None
    assert record.error.message == "its process died"
    [record] = agent_records(RunId("run"), [*events[:1], *events[2:]]).agents
    assert (record.status, record.error) == ("cancelled", None)
