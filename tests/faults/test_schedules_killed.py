"""Schedules on real engines that are really killed: every time becomes one run, and nobody leaves one out."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest

from plait import Engine
from plait.api.schedule import Fire
from plait.kernel.ids import Millis
from plait.kernel.store import RunFilter

from .serving import Serving, serving
from .work import DEFINITIONS, STEPS_OF_SUMMING, keys_by_step, summing

NAMES = ("tick", "tock", "tack")
KILLS = 2
SECOND = 1000


async def fires_up_to(client: Engine, name: str, moment: Millis) -> list[Fire]:
    """What became of a schedule's times, oldest first, once they are decided and started up to a moment."""
    while True:
        schedule = await client.schedules.get(name)
        if schedule.last is not None and schedule.last.scheduled_at >= moment:
            found = await client.schedules.fires(name, limit=200)
            return sorted(found, key=lambda fire: fire.number)
        await asyncio.sleep(0.02)


@pytest.mark.chance(again=True)
async def test_a_schedule_fires_once_a_time_while_engines_are_killed(database: str, ledger: Path):
    """A second engine is there when the first dies: on PostgreSQL both fire, on SQLite it takes over."""
    async with Engine(database, definitions=DEFINITIONS, work=False) as client:
        for name in NAMES:
            await client.schedules.create(name, summing, 1, every=1, overlap="allow", catchup=3600)
        with ExitStack() as stack:
            engine = stack.enter_context(serving(database, ledger, lease=2.0))
            for _ in range(KILLS):
                engine = await _killed_for_another(engine, stack, database, ledger)
            moment = client.kernel.clock.now()
            told = {name: await fires_up_to(client, name, moment) for name in NAMES}
            for name in NAMES:
                await client.schedules.pause(name)
            await _end_all(client)
        for name, fires in told.items():
            times = [fire.scheduled_at for fire in fires]
            assert {fire.outcome for fire in fires} == {"started"}
            assert sorted(times) == list(range(min(times), max(times) + SECOND, SECOND)), name
    keys = keys_by_step(ledger)
    assert all(len(found) == 1 for found in keys.values())
    assert all(
        f"{fire.run_id}/{step}" in keys for fires in told.values() for fire in fires for step in STEPS_OF_SUMMING
    )


async def _killed_for_another(engine: Serving, stack: ExitStack, database: str, ledger: Path) -> Serving:
    await asyncio.to_thread(engine.begins, len(NAMES) * len(STEPS_OF_SUMMING))
    another = await asyncio.to_thread(stack.enter_context, serving(database, ledger, lease=2.0))
    engine.kill()
    return another


async def _end_all(client: Engine) -> None:
    """Every run that was started gives the right sum."""
    rows = await client.runs(RunFilter(limit=1000))
    for row in rows:
        assert await (await client.get(row.id)).result() == 6
    assert len({row.id for row in rows}) == len(rows)
