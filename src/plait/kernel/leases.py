"""Which shards this engine owns, and at which epoch: written by `Ownership`, read by everyone."""

from __future__ import annotations

import msgspec

from .ids import SHARDS, Epoch, Millis, RunId, Shard, shard_of


class Lease(msgspec.Struct, frozen=True, gc=False):
    shard: Shard
    epoch: Epoch


class Owner(msgspec.Struct, frozen=True, gc=False):
    """An engine that holds shards, or held them when it died."""

    name: str
    shards: int
    expires: Millis
    pool_shards: int = 0


class Standing(msgspec.Struct, frozen=True, gc=False):
    """What an engine owns after a renewal, and how many engines are alive to share the shards."""

    leases: list[Lease]
    engines: int


class Leases:
    def __init__(self) -> None:
        self.epochs: dict[Shard, Epoch] = {}
        """Of the shards that this engine owns."""
        self.pools: dict[Shard, str] = {}
        """Whose shards they are, of those that belong to pools."""
        self.mixed = False
        """There are pools: a run may be elsewhere than its id says."""
        self._moved: dict[RunId, Shard] = {}
        """Runs of pools that are in memory, or about to be."""

    def __len__(self) -> int:
        return len(self.epochs)

    def __contains__(self, shard: Shard) -> bool:
        return shard in self.epochs

    @property
    def shards(self) -> set[Shard]:
        return set(self.epochs)

    def of_pool(self, pool: str) -> list[Shard]:
        """Those of a pool, or of none."""
        return sorted(shard for shard in self.epochs if self.pools.get(shard, "") == pool)

    def epoch(self, shard: Shard) -> Epoch | None:
        """None when this engine does not own the shard."""
        return self.epochs.get(shard)

    def shard_of(self, run_id: RunId) -> Shard:
        """As far as it is known here."""
        return self._moved.get(run_id) or shard_of(run_id) if self._moved else shard_of(run_id)

    def owns(self, run_id: RunId) -> bool:
        return self.shard_of(run_id) in self.epochs

    def may_be_elsewhere(self, run_id: RunId) -> bool:
        """Whether another engine may be writing a run. In a mixed fleet, its id alone does not tell."""
        return self.mixed or not self.owns(run_id)

    def take(self, shard: Shard, epoch: Epoch, pool: str = "") -> None:
        self.epochs[shard] = epoch
        if pool:
            self.pools[shard] = pool

    def drop(self, shard: Shard) -> None:
        self.epochs.pop(shard, None)
        self.pools.pop(shard, None)

    def clear(self) -> None:
        self.epochs.clear()
        self.pools.clear()

    # -- runs of pools -------------------------------------------------------------------------------------------

    def note(self, run_id: RunId, shard: Shard) -> None:
        """Where the store has a run."""
        if shard >= SHARDS:
            self._moved[run_id] = shard

    def forget(self, run_id: RunId) -> None:
        """It is not in memory any more."""
        self._moved.pop(run_id, None)
