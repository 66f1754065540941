"""A conversation from the middle: a fork keeps the turns before it, and asks the next one anew."""

from collections import Counter
from typing import Any

from plait import Engine
from plait.agents import tool
from plait.dialects.graph.graph import graph
from plait.testing import ScriptedModel

GRAPH: dict[str, Any] = {
    "nodes": [{"id": "a", "type": "agent", "agent_config": {"model": "m", "available_tools": ["charge"]}}]
}


async def test_a_fork_in_the_middle_of_a_conversation_goes_on_behind_the_turns_that_it_keeps():
    calls: Counter[str] = Counter()

    @tool
    def charge(key: str) -> str:
        """Charges."""
        calls[key] += 1
        return "charged"

    answers = iter(["first", "second"])

    def script(request: Any) -> Any:
        return {"tool": "charge"} if request.messages[-1].role == "user" else {"output": next(answers)}

    async with Engine("memory:", models={"m": ScriptedModel(script)}, definitions=[charge]) as engine:
        handle = await engine.start(graph(GRAPH), id="run")
        assert await handle.result() == {"a": "first"}
        [record] = (await handle.agents()).agents
        [entry] = [event for event in await handle.events() if event.data.get("entry", {}).get("entry") == "tool"]
        fork = await handle.fork(at=entry.seq)
        assert await fork.result() == {"a": "second"}
        [again] = (await fork.agents()).agents
    assert sum(calls.values()) == 1, "the call before the fork is kept"
    assert again.turns[0] == record.turns[0]


async def test_a_child_that_an_agent_called_ends_with_its_parent():
    wait = {"nodes": [{"id": "w", "type": "wait", "config": {"seconds": 999}}]}
    model = ScriptedModel({"a": [{"tool": "workflow__slow"}, {"output": 1}]})
    async with Engine("memory:", models={"m": model}) as engine:
        await engine.definitions.save("graph", "slow", wait)
        node = {"id": "a", "type": "agent", "agent_config": {"model": "m", "available_tools": ["workflow:slow"]}}
        handle = await engine.start(graph({"nodes": [node]}))
        async for events in handle.follow():
            if any(event.type == "task.suspended" for event in events):
                break
        [record] = (await handle.agents()).agents
        child = await engine.get(record.turns[0].tool_calls[0].child_run_id)
        assert await child.status() == "running"
        await handle.cancel()
        async for _ in child.follow():
            pass
        assert await child.status() == "cancelled"
