"""What a migration node needs from outside: the other version, and the handler that maps the payload to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from plait.kernel.definitions import Description
from plait.kernel.errors import PlaitError
from plait.kernel.task import Attempt, Task, TaskError

from .definition.preparation import Preparation
from .handlers import Handlers
from .running.tasks import MIGRATE, MigrateInput

FindVersion = Callable[[str, str], Awaitable[Description | None]]
"""Finds a saved definition by `name@version` and namespace."""

_decode = msgspec.json.Decoder().decode


class MigrationExecutor:
    kinds = (MIGRATE,)

    def __init__(self, handlers: Handlers, preparation: Preparation, find: FindVersion | None) -> None:
        self._handlers = handlers
        self._preparation = preparation
        self._find = find

    async def execute(self, task: Task, attempt: Attempt) -> dict[str, Any]:
        wanted: MigrateInput = task.input
        definition = await self._definition(wanted)
        payload = _decode(wanted.payload)
        if wanted.transform:
            context = {node: _decode(output) for node, output in wanted.context.items()}
            payload = await self._mapped(wanted.transform, {"payload": payload, "context": context}, attempt)
        return {"definition": definition, "payload": payload}

    async def _definition(self, wanted: MigrateInput) -> dict[str, Any]:
        name = f"{wanted.definition}@{wanted.to_version}"
        found = None if self._find is None else await self._find(name, wanted.namespace)
        body: Any = None if found is None else found.body
        if body is None:
            raise TaskError(f"there is no saved version `{name}` to migrate to", retryable=False)
        try:
            return (await self._preparation.prepare(body, wanted.namespace)).definition
        except PlaitError as problem:
            raise TaskError(f"`{name}` can't be run: {problem.text}", retryable=False) from None

    async def _mapped(self, name: str, given: Any, attempt: Attempt) -> Any:
        handler = self._handlers.get(name)
        if handler is None:
            raise TaskError(f"no handler `{name}`", retryable=True)
        result = await attempt.in_thread(lambda: handler.fn(given)) if handler.threaded else handler.fn(given)
        return await result if hasattr(result, "__await__") else result
