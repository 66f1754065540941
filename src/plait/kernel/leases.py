"""The shards that this engine owns, with their epochs: written by `Ownership`, read by everyone."""

from __future__ import annotations

import msgspec

from .ids import SHARDS, Epoch, RunId, Shard, shard_of


class Lease(msgspec.Struct, frozen=True, gc=False):
    shard: Shard
    epoch: Epoch


class Leases:
    def __init__(self) -> None:
        self.epochs: dict[Shard, Epoch] = {}
        """The epoch of each shard that this engine owns."""
        self.pools: dict[Shard, str] = {}
        """The pool of each shard that belongs to one."""
        self.mixed = False
        """There are pools: a run may be in another shard than its id says."""
        self._moved: dict[RunId, Shard] = {}
        """Shards of pool runs that are in memory, or about to be."""

    def __len__(self) -> int:
        return len(self.epochs)

    def __contains__(self, shard: Shard) -> bool:
        return shard in self.epochs

    @property
    def shards(self) -> set[Shard]:
        return set(self.epochs)

    def of_pool(self, pool: str) -> list[Shard]:
        """The owned shards of a pool; an empty name: those of no pool."""
        return sorted(shard for shard in self.epochs if self.pools.get(shard, "") == pool)

    def epoch(self, shard: Shard) -> Epoch | None:
        """None if this engine does not own the shard."""
        return self.epochs.get(shard)

    def shard_of(self, run_id: RunId) -> Shard:
        """The shard of a run, as far as it is known here."""
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
        """Notes the shard in which the store has a run."""
        if shard >= SHARDS:
            self._moved[run_id] = shard

    def forget(self, run_id: RunId) -> None:
        """The run is no longer in memory."""
        self._moved.pop(run_id, None)
