"""Steps that go to a queue, done by a worker: it finds the function by its name, among the steps it has loaded."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import STEP, PythonInput

from .definition import Step

AnyStep = Step[..., Any]


class StepExecutor:
    kinds = (STEP,)

    def __init__(self) -> None:
        self._steps: dict[str, AnyStep] = {}
        self._twice: dict[str, AnyStep] = {}
        """Another step of the same name. That is of no consequence until one of them is asked for."""

    def add(self, step: AnyStep) -> None:
        known = self._steps.setdefault(step.name, step)
        if known is not step and known.ref != step.ref:
            self._twice[step.name] = step

    @property
    def handlers(self) -> Collection[str]:
        """The names of those that can be called."""
        return self._steps.keys() - self._twice.keys()

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        wanted: PythonInput = task.input
        step = self._find(wanted.handler)
        try:
            arguments = step.arguments(wanted.arguments)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            raise TaskError(f"an argument does not fit step `{step.name}`: {error}", retryable=False) from None
        if step.threaded:
            return await attempt.in_thread(lambda: step.fn(*arguments))
        result = step.fn(*arguments)
        return await result if hasattr(result, "__await__") else result

    def _find(self, name: str) -> AnyStep:
        if (other := self._twice.get(name)) is not None:
            both = f"`{self._steps[name].ref}` and `{other.ref}`"
            raise TaskError(f"{both} are both steps named `{name}`: give one another `name`", retryable=True)
        found = self._steps.get(name)
        if found is None:  # another process may have it, or this one later
            raise TaskError(f"no step `{name}`", retryable=True)
        return found
