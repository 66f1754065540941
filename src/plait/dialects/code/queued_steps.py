"""Queued steps, run by a worker: it finds the function by its name, among the steps it has loaded."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import msgspec

from plait.kernel import values
from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import STEP, PythonInput

from .definition import Step
from .isolation import call_isolated, call_on_cluster
from .result_check import check_result

AnyStep = Step[..., Any]


class StepExecutor:
    kinds = (STEP,)

    def __init__(self) -> None:
        self._steps: dict[str, AnyStep] = {}
        self._twice: dict[str, AnyStep] = {}
        """Other steps with the same name. An error only if one of them is asked for."""

    def add(self, step: AnyStep) -> None:
        known = self._steps.setdefault(step.name, step)
        if known is not step and known.ref != step.ref:
            self._twice[step.name] = step

    @property
    def handlers(self) -> Collection[str]:
        """The names of the steps that can be called."""
        return self._steps.keys() - self._twice.keys()

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        wanted: PythonInput = task.input
        step = self._find(wanted.handler)
        if step.given.get("isolate"):
            return await call_isolated(step, wanted.arguments, attempt, values.MAX_BYTES)
        if (on := step.given.get("on")) is not None:
            return await call_on_cluster(step, on, wanted.arguments, attempt)
        try:
            arguments = step.arguments(wanted.arguments)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            raise TaskError(f"an argument does not fit step `{step.name}`: {error}", retryable=False) from None
        call = partial(step.fn, **arguments) if isinstance(arguments, dict) else partial(step.fn, *arguments)
        if step.threaded:
            return _checked(step, await attempt.in_thread(call))
        result = call()
        return _checked(step, await result if hasattr(result, "__await__") else result)

    def _find(self, name: str) -> AnyStep:
        if (other := self._twice.get(name)) is not None:
            both = f"`{self._steps[name].ref}` and `{other.ref}`"
            raise TaskError(f"{both} are both steps named `{name}`: give one another `name`", retryable=True)
        found = self._steps.get(name)
        if found is None:  # another process may have it, or this one later
            raise TaskError(f"no step `{name}`", retryable=True)
        return found


def _checked(step: AnyStep, result: Any) -> Any:
    check_result(f"step `{step.name}`", step.returns, result, values.encode(result))
    return result
