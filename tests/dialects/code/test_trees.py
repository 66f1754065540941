"""Trees of all that waits, with messages, failures, retries and rewinds: none hangs, none loses a message.

A hundred trees, each with and without a cache of parked runs; `make test-long` grows a thousand.
"""

import asyncio
from random import Random
from typing import Any

import pytest

from plait.errors import Conflict, RunFailed
from plait.testing import History, Sim, SimRun, StuckError, sim
from tests.support.effort import examples

from .trees import MOST_LOOPS, NAMES, Grower, grown, world

TREES = 10
"""In a test."""
AT_ONCE = 12
"""Messages of each name."""


class Player:
    """Sends messages to one tree, waits for its end, and takes it up again."""

    def __init__(self, s: Sim, run: SimRun, seed: int) -> None:
        self._sim = s
        self._run = run
        self._random = Random(f"player {seed}")
        self.sent: list[str] = []

    async def play(self) -> None:
        for _ in range(self._random.randint(0, 8)):
            if self._random.random() < 0.6:
                await self._send(self._random.choice(NAMES))
            else:
                await self._sim.clock.advance(self._random.choice((0, 1, 10)))
        await self._end()
        for _ in range(self._random.choice((0, 0, 1, 2))):
            await self._run.rewind(self._random.choice([None, *await self._places()]))
            await self._end()

    async def _places(self) -> list[str]:
        """Where a run can be taken back to: not into what a rewind or a retry has left behind."""
        history = await self._run.history()
        recent = history.since("run.rewound").since("run.recovered")
        return sorted({data["at"] for data in recent.of("op.opened") if "/" not in data["at"]})

    async def _end(self) -> None:
        """To its end; what failed is retried as long as that can help, first in vain."""
        for broken in (world.broken, world.broken, False, False):
            world.broken = broken
            if await self._failed():
                await self._run.retry()
            else:
                return
        await self._failed()

    async def _failed(self) -> bool:
        await self._sim.settle()
        if not await self._run.ended():
            await self._speak()
        for _ in range(3**MOST_LOOPS // AT_ONCE):
            try:
                await self._sim.result(self._run)
            except RunFailed:
                return True
            except StuckError:  # loops in loops listen more often than they were spoken to
                await self._speak()
            else:
                return False
        raise AssertionError(f"it waits for ever: {await self._run.history()}")

    async def _speak(self) -> None:
        """Whoever listens hears something."""
        for name in NAMES * AT_ONCE:
            await self._send(name)

    async def _send(self, name: str) -> None:
        id = f"m{len(self.sent)}"
        await self._sim.settle()  # else it depends on the cache whether the run has ended before
        try:
            await self._run.message(name, id=id)
        except Conflict:  # it has ended
            return
        self.sent.append(id)


async def grow(seed: int, code_cache: int) -> str:
    async with sim([grown], code_cache=code_cache) as s:
        world.clock, world.broken, world.heard = s.clock, True, set()
        run = await s.start(grown, Grower(seed).tree(), id="tree")
        player = Player(s, run, seed)
        await player.play()
        history = await run.history()
        history.assert_recorded_once()
        history.assert_fits_its_code()
        await _account_for(player.sent, s, history)
        return str(history)


async def _account_for(sent: list[str], s: Sim, history: History) -> None:
    """Every message was heard by whoever took it, or waits."""
    peeked = await s.engine.kernel.peek(await (await s.engine.get("tree")).row())
    machine: Any = peeked.machine
    taken = [(op.at, message.id) for op in machine.history.ops.values() for message in op.received or ()]
    unheard = [place for place in taken if place not in world.heard]
    assert not unheard, f"taken, but not heard: {unheard}\n{history}"
    assert sorted([*machine.history.queue, *(id for _, id in taken)]) == sorted(sent), f"sent {sent}\n{history}"


@pytest.mark.chance
@pytest.mark.parametrize("first", range(0, examples(100), TREES))
def test_no_tree_hangs_or_loses_a_message_and_a_cache_changes_nothing(first: int) -> None:
    for seed in range(first, first + TREES):
        try:
            assert asyncio.run(grow(seed, 0)) == asyncio.run(grow(seed, 1000))
        except BaseException as error:
            error.add_note(f"tree {seed}: {Grower(seed).tree()}")
            raise
