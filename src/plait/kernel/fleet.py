"""Engines with different code on one store: the code of each, and the shards of runs that need it.

Most runs can be owned by any engine, and belong to a shard by their ids. A run whose owner lacks its code moves to a
*pool*: a few separate shards for each code name (`pools`), which only engines with that code may claim. A uniform fleet
has no pools. A run that has moved stays there, and everything sent to it later goes there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

import msgspec

from .ids import Millis, Shard
from .leases import Lease

POOL_SHARDS = 8
"""Shards in each pool."""


class Pool(msgspec.Struct, frozen=True, gc=False):
    """The shards of runs that need certain code."""

    code: str
    engines: int
    """Live engines with this code."""
    owned: int
    """Its shards that have an owner."""
    runs: int
    """Its runs that have not ended."""
    shards: list[Shard] = []
    """Numbers of its shards, with gaps where pools were removed."""


class Fleet(Protocol):
    async def announce(self, owner: str, code: Collection[str]) -> dict[str, int]:
        """Announces the code of an engine. Returns, for each existing pool, the number of live engines with its
        code."""
        ...

    async def claim(self, owner: str, ttl: Millis, want: int, pool: str) -> list[Lease]:
        """Like `Store.claim`, for the shards of a pool."""
        ...

    async def pool_of(self, shard: Shard) -> tuple[str, int] | None:
        """The pool of a shard, and how many live engines have its code. None if the shard no longer exists."""
        ...

    async def pools(self) -> list[Pool]: ...
    async def abandoned(self) -> list[Shard]:
        """Shards of pools without an owner whose code no engine has."""
        ...

    async def raise_epochs(self, shards: Collection[Shard]) -> list[Lease]:
        """Fences the previous owners of some shards that have none now. With the new epochs the caller may write until
        someone claims the shards: it holds no lease and blocks nobody."""
        ...

    async def free_slots(self, shards: Collection[Shard]) -> None:
        """Tasks of these shards whose workers are gone count no more for the limits of their queues, until they are
        claimed again. The rest is for their owner to say, once there is one."""
        ...

    async def remove_emptied(self) -> list[str]:
        """Deletes the shards of abandoned pools without runs; returns the pools' code names. The last pool stays: shard
        numbers are never reused, because a new shard's epochs would start below those of previous owners."""
        ...

    def watch(self, callback: Callable[[], None]) -> None:
        """Calls back on the event loop when another engine joined, has new code, or released shards."""
        ...
