"""Pools whose code no engine has: nobody owns their shards, so whoever removes old runs fences the last owner itself.
Ended runs go, and empty pools after them; a worker that is gone leaves its slot to others; a run that somebody cancels
goes back to the shard that its id says, where it is ended without its code. A pool whose code comes back is claimed as
ever, at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

import msgspec

from plait.kernel.fleet import Fleet
from plait.kernel.ids import Epoch, RunId, Shard
from plait.kernel.inputs import AnyInput, Cancel
from plait.kernel.kernel import Kernel
from plait.kernel.pools import HOME
from plait.kernel.run_cache import ends
from plait.kernel.store import InboxRow, RunRow, Write

log = logging.getLogger("plait.retention")


_INPUTS = 5_000
"""Most inputs searched for cancels."""
_input = msgspec.json.Decoder(AnyInput)


class AbandonedPools:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._fleet: Fleet | None = kernel.store.fleet
        self.shards: frozenset[Shard] = frozenset()
        """Abandoned shards as of this round."""
        self._epochs: dict[Shard, Epoch] = {}
        """Epochs raised in this round."""

    async def look(self) -> None:
        """Starts a round."""
        self._epochs.clear()
        self.shards = frozenset() if self._fleet is None else frozenset(await self._fleet.abandoned())

    async def epochs(self, shards: Collection[Shard]) -> dict[Shard, Epoch]:
        """Epochs for writing to these shards, if nobody holds them. Only shards with something to write are fenced."""
        new = self.shards.intersection(shards).difference(self._epochs)
        if self._fleet is not None and new:
            self._epochs |= {lease.shard: lease.epoch for lease in await self._fleet.raise_epochs(new)}
        return self._epochs

    async def free_slots(self) -> None:
        """Of workers that died with tasks of runs that wait for code."""
        if self._fleet is not None and self.shards:
            await self._fleet.free_slots(self.shards)

    async def send_cancelled_home(self) -> None:
        """Moves cancelled runs that wait for code back to the shard of their ids."""
        if not self.shards:
            return
        waiting = await self._kernel.store.inbox(self.shards, _INPUTS)
        cancels = [(row.run_id, cancel) for row in waiting if (cancel := _cancel(row)) is not None]
        rows = [row for run_id, cancel in cancels if (row := await self._ending(run_id, cancel)) is not None]
        epochs = await self.epochs({row.shard for row in rows})
        writes = {row.id: Write(row.id, row.shard, epochs[row.shard], pool=HOME) for row in rows if row.shard in epochs}
        await asyncio.gather(*map(self._kernel.append, writes.values()))

    async def _ending(self, run_id: RunId, cancel: Cancel) -> RunRow | None:
        """The row of a run that the cancel ends without its code; None for one that is rolling back and needs it."""
        kernel = self._kernel
        row = await kernel.store.run(run_id)
        if row is None or not ends(cancel, row) or not kernel.code.needed(row.dialect, row.definition, row.version):
            return None
        return None if (await kernel.peek(row)).state.rolling_back else row

    async def remove_emptied(self) -> None:
        if self._fleet is not None and self.shards:
            for pool in await self._fleet.remove_emptied():
                log.info("the pool of `%s` is removed: no engine has that code, and no run needs it", pool)


def _cancel(row: InboxRow) -> Cancel | None:
    try:
        found = _input.decode(row.body)
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, Cancel) else None
