"""Executors of the dialect's own tasks: calls of handlers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from plait.kernel import values
from plait.kernel.ids import RunId
from plait.kernel.task import Attempt, Task, TaskError

from .handlers import Handlers
from .running.results import STEP_UPDATE
from .running.work import CALL_HANDLER, HandlerInput

Tell = Callable[[RunId, str, object], Awaitable[None]]
"""Sends a message with a name and a body to a run."""


class EventContext:
    """What a handler may know beside its payload, and report while it works."""

    def __init__(self, wanted: HandlerInput, task: Task, attempt: Attempt, tell: Tell | None) -> None:
        self.facet = wanted.facet
        self.step_id = wanted.step_id
        self.attempt = attempt.number
        self.idempotency_key = task.key
        """Equal on all attempts."""
        self._attempt = attempt
        self._tell = tell

    def heartbeat(self, progress: Any = None) -> None:
        self._attempt.beat(values.encode(progress))

    def log(self, text: str) -> None:
        self._attempt.log(self._attempt, "info", text)

    async def update(self, **returns: Any) -> None:
        """Stores partial returns while the step waits."""
        if self._tell is None:
            raise TaskError("partial returns can't be stored here", retryable=False)
        await self._tell(self._attempt.run_id, STEP_UPDATE, {"step_id": self.step_id, "returns": returns})


class HandlerExecutor:
    kinds = (CALL_HANDLER,)

    def __init__(self, handlers: Handlers, tell: Tell | None = None) -> None:
        self._handlers = handlers
        self._tell = tell

    @property
    def handlers(self) -> Collection[str]:
        return self._handlers.names

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        wanted: HandlerInput = task.input
        found = self._handlers.get(wanted.handler)
        if found is None or not callable(found.target):  # another process may have it, or this one later
            raise TaskError(f"no handler `{wanted.handler}`", retryable=True)
        payload = values.decode(wanted.payload)
        arguments = [payload, EventContext(wanted, task, attempt, self._tell)] if found.takes_context else [payload]
        target = found.target
        result = await attempt.in_thread(lambda: target(*arguments)) if found.threaded else target(*arguments)
        return await result if hasattr(result, "__await__") else result
