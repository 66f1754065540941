"""`ctx.agent(...)` in workflow functions: its result, its type, and no turn paid for twice wherever a process dies."""

from collections import Counter
from collections.abc import Mapping

import msgspec
import pytest

from plait import Context, Engine, workflow
from plait.agents import tool
from plait.agents.model import Model, ModelReply, ModelRequest
from plait.testing import ScriptedModel, survives_every_crash

SCRIPT = {
    "rate": [
        [{"tool": "lookup_rate", "args": {"currency": "USD"}}, {"tool": "lookup_rate", "args": {"currency": "CHF"}}],
        {"tool": "execute_pipeline", "args": {"pipeline": [{"step": "top_k", "k": 1}]}},
        {"text": "no JSON"},
        {"output": {"rate": 1.1}, "reasoning": "as looked up"},
    ]
}
ledger: Counter[str] = Counter()


class Rate(msgspec.Struct):
    rate: float


@tool
def lookup_rate(currency: str, key: str) -> float:
    """Today's rate."""
    ledger[key] += 1
    return 1.1


@workflow
async def convert(ctx: Context, amounts: list[int]) -> float:
    found = await ctx.agent(
        "rate", "Find the rate", amounts, model="m", returns=Rate, tools=["lookup_rate", "execute_pipeline"]
    )
    return amounts[0] * found.rate


class Counting:
    """Outside of any engine: it sees every call that is made."""

    def __init__(self) -> None:
        self._inner = ScriptedModel(SCRIPT)

    async def complete(self, request: ModelRequest) -> ModelReply:
        ledger[request.key] += 1
        return await self._inner.complete(request)


def counted() -> Mapping[str, Model]:
    """A crash repeats what was under way, and nothing else."""
    repeated = sum(ledger.values()) - len(ledger)
    assert repeated <= 1, ledger
    ledger.clear()
    return {"m": Counting()}


async def test_the_result_has_the_type_that_the_code_wants():
    async with Engine("memory:", definitions=[convert, lookup_rate], models={"m": ScriptedModel(SCRIPT)}) as engine:
        handle = await engine.start(convert, [10])
        assert await handle.result() == pytest.approx(11.0)
        [record] = (await handle.agents()).agents
        assert (record.node_id, len(record.turns), record.turns[2].feedback[:8]) == ("rate", 4, "this is ")
        view = await handle.view()
        assert [node.token for node in view.nodes] == [record.token]


async def test_an_agent_that_fails_raises_in_the_workflow():
    @workflow
    async def careful(ctx: Context) -> str:
        try:
            await ctx.agent("a", "Go", model="m", max_turns=1)
        except Exception as error:
            return str(error)
        return "?"

    model = ScriptedModel({"a": [{"tool": "search_tools", "args": {"query": "x"}}]}, True)
    async with Engine("memory:", definitions=[careful], models={"m": model}) as engine:
        assert "no answer after 1 turns" in await (await engine.start(careful)).result()


async def test_wherever_the_process_dies_no_call_with_a_recorded_result_is_made_again():
    ledger.clear()
    report = await survives_every_crash(convert, [10], definitions=[lookup_rate], models=counted)
    counted()
    assert report.output == pytest.approx(11.0)
    assert report.crashes > 50
