"""One step of a run as its machine sees it, and a worker that does the tasks it asks for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from plait.dialects.goals.executors import StepScriptsExecutor
from plait.dialects.goals.memo import MemoExecutor
from plait.dialects.goals.planning.plan import Excluded, Links, Plan
from plait.dialects.goals.running.decision_builder import DecisionBuilder, RunContext
from plait.dialects.goals.running.events import StepStarted, WorkStarted, WorkSucceeded
from plait.dialects.goals.running.flow import Flow
from plait.dialects.goals.running.results import task_result
from plait.dialects.goals.running.state import FlowState, StepState, Value
from plait.dialects.goals.running.tasks import PREPARE_STEP, PrepareInput, compensation_task, match_task, work_task
from plait.dialects.goals.steps.builder import StepBuilder
from plait.dialects.goals.steps.handlers import Handlers
from plait.dialects.goals.steps.step import Step
from plait.egress import Egress, EgressSettings
from plait.kernel import values
from plait.kernel.clock import SystemClock
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.inputs import Suspend, TaskResult
from plait.kernel.machine import RunInfo
from plait.kernel.task import Attempt, Executor, Policy, Task
from plait.scripts.languages import Languages
from plait.workers.http import HttpExecutor
from plait.workers.local import LocalWorker
from plait.workers.python import Functions, PythonExecutor
from plait.workers.script import ScriptExecutor

RUN = RunInfo(RunId("run-1"), "default", "goals", "a-goal")
TOKEN = "0198c0de-0000-7000-8000-000000000001"


@dataclass(frozen=True)
class Done:
    """What became of a task, and of what the machine asked for next."""

    output: Any
    error: str
    retryable: bool
    lines: list[str]

    @property
    def outputs(self) -> Any:
        assert not self.error, self.error
        return self.output["outputs"]

    @property
    def permanent(self) -> bool:
        return bool(self.error) and not self.retryable


class Rig:
    def __init__(self, handlers: Handlers, worker: LocalWorker) -> None:
        self.handlers = handlers
        self.worker = worker

    async def do(self, task: Task, run: RunInfo = RUN) -> tuple[TaskResult, list[str]]:
        """Lets the local worker do a task, once."""
        ended: asyncio.Future[TaskResult | Suspend] = asyncio.get_running_loop().create_future()
        lines: list[str] = []
        self.worker.start(
            Attempt(
                run.run_id,
                task,
                1,
                values.NULL,
                lambda _, result: ended.set_result(result),
                lambda _, level, text: lines.append(f"{level}: {text}"),
            )
        )
        result = await ended
        assert isinstance(result, TaskResult)
        return result, lines

    async def work(self, step: Step | StepBuilder, run: RunInfo = RUN, token: str = TOKEN, **inputs: Any) -> Done:
        """Does the work of a step for these inputs, by inner name."""
        builder = self.begun(built(step), run, token, inputs)
        plan, _, item = builder.flow.at(token)
        result, lines = await self.do(work_task(builder, plan, token), run)
        while result.error is None:
            task_result(builder, result)
            todo = [effect for effect in builder.decision.effects if isinstance(effect, Task)]
            builder.decision.effects.clear()
            if not todo:
                break
            result, _ = await self.do(todo[0], run)
        error = result.error.message if result.error is not None else item.error
        output = None if not item.outputs else {"outputs": values.decode(item.outputs)}
        if output is not None and item.memo:
            output["memo"] = True
        return Done(output, error, result.retryable, lines)

    async def undo(self, step: Step | StepBuilder, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Done:
        return _done(*await self.do(self.compensation(step, inputs, outputs)))

    def compensation(self, step: Step | StepBuilder, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Task:
        builder = self.begun(built(step), RUN, TOKEN, inputs)
        plan, _, _ = builder.flow.at(TOKEN)
        builder.record(WorkSucceeded(plan.id, TOKEN, values.encode(outputs)))
        return compensation_task(builder, plan, TOKEN)

    async def prepare(self, step: Step | StepBuilder, **inputs: Any) -> Any:
        """What prepare says of these inputs, by outer name."""
        raws = {name: values.encode(value) for name, value in inputs.items()}
        task = Task(TaskToken("t"), "step", PREPARE_STEP, PrepareInput(built(step), raws, "seed"), Policy(), "t")
        done = _done(*await self.do(task))
        assert not done.error, done.error
        return done.output

    async def match(self, step: Step | StepBuilder, name: str, value: Any) -> Done:
        builder = self.pending(built(step), RUN)
        builder.flow.state.attributes[name] = [Value(values.encode(value))]
        [plan] = builder.flow.compiled.steps.values()
        result, lines = await self.do(match_task(builder, plan, name, 0))
        task_result(builder, result)
        output = builder.flow.state.steps[plan.id].matches[name][0]
        return Done(output, builder.flow.state.steps[plan.id].error, result.retryable, lines)

    def context(self, run: RunInfo = RUN) -> RunContext:
        return RunContext(run, self.handlers)

    def pending(self, step: Step, run: RunInfo) -> DecisionBuilder:
        """A run of this step alone, which has not started."""
        links = {name: Links([], []) for name in step.attributes}
        plan = Plan([step.id], {step.id: step}, links, [], Excluded({}, {}, {}), {}, [])
        flow = Flow(FlowState(plan, seed=1, steps={step.id: StepState()}))
        return DecisionBuilder(flow, self.context(run), Millis(0), set())

    def begun(self, step: Step, run: RunInfo, token: str, inputs: Mapping[str, Any]) -> DecisionBuilder:
        builder = self.pending(step, run)
        builder.record(StepStarted(step.id, values.encode(dict(inputs)), {token: values.Raw(b"{}")}))
        builder.record(WorkStarted(step.id, token))
        return builder


def built(step: Step | StepBuilder) -> Step:
    return step.build() if isinstance(step, StepBuilder) else step


def _done(result: TaskResult, lines: list[str]) -> Done:
    error = result.error.message if result.error is not None else ""
    return Done(values.decode(result.output) if result.output else None, error, result.retryable, lines)


class Scripts(NamedTuple):
    languages: Languages


def executors_of(functions: Functions, languages: Languages, send: Any) -> list[Executor]:
    """All that the dialect asks for."""
    common: list[Executor] = [PythonExecutor(functions), HttpExecutor(send), ScriptExecutor(Scripts(languages))]
    return [*common, StepScriptsExecutor(languages), MemoExecutor(common, Handlers(functions))]


@asynccontextmanager
async def rig(
    handlers: Mapping[str, Callable[..., Any]] | None = None, settings: EgressSettings | None = None
) -> AsyncIterator[Rig]:
    egress, languages, functions = Egress(settings or EgressSettings(private=True)), Languages(), Functions()
    known = Handlers(functions)
    for name, function in (handlers or {}).items():
        known.add(name, function)
    worker = LocalWorker(SystemClock(), executors=executors_of(functions, languages, egress.send))
    try:
        yield Rig(known, worker)
    finally:
        await worker.close()
        await languages.close()
        await egress.aclose()
