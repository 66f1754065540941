"""A thousand steps leave others their turn on the event loop: what is done between two turns is counted, not timed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plait.dialects.goals.catalogs.registering import Draft
from plait.dialects.goals.running import advance
from plait.dialects.goals.running.machine import GoalsMachine
from plait.dialects.goals.steps.builder import catalog_step
from tests.dialects.goals.running.bench import Bench, bench, work

MANY = 300
PROVIDERS = [catalog_step(f"p{number}").output("x").ale('{:x "x"}') for number in range(MANY)]
USE = work("use", "", "y").required("x", collect="some")


async def collected(b: Bench) -> None:
    b.plays("use", {"y": 1})
    run = await b.start("use")
    assert await run.output() == {"y": 1}
    assert b.inputs("use") == [{"x": ["x"] * MANY}]


async def test_a_decision_asks_for_a_few_tasks_and_goes_on_after_its_commit(monkeypatch: pytest.MonkeyPatch):
    decide, asked = GoalsMachine.decide, list[int]()

    def counted(machine: GoalsMachine, input: Any, now: Any) -> Any:
        decision = decide(machine, input, now)
        asked.append(len(decision.effects))
        return decision

    monkeypatch.setattr(GoalsMachine, "decide", counted)
    async with bench(*PROVIDERS, USE) as b:
        await collected(b)
    assert max(asked) <= 64


async def test_values_of_one_name_are_not_looked_up_provider_by_provider(monkeypatch: pytest.MonkeyPatch):
    resolution, asked = advance.resolution, list[str]()

    def counted(*args: Any) -> Any:
        asked.append("")
        return resolution(*args)

    monkeypatch.setattr(advance, "resolution", counted)
    async with bench(*PROVIDERS, USE) as b:
        await collected(b)
    assert len(asked) < 20 * MANY, "it grows with the providers, not with their square"


async def test_steps_that_have_no_room_in_a_decision_are_not_judged_in_each(monkeypatch: pytest.MonkeyPatch):
    ready, asked = advance._ready, list[str]()  # pyright: ignore[reportPrivateUsage]

    def counted(*args: Any) -> Any:
        asked.append("")
        return ready(*args)

    monkeypatch.setattr(advance, "_ready", counted)
    async with bench(*PROVIDERS, USE) as b:
        await collected(b)
    assert len(asked) < 3 * MANY, "once as a candidate, once when there is room"


async def test_steps_that_had_no_room_in_a_decision_start_after_a_crash(monkeypatch: pytest.MonkeyPatch):
    async with bench(*(work(f"w{number}", "", f"n{number}") for number in range(100))) as b:
        run = await b.start(tuple(f"w{number}" for number in range(64)))
        await b.crash()
        assert len({call.step for call in b.calls}) == 64
        assert set((await run.statuses()).values()) == {"active"}


async def test_a_fan_out_wider_than_a_decision_is_filled():
    wide = work("wide", "", "y").required("q", for_each=True).parallel(200)
    async with bench(wide) as b:
        await b.start("wide", {"q": list(range(200))})
        assert len(b.waiting("wide")) == 200


async def test_a_transaction_of_many_steps_lets_others_go_on(monkeypatch: pytest.MonkeyPatch):
    upsert, since_turn, most = Draft.upsert, 0, 0

    def counted(draft: Draft, step: Any) -> None:
        nonlocal since_turn, most
        since_turn += 1
        most = max(most, since_turn)
        upsert(draft, step)

    async def turns() -> None:
        nonlocal since_turn
        while True:
            since_turn = 0
            await asyncio.sleep(0)

    monkeypatch.setattr(Draft, "upsert", counted)
    async with bench() as b:
        others = asyncio.ensure_future(turns())
        async with b.engine.catalog.transaction() as changes:
            for each in PROVIDERS:
                changes.upsert(each)
        others.cancel()
        assert len(await b.engine.catalog.list()) == MANY
    assert most <= 50
