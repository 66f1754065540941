"""Engines with different code on one PostgreSQL: their announcements, and runs that move between them."""

from __future__ import annotations

import zlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager

import asyncpg

from plait.kernel.fleet import POOL_SHARDS, Pool
from plait.kernel.ids import Millis, Shard, shard_of
from plait.kernel.leases import Lease
from plait.kernel.pools import FOLLOW, HOME
from plait.kernel.store import Write
from plait.stores import statements

from .database import Connection
from .listener import Listener, shard_notice

SQL = statements.load("plait.stores.postgres", "fleet.sql")

ClaimShards = Callable[[str, Millis, int, str], Awaitable[list[Lease]]]


class PostgresFleet:
    def __init__(
        self,
        use: Callable[[], AbstractAsyncContextManager[Connection]],
        claim: ClaimShards,
        listener: Callable[[], Listener],
        origin: str,
    ) -> None:
        self._use = use
        self._claim = claim
        self._listener = listener
        self._origin = origin

    async def announce(self, owner: str, code: Collection[str]) -> dict[str, int]:
        async with self._use() as connection:
            await connection.execute(SQL["announce"], owner, list(code), shard_notice(self._origin))
            return dict(map(tuple, await connection.fetch(SQL["pools_with_engines"])))

    async def claim(self, owner: str, ttl: Millis, want: int, pool: str) -> list[Lease]:
        return await self._claim(owner, ttl, want, pool)

    async def pool_of(self, shard: Shard) -> tuple[str, int] | None:
        async with self._use() as connection:
            found = await connection.fetch(SQL["pool_of"], shard)
            return (found[0][0], found[0][1]) if found else None

    async def pools(self) -> list[Pool]:
        async with self._use() as connection:
            return [Pool(*row) for row in await connection.fetch(SQL["pools"])]

    async def abandoned(self) -> list[Shard]:
        async with self._use() as connection:
            return [Shard(row[0]) for row in await connection.fetch(SQL["abandoned"])]

    async def raise_epochs(self, shards: Collection[Shard]) -> list[Lease]:
        async with self._use() as connection:
            return [Lease(*row) for row in await connection.fetch(SQL["raise_epochs"], list(shards))]

    async def free_slots(self, shards: Collection[Shard]) -> None:
        async with self._use() as connection:
            await connection.execute(SQL["free_slots"], list(shards))

    async def remove_emptied(self) -> list[str]:
        async with self._use() as connection:
            if not await _emptied(connection):
                return []
            try:
                async with connection.transaction():
                    await connection.execute(SQL["wait_shortly"])
                    await connection.execute(SQL["lock_shards"])
                    emptied = await _emptied(connection)  # runs may have come before we had the lock
                    await connection.execute(SQL["remove_pools"], emptied)
            except asyncpg.LockNotAvailableError:
                return []  # there is another time
            return emptied

    def watch(self, callback: Callable[[], None]) -> None:
        self._listener().watch_shards(callback)


async def _emptied(connection: Connection) -> list[str]:
    abandoned = [row[0] for row in await connection.fetch(SQL["abandoned"])]
    return [row[0] for row in await connection.fetch(SQL["emptied"], abandoned)] if abandoned else []


async def write_moves(connection: Connection, origin: str, writes: Sequence[Write]) -> None:
    """Moves runs to pools. A run's shard in a pool follows from its id, so that later rows get there, too."""
    following = [(write.run_id, write.shard) for write in writes if write.pool == FOLLOW]
    if following:
        await connection.execute(SQL["follow"], *map(list, zip(*following, strict=True)))
    leaving = [(write.run_id, write.shard, shard_of(write.run_id)) for write in writes if write.pool == HOME]
    if leaving:
        await connection.execute(SQL["move"], *map(list, zip(*leaving, strict=True)))
    moving = [(write, write.pool) for write in writes if write.pool not in (None, FOLLOW, HOME)]
    for pool in {pool for _, pool in moving}:
        shards = await _shards_of(connection, origin, pool)
        rows = [
            (w.run_id, w.shard, shards[zlib.crc32(w.run_id.encode()) % len(shards)]) for w, p in moving if p == pool
        ]
        await connection.execute(SQL["move"], *map(list, zip(*rows, strict=True)))


async def _shards_of(connection: Connection, origin: str, pool: str) -> list[int]:
    found = await connection.fetch(SQL["pool_shards"], pool)
    if not found:
        await connection.execute(SQL["lock_pools"])
        found = await connection.fetch(SQL["pool_shards"], pool)
    if not found:
        await connection.execute(SQL["make_pool"], pool, POOL_SHARDS)
        await connection.execute(SQL["tell"], shard_notice(origin))
        found = await connection.fetch(SQL["pool_shards"], pool)
    return [shard for (shard,) in found]
