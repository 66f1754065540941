"""Work beside the run loop, while the store is away."""

from __future__ import annotations

import asyncio

from plait.kernel.background import Background
from plait.kernel.errors import Unavailable
from plait.kernel.observer import Observers
from plait.testing import VirtualClock


class Looking:
    """Someone who looks into a store."""

    def __init__(self) -> None:
        self.looks = 0
        self.away = True

    async def look(self) -> None:
        self.looks += 1
        if self.away:
            raise Unavailable("store.unreachable", "the store can't be reached")


async def done(background: Background) -> None:
    while background:  # noqa: ASYNC110
        await asyncio.sleep(0)


async def a_second(clock: VirtualClock, background: Background) -> None:
    limit = clock.elapsed + 1_000
    while clock.ring(limit):
        await done(background)


async def test_what_is_asked_for_many_times_while_the_store_is_away_is_tried_once_a_second():
    clock, looking = VirtualClock(), Looking()
    background = Background(clock, Observers())
    for _ in range(50):
        background.keep_trying(looking.look)
    await done(background)
    for _ in range(3):
        looking.looks = 0
        await a_second(clock, background)
        assert looking.looks == 1, "each request has left a try of its own"


async def test_what_was_asked_for_is_done_once_the_store_is_back_and_may_then_be_asked_for_again():
    clock, looking = VirtualClock(), Looking()
    background = Background(clock, Observers())
    background.keep_trying(looking.look)
    await done(background)
    looking.away = False
    assert clock.ring()
    await done(background)
    assert not clock.ring(), "nothing is left to do"
    looking.away = True
    background.keep_trying(looking.look)
    await done(background)
    assert clock.ring(), "a new outage is a new try"
