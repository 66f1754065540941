"""Which shards this engine owns, and at which epoch: written by `Ownership`, read by everyone."""

from __future__ import annotations

from .ids import Epoch, RunId, Shard, shard_of


class Leases:
    def __init__(self) -> None:
        self._epochs: dict[Shard, Epoch] = {}

    def __len__(self) -> int:
        return len(self._epochs)

    def __contains__(self, shard: Shard) -> bool:
        return shard in self._epochs

    @property
    def shards(self) -> set[Shard]:
        return set(self._epochs)

    def epoch(self, shard: Shard) -> Epoch | None:
        """None when this engine does not own the shard."""
        return self._epochs.get(shard)

    def owns(self, run_id: RunId) -> bool:
        return shard_of(run_id) in self._epochs

    def take(self, shard: Shard, epoch: Epoch) -> None:
        self._epochs[shard] = epoch

    def drop(self, shard: Shard) -> None:
        self._epochs.pop(shard, None)

    def clear(self) -> None:
        self._epochs.clear()
