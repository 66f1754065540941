"""Whoever waits for a run is told when nobody will tell of its end any more."""

import asyncio
from typing import cast

import pytest

from plait.kernel.callers import Outcomes
from plait.kernel.errors import LeaseLost
from plait.kernel.ids import RunId
from plait.kernel.store import RunRow, Store

RUN = RunId("order-1")


class SlowStore:
    """Knows of no end, and answers when it is let."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()

    async def run(self, run_id: RunId) -> RunRow | None:
        await self.answers.wait()
        return None


async def test_a_caller_who_looks_again_while_the_engine_stops_is_told() -> None:
    store = SlowStore()
    outcomes = Outcomes(cast("Store", store))
    caller = asyncio.ensure_future(outcomes.outcome(RUN, look_first=True))
    await asyncio.sleep(0)
    outcomes.notify(RUN, None)  # another engine wrote something: look again
    outcomes.abandon(LeaseLost("the engine stopped"))
    store.answers.set()
    with pytest.raises(LeaseLost, match="the engine stopped"):
        await asyncio.wait_for(caller, 5)
