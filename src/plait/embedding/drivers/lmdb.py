"""A driver on LMDB, an embedded store whose keys are sorted: one environment, a prefix of keys for each run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plait.embedding.driver import KeyValue, Write
from plait.embedding.keys import pack
from plait.extras import extra

with extra("lmdb", "LmdbDriver"):
    import lmdb

_PAIRS, _ALARMS = 1, 2
_MAX_KEY = 511
"""Bytes; a limit of LMDB."""


class LmdbDriver:
    """The keys of one run in an environment that many runs may share."""

    def __init__(self, environment: Any, workflow_id: str) -> None:
        """`environment` comes from `LmdbDriver.environment`."""
        self._environment = environment
        self._prefix = pack(_PAIRS, workflow_id)

    @staticmethod
    def environment(path: str | Path, *, size: int = 1 << 30) -> Any:
        """Opens an environment, or creates it. `size` is the most bytes it may grow to."""
        return lmdb.open(str(path), map_size=size)

    async def get(self, key: bytes) -> bytes | None:
        with self._environment.begin() as view:
            return view.get(self._prefix + key)

    async def set(self, key: bytes, value: bytes) -> None:
        await self.batch([(key, value)])

    async def delete(self, key: bytes) -> None:
        await self.batch([(key, None)])

    async def delete_prefix(self, prefix: bytes) -> None:
        await self.batch([(key, None) for key, _ in await self.list(prefix)])

    async def list(self, prefix: bytes) -> list[KeyValue]:
        return self._list(self._prefix + prefix)

    def _list(self, whole: bytes) -> list[KeyValue]:
        found: list[KeyValue] = []
        with self._environment.begin() as view, view.cursor() as cursor:
            there = cursor.set_range(whole)
            while there and cursor.key().startswith(whole):
                found.append((cursor.key()[len(self._prefix) :], cursor.value()))
                there = cursor.next()
        return found

    async def batch(self, writes: Sequence[Write]) -> None:
        with self._environment.begin(write=True) as change:
            for key, value in writes:
                whole = self._prefix + key
                if value is None:
                    change.delete(whole)
                elif len(whole) > _MAX_KEY:
                    raise ValueError(f"a key of {len(whole)} bytes: LMDB takes {_MAX_KEY}; nest less")
                else:
                    change.put(whole, value)

    async def set_alarm(self, workflow_id: str, wake_at_ms: int) -> None:
        with self._environment.begin(write=True) as change:
            change.put(pack(_ALARMS, workflow_id), wake_at_ms.to_bytes(8, "big"))

    async def clear_alarm(self, workflow_id: str) -> None:
        with self._environment.begin(write=True) as change:
            change.delete(pack(_ALARMS, workflow_id))

    def alarm(self, workflow_id: str) -> int | None:
        """For the host: when to run the workflow next."""
        with self._environment.begin() as view:
            found = view.get(pack(_ALARMS, workflow_id))
        return None if found is None else int.from_bytes(found, "big")
