"""Executors of the dialect's own tasks: calls of handlers."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import PythonInput

from .handlers import Handler, Handlers, NodeCall, NodeContext
from .running.tasks import CALL_HANDLER, HandlerInput

_decode = msgspec.json.Decoder().decode
_from_queue = msgspec.json.Decoder(HandlerInput)


class HandlerExecutor:
    kinds = (CALL_HANDLER,)

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers

    @property
    def handlers(self) -> Collection[str]:
        """The names of the handlers that can be called."""
        return self._handlers.names

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        given: HandlerInput | PythonInput = task.input
        wanted = given if isinstance(given, HandlerInput) else _from_queue.decode(given.arguments)
        handler = self._handlers.get(wanted.handler)
        if handler is None:  # another process may have it, or this one later
            raise TaskError(f"no handler `{wanted.handler}`", retryable=True)
        call = _call(handler, wanted, task, attempt)
        if handler.cluster is not None:
            return values.decode(await attempt.on_cluster(*handler.cluster, Raw(values.plain(call))))
        result = await attempt.in_thread(partial(handler.call, call)) if handler.threaded else handler.call(call)
        if hasattr(result, "__await__"):
            result = await result
        return handler.output(result)


def _call(handler: Handler[..., Any], wanted: HandlerInput, task: Task, attempt: Attempt) -> NodeCall:
    payload = _decode(wanted.payload)
    if not handler.takes_context:
        return NodeCall(payload, None)
    context = NodeContext(
        config=_decode(wanted.config),
        context={node: _decode(output) for node, output in wanted.context.items()},
        run_id=wanted.run_id,
        node_id=wanted.node_id,
        token_id=wanted.token_id,
        attempt=attempt.number,
        idempotency_key=task.key,
    )
    return NodeCall(payload, context)
