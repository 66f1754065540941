"""However an attempt fails, its record says why; and what the next one does is not taken for what it did."""

from typing import Any

import pytest

from plait import Engine, goals, refs
from plait.agents import ModelError, ModelReply, ModelRequest, tool
from plait.agents.call_keys import first_calls
from plait.agents.model import ToolCall
from plait.agents.tools.toolbox import Toolbox
from plait.catalog import catalog_step
from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.kernel.journal import Suspended
from plait.kernel.task import TaskError
from plait.kernel.task_inputs import AgentBudget
from plait.testing import ScriptedModel
from tests.agents.lone_attempt import LoneAgent

ANSWER = ModelReply('{"output": 1}')


class Slow:
    """Takes three seconds for each reply, and is rate limited first."""

    def __init__(self) -> None:
        self.agent = LoneAgent(self, timeout=5.0)
        self.limited = True

    async def complete(self, request: ModelRequest) -> ModelReply:
        await self.agent.clock.advance(3)
        if self.limited:
            self.limited = False
            raise ModelError("rate_limited", retry_after=60)
        return ANSWER


async def test_the_time_that_an_attempt_worked_counts_after_it_was_suspended():
    slow = Slow()
    assert isinstance(await slow.agent.attempt(), Suspended)
    await slow.agent.clock.advance(60)
    slow.agent.answered({"at": 0})
    with pytest.raises(TaskError, match="`a` took longer than 5 s") as failed:
        await slow.agent.attempt()
    assert failed.value.code == "agent.timeout"


async def test_the_time_that_an_attempt_waited_does_not_count():
    slow = Slow()
    slow.agent = LoneAgent(slow, timeout=7.0)
    assert isinstance(await slow.agent.attempt(), Suspended)
    await slow.agent.clock.advance(3_600)
    slow.agent.answered({"at": 0})
    assert bytes(await slow.agent.attempt()) == b"1"


class Broken:
    """A tool that is no function, and does not know `ToolFault`."""

    name = "broken"
    description = "Breaks."

    @property
    def parameters(self) -> dict[str, Any]:
        return {"type": "object"}

    async def call(self, arguments: Any, use: Any) -> Any:
        raise KeyError("no such \0 row")


async def test_what_a_broken_tool_raises_goes_to_the_model_and_the_agent_goes_on():
    model = ScriptedModel({"a": [{"tool": "broken"}, {"output": "without it"}]})
    agent = LoneAgent(model, Broken())
    assert bytes(await agent.attempt()) == b'"without it"'
    assert "broken failed: KeyError: " in model.requests[1].messages[-1].content
    assert agent.finished[0].status == "completed"


async def test_what_a_broken_model_raises_is_in_the_record():
    class NoModel:
        async def complete(self, request: ModelRequest) -> ModelReply:
            raise ZeroDivisionError("by hand")

    agent = LoneAgent(NoModel())
    with pytest.raises(TaskError, match="model `m` failed: ZeroDivisionError: by hand"):
        await agent.attempt()
    [finished] = agent.finished
    assert (finished.status, finished.error.code) == ("failed", "agent.model_failed")


async def test_what_nobody_foresaw_is_in_the_record():
    class Tools:
        async def tools(self, namespace: str, allowed: Any) -> Any:
            raise OSError("no more files")

    agent = LoneAgent(ScriptedModel({"a": [{"output": 1}]}))
    agent.services.toolbox = Toolbox((Tools(),))
    with pytest.raises(TaskError, match="OSError: no more files"):
        await agent.attempt()
    assert [each.error.code for each in agent.finished] == ["agent.failed"]


async def test_a_text_that_no_store_takes_does_not_hide_what_failed():
    class NoModel:
        async def complete(self, request: ModelRequest) -> ModelReply:
            raise ValueError("\0 and \ud800")

    agent = LoneAgent(NoModel())
    with pytest.raises(TaskError, match="model `m` failed: ValueError"):
        await agent.attempt()
    assert values.decode(agent.journal()[-1])["error"]["message"].endswith(r"\0 and \ud800")


# -- prices ------------------------------------------------------------------------------------------------------------


