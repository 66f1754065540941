"""Which shards this engine owns, and at which epoch: written by `Ownership`, read by everyone."""

from __future__ import annotations

from .ids import Epoch, RunId, Shard, shard_of


class Leases:
    def __init__(self) -> None:
        self.epochs: dict[Shard, Epoch] = {}
        """Of the shards that this engine owns."""

    def __len__(self) -> int:
        return len(self.epochs)

    def __contains__(self, shard: Shard) -> bool:
        return shard in self.epochs

    @property
    def shards(self) -> set[Shard]:
        return set(self.epochs)

    def epoch(self, shard: Shard) -> Epoch | None:
        """None when this engine does not own the shard."""
        return self.epochs.get(shard)

    def owns(self, run_id: RunId) -> bool:
        return shard_of(run_id) in self.epochs

    def take(self, shard: Shard, epoch: Epoch) -> None:
        self.epochs[shard] = epoch

    def drop(self, shard: Shard) -> None:
        self.epochs.pop(shard, None)

    def clear(self) -> None:
        self.epochs.clear()
