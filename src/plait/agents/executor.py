"""Executes tasks of the kind `agent`, for any dialect: a language model works on them, with tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import AGENT, AgentInput

from .models import Models

if TYPE_CHECKING:
    from .services import AgentServices


class AgentExecutor:
    """Its services are loaded with the first task."""

    kinds = (AGENT,)

    def __init__(self, models: Models, services: Callable[[Task], AgentServices]) -> None:
        self._models = models
        self._services = services
        """The services that one task's agent uses."""

    @property
    def handlers(self) -> Sequence[str]:
        """The handlers that a worker may claim from queues; `model:` is for agents that accept any model."""
        names = self._models.names
        return [f"model:{name}" for name in ("", *names)] if names else []

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        from .loop import AgentLoop

        wanted: AgentInput = task.input
        name = wanted.model or next(iter(self._models.names), "")
        model = self._models.get(name)
        if model is None:  # another process may have it, or this one may get it later
            raise TaskError(f"no model `{name}`", retryable=True, code="agent.unknown_model")
        if name != wanted.model:
            wanted = replace(wanted, model=name)
        return await AgentLoop(wanted, task, attempt, model, self._services(task)).run()
