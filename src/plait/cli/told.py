"""Telling a run something, and finding out whether an engine heard it.

What is told is durable before anything else happens: an engine that lives takes it at once, else it waits
for one. So a command waits a little for an answer, and says which of the two it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from plait.engine import Engine, Handle
from plait.engine.asking import refusal_of
from plait.kernel.errors import Unavailable
from plait.kernel.ids import SHARDS, RunId, Shard, run_key

from .leases import somebody_works
from .output import emit, say
from .records import run_document
from .session import Keys, looking

PATIENCE = 10.0
"""Seconds to wait for an engine that lives: it may be busy."""
_GLANCE = 0.3
"""Seconds to wait when no engine seems to live; one may just be starting."""
_LOOK = 0.02


@dataclass(frozen=True, slots=True)
class Teller:
    engine: Engine
    keys: Keys
    patience: float

    async def told(self, run: RunId, telling: Awaitable[object]) -> bool:
        """For what the engine answers: True when one has taken it. Raises what the run has against it."""
        try:
            await asyncio.wait_for(telling, self.patience)
        except TimeoutError:
            await self._must_be_kept(run)
        return await self.engine.kernel.store.reply(run, self.keys.last) is not None

    async def taken(self, run: RunId, key: str) -> bool:
        """For what is only put into the inbox: True when an engine has taken it."""
        end = asyncio.get_running_loop().time() + self.patience
        while True:
            found = await self.engine.kernel.store.reply(run, key)
            if found is not None:
                if (refusal := refusal_of(found)) is not None:
                    raise refusal
                return True
            if asyncio.get_running_loop().time() >= end:
                return False
            await asyncio.sleep(_LOOK)

    async def _must_be_kept(self, run: RunId) -> None:
        store = self.engine.kernel.store
        if await store.reply(run, self.keys.last) is not None:
            return
        waiting = await store.inbox([Shard(number) for number in range(SHARDS)], 1_000_000)
        if not any(row.run_id == run and row.key == self.keys.last for row in waiting):
            raise Unavailable(
                "cli.not_told", "the database did not answer in time", fix="try again; saying it twice does no harm"
            )


@asynccontextmanager
async def teller(db: str) -> AsyncGenerator[Teller]:
    keys = Keys()
    async with looking(db, keys=keys) as engine:
        yield Teller(engine, keys, PATIENCE if await somebody_works(db) else _GLANCE)


async def report(handle: Handle[Any], what: str, taken: bool, *, json: bool, **more: Any) -> None:
    """What was told, and whether it was heard."""
    row = await handle.row()
    if json:
        emit(run_document(row, taken=taken, **more))
        return
    heard = "an engine has taken it" if taken else "kept: it waits in the database until an engine runs"
    say(f"{what}; {heard}")


def key_of(handle: Handle[Any], namespace: str) -> RunId:
    return run_key(namespace, handle.id)
