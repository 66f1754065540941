"""Random trees of all that waits, embedded: none hangs or loses a message, whenever the driver fails."""

import asyncio
from typing import Any

import pytest

from tests.dialects.code.test_trees import Player
from tests.dialects.code.trees import Grower, grown, without_children, world
from tests.support.effort import tries

from .stage import Moment, hosting

AT_ONCE = 3


class EmbeddedPlayer(Player):
    async def _places(self) -> list[str]:
        run: Any = self._run
        return [op.at for op in await run.handle.history() if "/" not in op.at]


async def grow(seed: int, failing: Moment | None) -> None:
    async with hosting([grown], failing=failing) as host:
        world.clock, world.broken, world.heard = host.clock, True, set()
        run: Any = await host.start(grown, without_children(Grower(seed).tree()), id="tree")
        stage: Any = host
        player = EmbeddedPlayer(stage, run, seed)
        await player.play()
        history = (await run.handle._stored()).history
        taken = [(op.at, message.id) for op in history.ops.values() for message in op.received or ()]
        assert not [place for place in taken if place not in world.heard], "taken, but not heard"
        assert sorted([*history.queue, *(id for _, id in taken)]) == sorted(player.sent)


@pytest.mark.chance
@pytest.mark.parametrize("first", range(0, tries(6), AT_ONCE))
def test_no_tree_hangs_or_loses_a_message_whenever_the_driver_fails(first: int) -> None:
    moments: list[Moment | None] = [None, "before", "after"]
    for seed in range(first, first + AT_ONCE):
        for failing in moments:
            try:
                asyncio.run(grow(seed, failing))
            except BaseException as error:
                error.add_note(f"tree {seed}, failing {failing}: {Grower(seed).tree()}")
                raise
