"""Hands as an engine has them, and a worker that does what they give."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from plait.dialects.goals.hands.handlers import Handlers
from plait.dialects.goals.hands.hands import GoalsHands
from plait.dialects.goals.hands.languages import Languages
from plait.dialects.goals.running.hands import Hand, Item
from plait.dialects.goals.steps.builder import StepBuilder
from plait.dialects.goals.steps.step import Step
from plait.egress import Egress, EgressSettings
from plait.kernel import values
from plait.kernel.clock import SystemClock
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.inputs import TaskResult
from plait.kernel.machine import RunInfo
from plait.kernel.task import CALL, Attempt, Policy, Task
from plait.workers.local import LocalWorker

RUN = RunInfo(RunId("run-1"), "default", "goals", "a-goal")
TOKEN = "0198c0de-0000-7000-8000-000000000001"


@dataclass(frozen=True)
class Done:
    """How an attempt ended, as the kernel learns of it."""

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
    def __init__(self, hands: GoalsHands, worker: LocalWorker) -> None:
        self.hands = hands
        self.worker = worker

    async def do(self, hand: Hand) -> Done:
        """Lets the local worker make the call, once."""
        ended: asyncio.Future[TaskResult] = asyncio.get_running_loop().create_future()
        lines: list[str] = []
        task = Task(TaskToken("t"), "step", CALL, hand, Policy(), "t")
        self.worker.start(
            Attempt(
                RUN.run_id,
                task,
                1,
                values.NULL,
                lambda _, result: ended.set_result(result),
                lambda _, level, text: lines.append(f"{level}: {text}"),
            )
        )
        result = await ended
        error = result.error.message if result.error is not None else ""
        output = values.decode(result.output) if result.output else None
        return Done(output, error, result.retryable, lines)

    async def work(self, step: Step | StepBuilder, run: RunInfo = RUN, token: str = TOKEN, **inputs: Any) -> Done:
        """Does the work of a step for these inputs, by inner name."""
        return await self.do(self.hands.work(item_of(step, run, token, inputs)))

    async def undo(self, step: Step | StepBuilder, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Done:
        return await self.do(self.hands.undo(item_of(step, RUN, TOKEN, inputs), values.encode(outputs)))

    async def prepare(self, step: Step | StepBuilder, **inputs: Any) -> Any:
        """What prepare says of these inputs, by outer name."""
        raws = {name: values.encode(value) for name, value in inputs.items()}
        done = await self.do(self.hands.prepare(RUN, built(step), raws))
        assert not done.error, done.error
        return done.output

    async def match(self, step: Step | StepBuilder, name: str, value: Any) -> Done:
        return await self.do(self.hands.match(RUN, built(step), name, values.encode(value)))


def built(step: Step | StepBuilder) -> Step:
    return step.build() if isinstance(step, StepBuilder) else step


def item_of(step: Step | StepBuilder, run: RunInfo, token: str, inputs: Mapping[str, Any]) -> Item:
    return Item(run, built(step), token, values.encode(dict(inputs)))


@asynccontextmanager
async def rig(
    handlers: Mapping[str, Callable[..., Any]] | None = None, settings: EgressSettings | None = None
) -> AsyncIterator[Rig]:
    egress = Egress(settings or EgressSettings(private=True))
    hands = GoalsHands(Languages(), egress.send, Handlers(handlers))
    worker = LocalWorker(SystemClock())
    try:
        yield Rig(hands, worker)
    finally:
        await worker.close()
        await hands.close()
        await egress.aclose()
