"""A command's session with a database, where inputs wait until an engine takes them.

An input is durable before anything else happens: a live engine takes it at once, otherwise it waits for one. So a
command waits briefly for an answer, and tells which of the two happened.
"""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Awaitable
from dataclasses import dataclass

from plait.engine.ask import refusal_of
from plait.kernel import values
from plait.kernel.errors import Unavailable
from plait.kernel.ids import SHARDS, RunId, Shard, run_key
from plait.registry.engine import Engine

from .contract import Run
from .leases import somebody_works
from .session import Keys

PATIENCE = 10.0
"""Seconds to wait for a live engine, which may be busy."""
_GLANCE = 0.3
"""Seconds to wait if no engine seems to be alive; one may just be starting."""
_LOOK = 0.02


@dataclass(frozen=True, slots=True)
class DatabaseSession:
    url: str
    engine: Engine
    """An engine that runs nothing."""
    namespace: str
    keys: Keys

    @property
    def me(self) -> str:
        try:
            return getpass.getuser()
        except (KeyError, OSError):
            return ""

    async def told(self, run: Run, telling: Awaitable[object]) -> bool:
        try:
            await asyncio.wait_for(telling, await self._patience())
        except TimeoutError:
            await self._must_be_kept(_key(run))
        return await self.engine.kernel.store.reply(_key(run), self.keys.last) is not None

    async def taken(self, run: Run, key: str) -> bool:
        end = asyncio.get_running_loop().time() + await self._patience()
        while True:
            found = await self.engine.kernel.store.reply(_key(run), key)
            if found is not None:
                if (refusal := refusal_of(found)) is not None:
                    raise refusal
                return True
            if asyncio.get_running_loop().time() >= end:
                return False
            await asyncio.sleep(_LOOK)

    async def untaken(self, run: Run) -> list[str]:
        key = _key(run)
        kernel = self.engine.kernel
        inbox = await kernel.store.inbox([await kernel.shard_of(key)], 1000)
        return [str(values.decode(told.body)["kind"]) for told in inbox if told.run_id == key]

    async def working(self) -> bool:
        return await somebody_works(self.url)

    async def _patience(self) -> float:
        return PATIENCE if await self.working() else _GLANCE

    async def _must_be_kept(self, run: RunId) -> None:
        store = self.engine.kernel.store
        if await store.reply(run, self.keys.last) is not None:
            return
        shards = {*map(Shard, range(SHARDS)), await self.engine.kernel.shard_of(run)}
        waiting = await store.inbox(shards, 1_000_000)
        if not any(row.run_id == run and row.key == self.keys.last for row in waiting):
            raise Unavailable(
                "cli.not_told", "the database did not answer in time", fix="try again; sending it twice does no harm"
            )


def _key(run: Run) -> RunId:
    return run_key(run.namespace, run.id)
