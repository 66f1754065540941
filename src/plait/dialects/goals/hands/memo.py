"""What `memoizable` steps gave for which inputs. In memory only: it saves work, and nothing depends on it."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.dialects.goals.limits import MEMO_ENTRIES
from plait.dialects.goals.running.hands import Worked
from plait.kernel import values

MAX_BYTES = 64 * 1024 * 1024
"""Of all results together."""
_LARGEST = 1024 * 1024

Key = tuple[Any, ...]

_sorted = msgspec.json.Encoder(order="sorted")


def canonical(inputs: Raw) -> bytes:
    """A digest that is equal for equal inputs, however they are written."""
    return hashlib.sha256(_sorted.encode(values.decode(inputs))).digest()


class Memo:
    """The results used last. Calls come from the event loop and from threads."""

    def __init__(self, max_entries: int = MEMO_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._known: OrderedDict[Key, Raw] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._known)

    def around(self, key: Key, inputs: Callable[[], Raw], call: Callable[[], Any]) -> Callable[[], Any]:
        """A call that is spared if it succeeded before. `key` is what decides its result, but for the inputs."""
        return _Remembering(self, key, inputs, call)

    def get(self, key: Key) -> Worked | None:
        with self._lock:
            found = self._known.get(key)
            if found is None:
                return None
            self._known.move_to_end(key)
        return Worked(values.decode(found), memo=True)

    def keep(self, key: Key, worked: Worked) -> None:
        raw = values.encode(worked.outputs)
        size = len(bytes(raw))
        if size > _LARGEST:
            return
        with self._lock:
            self._bytes += size - len(bytes(self._known.pop(key, Raw())))
            self._known[key] = raw
            while len(self._known) > self._max_entries or self._bytes > self._max_bytes:
                _, oldest = self._known.popitem(last=False)
                self._bytes -= len(bytes(oldest))


class _Remembering:
    __slots__ = ("_call", "_inputs", "_key", "_memo")

    def __init__(self, memo: Memo, key: Key, inputs: Callable[[], Raw], call: Callable[[], Any]) -> None:
        self._memo = memo
        self._key = key
        self._inputs = inputs
        self._call = call

    def __call__(self) -> Any:
        key = (*self._key, canonical(self._inputs()))
        found = self._memo.get(key)
        if found is not None:
            return found
        result = self._call()
        return self._later(key, result) if hasattr(result, "__await__") else self._kept(key, result)

    async def _later(self, key: Key, result: Awaitable[Any]) -> Worked:
        return self._kept(key, await result)

    def _kept(self, key: Key, result: Any) -> Worked:
        worked = cast("Worked", result)
        self._memo.keep(key, worked)
        return worked
