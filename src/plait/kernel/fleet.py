"""Engines with different code on one store: which code each has, and the shards of runs that need it.

Most runs can be taken by any engine, and belong to a shard by their ids. A run whose code its owner has not got moves
to a *pool*: a few shards of their own for each name of code (`pools`), which only engines that have it may claim. A
uniform fleet has no pools. A run that has moved stays there, with all that is sent to it from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

import msgspec

from .ids import Millis, Shard
from .leases import Lease

POOL_SHARDS = 8
"""Of each pool."""


class Pool(msgspec.Struct, frozen=True, gc=False):
    """The shards of runs that need certain code."""

    code: str
    engines: int
    """That live and have it."""
    owned: int
    """Of its shards."""
    runs: int
    """That have not ended."""
    shards: list[Shard] = []
    """Their numbers. There are gaps where pools were that are not needed any more."""


class Fleet(Protocol):
    async def announce(self, owner: str, code: Collection[str]) -> dict[str, int]:
        """Says which code an engine has. Returns how many living engines have the code of each pool that there is."""
        ...

    async def claim(self, owner: str, ttl: Millis, want: int, pool: str) -> list[Lease]:
        """As `Store.claim`, of the shards of a pool."""
        ...

    async def pool_of(self, shard: Shard) -> tuple[str, int] | None:
        """Whose shard it is, and how many living engines have that code. None if it is not there any more."""
        ...

    async def pools(self) -> list[Pool]: ...
    async def abandoned(self) -> list[Shard]:
        """Shards of pools that nobody holds, and whose code no engine has."""
        ...

    async def raise_epochs(self, shards: Collection[Shard]) -> list[Lease]:
        """Fences whoever held some shards that nobody holds now. With the new epochs the caller may write, until
        somebody claims them: it holds nothing, and keeps nobody waiting."""
        ...

    async def free_slots(self, shards: Collection[Shard]) -> None:
        """Tasks of these shards whose workers are gone count no more for the limits of their queues, until they are
        claimed again. The rest is for their owner to say, once there is one."""
        ...

    async def remove_emptied(self) -> list[str]:
        """Deletes the shards of pools that are abandoned and have no run; says whose they were. The last pool stays:
        no number of a shard is given twice, as its epochs would begin below those of whoever had it."""
        ...

    def watch(self, callback: Callable[[], None]) -> None:
        """Calls back on the event loop when another engine came, has new code, or gave shards up."""
        ...
