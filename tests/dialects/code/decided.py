"""Runs without an engine: `advance` decides on each input, and what follows from it happens here, in memory.

    async with deciding() as d:
        run = await d.start(order, {"sku": "tea"})
        await d.clock.advance(60)
        assert await d.result(run) == "shipped"

There is no store, no lease and nothing in the background, so this is many times quicker than `simulate`. And each
input is decided twice: by the run that stayed in memory, and by one that is folded anew from what was recorded. Both
must come to the same, so that nothing a test sees depends on whether a run was parked in between.

This is for what is the dialect's own: what functions may do, and what they come to. What others add (children,
approvals, dead letters, forks) is tested with an engine.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from plait.code import Workflow
from plait.dialects.code.bundle import CodeBundle
from plait.errors import ErrorInfo, RunFailed
from plait.kernel import events, values
from plait.kernel.advance import advance
from plait.kernel.approval import Approval
from plait.kernel.events import Recorded
from plait.kernel.ids import Epoch, Ids, Millis, RunId, TaskToken
from plait.kernel.inputs import (
    AnyInput,
    Cancel,
    Continue,
    Loaded,
    Message,
    Resume,
    Start,
    Suspend,
    TaskResult,
    TimerFired,
)
from plait.kernel.limits import Limits
from plait.kernel.machine import RunInfo
from plait.kernel.run import Run
from plait.kernel.task import Attempt
from plait.kernel.unit_of_work import UnitOfWork
from plait.kernel.view import Reason, RunStatus, RunView
from plait.testing import History, StuckError, VirtualClock
from plait.testing.clock import VirtualAlarm
from plait.workers.local import LocalWorker

Said = tuple[Any, ...]
_ROUNDS = 200
"""Of the event loop, after which a step that is still under way waits for the real world."""


class Decider:
    """What `deciding()` gives: as `Sim`, for runs that need no engine."""

    def __init__(self, definitions: Iterable[object]) -> None:
        self.clock = VirtualClock()
        self.clock.settle = self.settle
        self._definitions = list(definitions)
        self.bundle = CodeBundle(self._definitions)
        self.worker = LocalWorker(self.clock)
        self._runs: list[DecidedRun] = []

    async def start(self, definition: Workflow[..., Any] | str, input: Any = None, *, id: str = "run") -> DecidedRun:
        if isinstance(definition, Workflow):
            self._definitions.append(definition)
        resolved = await self.bundle.resolve(definition, input, "default")
        now = self.clock.now()
        info = RunInfo(RunId(id), "default", "code", resolved.definition, resolved.version, created_at=now)
        run = DecidedRun(self, info)
        self._runs.append(run)
        run.give(Start("code", resolved.definition, resolved.input, resolved.version, data=resolved.data))
        return run

    async def run(self, definition: Workflow[..., Any] | str, input: Any = None, *, id: str = "run") -> Any:
        return await self.result(await self.start(definition, input, id=id))

    async def result(self, run: DecidedRun) -> Any:
        """The output of a run; time that nobody uses is skipped. Raises what `Handle.result` raises."""
        await self.skip_until(run.ended)
        return run.outcome()

    async def skip_until(self, done: Callable[[], Awaitable[bool]]) -> None:
        """Jumps from alarm to alarm until `done` says so."""
        await self.settle()
        while not await done():
            if not self.clock.ring():
                raise StuckError("nothing will ever happen again")
            await self.settle()

    async def settle(self) -> None:
        """Until nothing can happen unless time passes or someone outside acts."""
        rounds = 0
        while rounds < 3 or self.clock.asleep < sum(run.tasks_running for run in self._runs):
            await asyncio.sleep(0 if rounds < _ROUNDS else 0.001)
            rounds += 1

    async def crash(self) -> None:
        """The process dies, and another takes up what was recorded, with the definitions as they are now."""
        self.bundle = CodeBundle(self._definitions)
        for run in self._runs:
            run.recover()
        await self.settle()


class DecidedRun:
    """One run: its log, its timers, and the machine that decides."""

    def __init__(self, decider: Decider, info: RunInfo) -> None:
        self.id = str(info.run_id)
        self._decider = decider
        self._info = info
        self._log: list[tuple[Millis, bytes]] = []
        """What each decision recorded, as a store would have it."""
        self._timers: dict[TaskToken, VirtualAlarm] = {}
        self._ids = Ids(seed=0)
        self._live = self._fresh(self._ids)

    # -- deciding ------------------------------------------------------------------------------------------------

    def give(self, input: AnyInput) -> None:
        """Decides, twice if there is something to fold; what follows begins once."""
        expected = self._decided_anew(input) if self._log else None
        unit = _advance(self._live, input, self._now)
        assert expected in (None, _said(self._live, unit)), "a run that was folded anew decides otherwise"
        self._take(unit)

    def _decided_anew(self, input: AnyInput) -> Said:
        twin = self._folded(copy.deepcopy(self._ids))  # it must draw the same
        assert not _advance(twin, Loaded("wake"), self._now).events
        said = _said(twin, _advance(twin, input, self._now))
        twin.machine.close()
        return said

    def recover(self) -> None:
        for token in list(self._live.state.tasks):
            self._decider.worker.cancel(self._info.run_id, token)
        self._live.machine.close()
        self._live = self._folded(self._ids)
        self._take(_advance(self._live, Loaded("recover"), self._now))

    def _take(self, unit: UnitOfWork) -> None:
        requested = any(isinstance(each, Approval) for each in unit.write.approvals)
        if unit.write.children or unit.unresolved or requested:
            raise NotImplementedError("children and approvals need an engine")
        if unit.events:
            self._log.append((unit.at, values.plain(unit.events)))
        for token in [*self._timers] if unit.write.clear_all else unit.write.cleared:
            self._clear_timer(token)
        for timer in unit.write.timers:
            self._set_timer(timer.token, timer.due)
        for token in unit.revoked or ():
            self._decider.worker.cancel(self._info.run_id, token)
        for opened in unit.tasks:
            self._decider.worker.start(
                Attempt(self._info.run_id, opened.task, opened.attempt, opened.progress, self._report, _say_nothing)
            )
        if unit.more:
            self.give(Continue())

    def _clear_timer(self, token: TaskToken) -> None:
        if (alarm := self._timers.pop(token, None)) is not None:
            alarm.cancel()

    def _set_timer(self, token: TaskToken, due: Millis) -> None:
        def ring() -> None:
            del self._timers[token]
            self.give(TimerFired(token))

        self._clear_timer(token)
        self._timers[token] = self._decider.clock.call_later((due - self._now) / 1000, ring)

    def _report(self, _: RunId, result: TaskResult | Suspend) -> None:
        self.give(result)

    def _fresh(self, ids: Ids) -> Run:
        machine = self._decider.bundle.machine(self._info)
        return Run(self._info, machine, ids=ids, limits=Limits(), epoch=Epoch(1))

    def _folded(self, ids: Ids) -> Run:
        run = self._fresh(ids)
        for at, rows in self._log:
            for event in _EVENTS.decode(rows):
                run.fold(event, at)
        return run

    @property
    def _now(self) -> Millis:
        return self._decider.clock.now()

    # -- what a test asks ------------------------------------------------------------------------------------------

    async def message(self, name: str, body: Any = None, id: str | None = None) -> None:
        key = id or f"message-{len(self._log)}"
        self.give(Message(key, name, values.encode(body), self._now))

    async def cancel(self, reason: str = "", compensate: bool = False) -> None:
        self.give(Cancel(reason, compensate))

    async def retry(self) -> None:
        self.give(Resume("retry"))

    async def history(self) -> History:
        found: list[Recorded] = []
        for at, rows in self._log:
            for event in msgspec.json.decode(rows):
                found.append(Recorded(len(found) + 1, at, event.pop("type"), event))
        return History(found)

    async def view(self) -> RunView:
        info, status = self._info, self._live.state.status
        nodes, edges = self._live.machine.nodes(self._live.state.tasks.facts())
        return RunView(
            run_id=self.id,
            namespace=info.namespace,
            dialect=info.dialect,
            definition=info.definition,
            status=status,
            nodes=nodes,
            edges=edges,
        )

    async def waiting(self) -> list[Reason]:
        return self._live.machine.waiting(self._live.state.tasks.facts())

    async def status(self) -> RunStatus:
        return self._live.state.status

    async def ended(self) -> bool:
        """Ended, or blocked until someone acts."""
        return self._live.state.status != "running" or self._live.blocked is not None

    @property
    def tasks_running(self) -> int:
        return self._live.state.tasks.running

    def outcome(self) -> Any:
        bundle, info = self._decider.bundle, self._info
        if self._live.blocked is not None:
            raise bundle.blocked(self.id, self._live.blocked)
        match self._live.state.final:
            case events.RunCompleted(output=output):
                return values.decode(output, bundle.returns(info.definition, info.version))
            case events.RunFailed(error=error):
                raise RunFailed(self.id, "failed", error) from bundle.failure(error)
            case _:
                raise RunFailed(self.id, "cancelled", ErrorInfo("kernel.cancelled", "cancelled"))


_EVENTS: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[CodeBundle.events | events.KernelEvent])


def _advance(run: Run, input: AnyInput, now: Millis) -> UnitOfWork:
    run.mailbox.append((input, None))
    return advance(run, now)


def _said(run: Run, unit: UnitOfWork) -> Said:
    """What was recorded, what will ring, and what is under way after it."""
    return values.plain(unit.events), list(unit.write.timers), run.state.tasks.facts(), run.blocked, unit.more


def _say_nothing(*_: object) -> None: ...


@asynccontextmanager
async def deciding(definitions: Iterable[object] = ()) -> AsyncGenerator[Decider]:
    decider = Decider(definitions)
    try:
        yield decider
    finally:
        await decider.worker.close()