async def test_a_budget_in_usd_without_a_price_is_refused_at_the_start_of_goals_and_refs():
    async with Engine("memory:", models={"m": ScriptedModel({})}) as engine:
        step = catalog_step("score").agent("m", "Score", max_cost_usd=1.0)
        await engine.catalog.register(step.output("score"))
        with pytest.raises(PlaitError, match="the price of model `m` is not known") as refused:
            await engine.start(goals("score"))
        assert refused.value.code == "goals.unpriced_model"
        action = {"agent": {"model": "m", "prompt": "Score", "max_cost_usd": 1.0}}
        with pytest.raises(PlaitError, match="the price of model `m` is not known") as refused:
            await engine.start(refs({"steps": [{"name": "score", "action": action}]}))
        assert [flaw.pointer for flaw in refused.value.flaws] == ["/steps/0/action/agent/max_cost_usd"]


async def test_a_budget_in_usd_without_a_price_ends_an_agent_of_code_before_its_model_is_asked():
    model = ScriptedModel({"a": [{"output": 1}]})
    agent = LoneAgent(model, budget=AgentBudget(max_cost_usd=1.0))
    with pytest.raises(TaskError, match="the price of model `m` is not known") as failed:
        await agent.attempt()
    assert (failed.value.code, failed.value.retryable) == ("agent.unpriced_model", False)
    assert not model.requests
    priced = LoneAgent(model, budget=AgentBudget(max_cost_usd=1.0), prices={"m": {"input": 0, "output": 0}})
    assert bytes(await priced.attempt()) == b"1"


# -- keys of tool calls ------------------------------------------------------------------------------------------------


class Shop:
    """A tool that takes down its keys, and a model that calls it as it is told."""

    def __init__(self, *calls: Any) -> None:
        self.keys: list[str] = []
        self._calls = calls
        self._asked = 0

        @tool
        def charge(cents: int, key: str) -> str:
            """Charges."""
            self.keys.append(key)
            return "charged"

        self.charge = charge

    async def complete(self, request: ModelRequest) -> ModelReply:
        cents = self._calls[self._asked]
        self._asked += 1
        if cents is None:
            raise ModelError("overloaded")
        return ModelReply("", [ToolCall("c", "charge", {"cents": cents})], "tool_calls")


async def keys_of(*calls: Any) -> list[str]:
    """Each None ends an attempt."""
    shop = Shop(*calls)
    agent = LoneAgent(shop, shop.charge)

    async def first(run_id: str, execution: str) -> Any:
        events = [
            Recorded(index, Millis(0), "task.journaled", {"token": "t", "attempt": 1, "index": index, "entry": entry})
            for index, entry in enumerate(map(values.decode, agent.journal(1)))
        ]
        return first_calls(events, execution)

    agent.services.first_calls = first
    for number in range(1, sum(each is None for each in calls) + 1):
        with pytest.raises(TaskError):
            await agent.attempt(number)
    return shop.keys


async def test_a_retry_that_makes_the_same_call_at_the_same_place_has_the_same_key():
    assert await keys_of(5, 7, None, 5, 7, None) == ["x/1/0", "x/2/0", "x/1/0", "x/2/0"]


async def test_a_retry_that_makes_another_call_at_the_same_place_has_another_key():
    first, again, other, third = await keys_of(5, None, 5, 6, None, 6, None)
    assert (first, again) == ("x/1/0", "x/1/0")
    assert other.startswith("x/2/0/")
    assert third.startswith("x/1/0/")


async def test_attempts_that_make_the_same_other_call_have_the_same_key():
    _, second, third = await keys_of(5, None, 6, None, 6, None)
    assert second == third != "x/1/0"


async def test_a_fork_in_the_middle_of_a_conversation_makes_calls_of_its_own():
    shop = Shop(5, 7, 7, 7)
    agent = LoneAgent(shop, shop.charge, max_turns=2)
    with pytest.raises(TaskError):
        await agent.attempt()
    kept = agent.journal()[:3]
    for run in ("fork", "other"):
        agent.journals[1] = kept
        with pytest.raises(TaskError):
            await agent.attempt(run=run)
    assert shop.keys[:2] == ["x/1/0", "x/2/0"]
    assert len(set(shop.keys)) == 4
