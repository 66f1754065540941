"""Records of agents that nobody asks for any more go with the rounds of retention."""

from __future__ import annotations

import pytest

from plait import Engine
from plait.agents.budgets import Claim
from plait.agents.daily_budget import DailyBudgets
from plait.agents.promotion.promotions import Promotions
from plait.agents.record_kinds import SPENDING, USE
from plait.engine import record_trims
from plait.kernel.task_inputs import AgentBudget
from plait.testing import sim

DAY = 86_400


async def names(engine: Engine, kind: str) -> list[str]:
    return [record.id for record in await engine.records.list(kind, limit=1_000)]


def pipeline(number: int) -> list[dict[str, object]]:
    return [{"step": "filter", "params": {"field": "amount", "value": number}}]


async def test_what_agents_spent_on_days_that_are_over_is_not_kept():
    async with sim() as s:
        for day in range(5):
            for space in ("default", "tea"):
                budgets = DailyBudgets(s.engine.records, s.engine.kernel.clock, f"engine-{day}")
                reserved = await budgets.reserve(space, AgentBudget(max_tokens=1_000), Claim(10, 0.0))
                assert reserved is not None
                await reserved.book(7, 0.0)
            if day < 4:
                await s.clock.advance(DAY)
        assert len(await names(s.engine, SPENDING)) == 10
        await s.engine.retention.apply()
        assert {name.rpartition("-")[2] for name in await names(s.engine, SPENDING)} == {"3", "4"}
        assert len(await names(s.engine, SPENDING)) == 4
        other = DailyBudgets(s.engine.records, s.engine.kernel.clock, "another")
        assert (await other._others("default", (await names(s.engine, SPENDING))[-1][:10])).tokens == 7


async def test_uses_of_pipelines_that_stay_rare_count_for_three_months(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record_trims, "_PAGE", 10)
    async with sim() as s:
        promotions = Promotions(s.engine.records, s.engine.kernel.clock)
        for number in range(25):
            assert await promotions.used("default", pipeline(number), f"call {number}") is None
        await s.clock.advance(89 * DAY)
        await promotions.used("default", pipeline(99), "call 99")
        await s.clock.advance(2 * DAY)
        for _ in range(3):  # a round looks at a page
            await s.engine.retention.apply()
        assert len(await names(s.engine, USE)) == 1
        made = await promotions.used("default", pipeline(99), "another call")
        assert made is not None
        assert made.uses == 2
