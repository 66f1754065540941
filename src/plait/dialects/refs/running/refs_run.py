"""A run in memory: its state, and derived data that is kept up to date beside it.

open_needs  by step, the number of its dependencies that are not settled
ready       positions of steps that wait for nothing any more, and have not been visited
line        positions of steps to be started, in list order, when there is room
outputs     what steps returned, decoded when a reference asks for it
loops       the items and the progress of steps with `forEach`
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.conditions.paths import MISSING
from plait.dialects.refs.definition.plan import Plan, StepPlan
from plait.dialects.refs.references.resolve import Scope, lookup

from .state import RefsState, Work

_decode = msgspec.json.Decoder().decode


class Outputs(Mapping[str, Any]):
    """Outputs by step, decoded once. Steps without a result are null."""

    def __init__(self, run: RefsRun) -> None:
        self._run = run
        self._read: dict[str, Any] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._run.plan.steps

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            if name not in self._run.plan.steps:
                raise KeyError(name)
            self._read[name] = _decode(self._run.work(name).output)
        return self._read[name]

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self._run.plan.steps else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.plan.steps)

    def __len__(self) -> int:
        return len(self._run.plan.steps)

    def forget(self, name: str) -> None:
        self._read.pop(name, None)


class LoopRun:
    """The derived data of a running `forEach`."""

    __slots__ = ("failed", "items", "next", "redo", "running", "settled")

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.next = 0
        """The first iteration that has not started."""
        self.redo: list[int] = []
        """Iterations to redo, lowest first."""
        self.running = 0
        self.settled = 0
        self.failed = 0

    @property
    def has_more(self) -> bool:
        return bool(self.redo) or self.next < len(self.items)

    @property
    def first(self) -> int:
        """The iteration to start next."""
        return self.redo[0] if self.redo else self.next

    def begin(self, index: int) -> None:
        self.running += 1
        self.next = max(self.next, index + 1)
        if self.redo and self.redo[0] == index:
            heapq.heappop(self.redo)


class RefsRun:
    def __init__(self, state: RefsState, plan: Plan, ctx: Mapping[str, Any]) -> None:
        self.state = state
        self.ctx = ctx
        self.rebuild(plan)

    def rebuild(self, plan: Plan) -> None:
        """Computes all derived data from the state."""
        self.plan = plan
        self.outputs = Outputs(self)
        self.loops: dict[str, LoopRun] = {}
        self.ready: list[int] = []
        self.line: list[int] = []
        self._in_line: set[int] = set()
        self.in_flight = 0
        self.unsettled = 0
        self.open_needs: dict[str, int] = {}
        self._input: Any = MISSING
        settled = {name for name in plan.steps if self.is_settled(plan.steps[name])}
        for step in plan.order:
            count = self.open_needs[step.name] = sum(need not in settled for need in step.needs)
            self.unsettled += step.name not in settled
            if not count and self.work(step.name).status == "waiting":
                heapq.heappush(self.ready, step.position)
        for name in self.state.loops:
            if self.work(name).status == "running":
                self._rebuild_loop(plan.steps[name])
        self.in_flight = sum(plan.steps[name].kind != "workflow" for name, _, _ in self.under_way())

    def _rebuild_loop(self, step: StepPlan) -> None:
        loop = self.state.loops[step.name]
        run = self.loops[step.name] = LoopRun(self.items(step) or [])
        for index, work in loop.works.items():
            run.next = max(run.next, index + 1)
            match work.status:
                case "running":
                    run.running += 1
                case "waiting":
                    heapq.heappush(run.redo, index)
                case _:
                    run.settled += 1
                    run.failed += work.status == "failed"
        self.queue_loop(step)

    # -- steps -----------------------------------------------------------------------------------------------------

    def work(self, name: str, index: int | None = None) -> Work:
        if index is not None:
            return self.state.loops[name].works[index]
        found = self.state.steps.get(name)
        if found is None:
            found = self.state.steps[name] = Work()
        return found

    def append(self, step: StepPlan, *, preset: bool) -> None:
        """Appends a recorded step. One without open dependencies is ready, unless it comes with its result."""
        open_needs = self.open_needs[step.name] = sum(not self.is_settled(self.plan.steps[need]) for need in step.needs)
        self.unsettled += 1
        if not open_needs and not preset:
            heapq.heappush(self.ready, step.position)

    def find(self, name: str, index: int | None) -> Work | None:
        """Looks up an id given by a user; None if it does not exist."""
        if name not in self.plan.steps:
            return None
        if index is None:
            return self.work(name)
        loop = self.state.loops.get(name)
        return None if loop is None else loop.works.get(index)

    def is_settled(self, step: StepPlan) -> bool:
        work = self.work(step.name)
        return work.status in ("completed", "skipped") or (work.status == "failed" and step.on_error == "continue")

    def settle(self, name: str, *, again: bool = False) -> None:
        """Settles a step: its dependents may become ready, unless they were before."""
        self.outputs.forget(name)
        if again:
            return
        self.unsettled -= 1
        for other in self.plan.dependents[name]:
            self.open_needs[other] -= 1
            if not self.open_needs[other]:
                heapq.heappush(self.ready, self.plan.steps[other].position)

    def queue_loop(self, step: StepPlan) -> None:
        """Queues the loop if another iteration is left and may run beside the others."""
        loop = self.loops[step.name]
        assert step.for_each is not None
        if loop.has_more and loop.running < step.for_each.concurrency:
            self.enqueue(step)

    def enqueue(self, step: StepPlan) -> None:
        if step.position not in self._in_line:
            self._in_line.add(step.position)
            heapq.heappush(self.line, step.position)

    def next_in_line(self) -> StepPlan:
        position = heapq.heappop(self.line)
        self._in_line.discard(position)
        return self.plan.order[position]

    def under_way(self) -> Iterator[tuple[str, int | None, Work]]:
        """Running steps and iterations, except the steps around those iterations."""
        for name in self.plan.steps:
            work = self.state.steps.get(name)
            if work is None or work.status != "running":
                continue
            loop = self.state.loops.get(name)
            if loop is None:
                yield name, None, work
            else:
                yield from ((name, index, each) for index, each in loop.works.items() if each.status == "running")

    def has_failed(self) -> bool:
        """Whether any of its steps or iterations failed, even if it completed."""
        loops = (work for loop in self.state.loops.values() for work in loop.works.values())
        return any(work.status == "failed" for work in chain(self.state.steps.values(), loops))

    # -- values for references -------------------------------------------------------------------------------------

    @property
    def input(self) -> Any:
        if self._input is MISSING:
            self._input = _decode(self.state.input)
        return self._input

    def forget_input(self) -> None:
        self._input = MISSING

    def scope(self, item: Any = MISSING, index: Any = MISSING) -> Scope:
        return Scope(self.input, self.outputs, item, index, self.ctx)

    def items(self, step: StepPlan) -> list[Any] | None:
        """The items of a `forEach`; None if the value is not an array."""
        assert step.for_each is not None
        ref = step.for_each.ref
        found = lookup(ref, self.scope())
        if isinstance(found, list):
            return cast("list[Any]", found)
        producer = self.state.steps.get(ref.head) if ref.head in self.plan.steps else None
        absent = producer is not None and producer.status in ("skipped", "failed")
        return [] if found is None and absent else None

    def scope_of(self, step: StepPlan, index: int | None) -> Scope:
        """What the input of a step, or of one of its iterations, may reference."""
        if index is None:
            return self.scope()
        return self.scope(self.loops[step.name].items[index], index)


def encoded(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))
