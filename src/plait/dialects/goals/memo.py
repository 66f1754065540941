"""What `memoizable` steps returned for which inputs. In memory only: it saves work, and nothing depends on it."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.task import Attempt, Executor, Task
from plait.kernel.task_inputs import PythonInput

from .limits import MEMO_ENTRIES
from .running.decision_builder import Handlers
from .running.tasks import MEMO, MemoInput, Memoized

MAX_BYTES = 64 * 1024 * 1024
"""Of all results together."""
_LARGEST = 1024 * 1024

Key = tuple[Any, ...]

_sorted = msgspec.json.Encoder(order="sorted")


def canonical(inputs: Raw) -> bytes:
    """A digest that is equal for equal inputs, however they are written."""
    return hashlib.sha256(_sorted.encode(values.decode(inputs))).digest()


class Memo:
    """The results used last."""

    def __init__(self, max_entries: int = MEMO_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
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


class MemoExecutor:
    """Has another executor do the work, unless it succeeded before with equal inputs."""

    kinds = (MEMO,)

    def __init__(self, executors: Iterable[Executor], handlers: Handlers, memo: Memo | None = None) -> None:
        self._executors = {kind: executor for executor in executors for kind in executor.kinds}
        self._handlers = handlers
        self._memo = memo or Memo()

    async def execute(self, task: Task, attempt: Attempt) -> Memoized:
        wanted: MemoInput = task.input
        key = self._key(wanted)
        if (known := self._memo.get(key)) is not None:
            return Memoized(known, memo=True)
        inner = msgspec.structs.replace(task, kind=wanted.kind, input=wanted.input)
        result = values.encode(await self._executors[wanted.kind].execute(inner, attempt))
        self._memo.keep(key, result)
        return Memoized(result)

    def _key(self, wanted: MemoInput) -> Key:
        """Another function under the same name is another step."""
        code = self._handlers.get(wanted.input.handler) if isinstance(wanted.input, PythonInput) else None
        return wanted.fingerprint, code, canonical(wanted.inputs)
