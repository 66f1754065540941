"""Results by their inputs. In memory only: it saves work, and nothing depends on it."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Any

import msgspec
from msgspec import Raw

from . import values

MAX_ENTRIES = 65_536
MAX_BYTES = 64 * 1024 * 1024
"""Most bytes of all results together."""
_LARGEST = 1024 * 1024

Key = tuple[Any, ...]

_sorted = msgspec.json.Encoder(order="sorted")


def canonical(inputs: Raw) -> bytes:
    """A digest that is equal for equal inputs, however they are formatted."""
    return hashlib.sha256(_sorted.encode(values.decode(inputs))).digest()


class Memo:
    """A cache of the most recently used results."""

    def __init__(self, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._known: OrderedDict[Key, Raw] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Key) -> Raw | None:
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        return found

    def keep(self, key: Key, result: Raw) -> None:
        size = len(bytes(result))
        if size > _LARGEST:
            return
        self._bytes += size - len(bytes(self._known.pop(key, Raw())))
        self._known[key] = result
        while len(self._known) > self._max_entries or self._bytes > self._max_bytes:
            _, oldest = self._known.popitem(last=False)
            self._bytes -= len(bytes(oldest))
