"""The compensations of a run: every success of a step with a compensator, each iteration, oldest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.plan import CompensatorPlan, StepPlan
from plait.dialects.refs.references.resolve import Scope, resolve
from plait.kernel.task import Task
from plait.kernel.task_inputs import EMPTY

from .compensation_tokens import compensator_token
from .decision_builder import DecisionBuilder
from .refs_run import RefsRun
from .state import Done, work_id
from .tasks import compensator_policy, task_input

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def compensations(builder: DecisionBuilder) -> list[Task]:
    scopes: dict[str, _StepScope] = {}
    found: list[Task] = []
    for done in builder.state.done:
        step = builder.plan.steps.get(done.step)
        if step is None or step.compensator is None:
            continue
        if done.step not in scopes:
            scopes[done.step] = _StepScope(builder.run, step)
        found.append(_task(builder, step, step.compensator, done, scopes[done.step].of(done)))
    return found


def _task(builder: DecisionBuilder, step: StepPlan, compensator: CompensatorPlan, done: Done, scope: Scope) -> Task:
    id, token = work_id(done.step, done.index), compensator_token(done)
    value = resolve(compensator.input, scope).value
    input = EMPTY if value is None else Raw(_encode(value))
    key = f"{builder.context.info.run_id}/{token}"
    kind, asked = task_input(builder, compensator.action, input, id, key)
    return Task(token, f"compensate {id}", kind, asked, compensator_policy(step, compensator.action), key, node=id)


class _StepScope:
    """The values that a step's compensator may reference. Its items are decoded once, for all iterations."""

    def __init__(self, run: RefsRun, step: StepPlan) -> None:
        self._run = run
        self._step = step.name
        self._items = [] if step.for_each is None else run.items(step) or []

    def of(self, done: Done) -> Scope:
        """The step's own name refers to what is compensated: for a `forEach`, to the one iteration."""
        run, index = self._run, done.index
        outputs = _OwnOutput(run.outputs, self._step, _decode(done.output))
        if index is None:
            return Scope(run.input, outputs, ctx=run.ctx)
        item = self._items[index] if index < len(self._items) else None
        return Scope(run.input, outputs, item, index, run.ctx)


class _OwnOutput(Mapping[str, Any]):
    """The outputs of a run's steps, with one of them replaced, without copying."""

    def __init__(self, outputs: Mapping[str, Any], step: str, output: Any) -> None:
        self._outputs = outputs
        self._step = step
        self._output = output

    def __getitem__(self, name: str) -> Any:
        return self._output if name == self._step else self._outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)
