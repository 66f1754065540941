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


class Fleet(Protocol):
    async def announce(self, owner: str, code: Collection[str]) -> dict[str, int]:
        """Says which code an engine has. Returns how many living engines have the code of each pool that there is."""
        ...

    async def claim(self, owner: str, ttl: Millis, want: int, pool: str) -> list[Lease]:
        """As `Store.claim`, of the shards of a pool."""
        ...

    async def pool_of(self, shard: Shard) -> tuple[str, int]:
        """Whose shard it is, and how many living engines have that code."""
        ...

    async def pools(self) -> list[Pool]: ...
    def watch(self, callback: Callable[[], None]) -> None:
        """Calls back on the event loop when another engine came, has new code, or gave shards up."""
        ...
