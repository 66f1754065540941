"""A cache of recently used compiled conditions, shared by all threads and runs."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from .condition import Condition
from .facts import Place

MAX_CONDITIONS = 1024

Key = tuple[Place, str, bytes]
"""The condition's place, its type, and a digest of its canonical text."""


class Cache:
    def __init__(self, size: int = MAX_CONDITIONS) -> None:
        self._size = size
        self._conditions: OrderedDict[Key, Condition] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._conditions)

    def get(self, key: Key) -> Condition | None:
        with self._lock:
            found = self._conditions.get(key)
            if found is not None:
                self._conditions.move_to_end(key)
            return found

    def keep(self, key: Key, condition: Condition) -> None:
        with self._lock:
            self._conditions[key] = condition
            self._conditions.move_to_end(key)
            if len(self._conditions) > self._size:
                self._conditions.popitem(last=False)
