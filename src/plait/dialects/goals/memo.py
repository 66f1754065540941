"""`memoizable` steps that run in the engine's own process. For queued steps, the workers keep the memos."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from plait.kernel import values
from plait.kernel.memo import Key, Memo, canonical
from plait.kernel.task import Attempt, Executor, Task
from plait.kernel.task_inputs import PythonInput

from .limits import MEMO_ENTRIES
from .running.decision_builder import Handlers
from .running.tasks import MEMO, MemoInput, Memoized


class MemoExecutor:
    """Runs the task on another executor, unless it succeeded before with equal inputs."""

    kinds = (MEMO,)

    def __init__(self, executors: Iterable[Executor], handlers: Handlers, memo: Memo | None = None) -> None:
        self._executors = {kind: executor for executor in executors for kind in executor.kinds}
        self._handlers = handlers
        self._memo = memo or Memo(MEMO_ENTRIES)

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
        """The memo's key. Another function under the same name is another step."""
        code = self._handlers.get(wanted.input.handler) if isinstance(wanted.input, PythonInput) else None
        return wanted.fingerprint, code, canonical(wanted.inputs)
