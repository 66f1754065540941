"""What every dialect must keep, whatever its definitions look like.

A dialect is a `Subject`: how to make it, and a few scenarios that use what it has. A scenario is a definition and
what happens to its run from outside. The kit plays scenarios on a real kernel with virtual time, undisturbed, with
every input delivered twice, and with a crash at every commit, and looks at what is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from plait.kernel import values
from plait.kernel.approval import ApprovalFilter
from plait.kernel.bundle import Bundle
from plait.kernel.callers import Outcome
from plait.kernel.errors import PlaitError
from plait.kernel.events import Recorded
from plait.kernel.ids import RunId
from plait.kernel.inputs import AnyInput, Cancel, Decided, Message, Resume
from plait.kernel.loader import recorded
from plait.kernel.run import Run
from plait.kernel.state import KernelState
from plait.kernel.store import Verdict, Write
from plait.stores.memory import MemoryStore, Moment
from plait.testing import VirtualClock
from tests.kernel.rig import Rig

T = TypeVar("T")

RUN = RunId("run")


class Subject(Protocol):
    """A dialect under contract."""

    name: str

    def dialect(self) -> Bundle:
        """A fresh one, as another process would have."""
        ...


Act = Callable[[Rig], Awaitable[object]]


@dataclass(frozen=True)
class Scenario:
    name: str
    definition: Any
    input: Any = None
    acts: Sequence[Act] = field(default_factory=tuple)


# -- what happens to a run from outside ------------------------------------------------------------------------------


def message(name: str, body: object = None, id: str = "m-1") -> Act:
    return lambda rig: rig.send(RUN, Message(id, name, values.encode(body)), id)


def wait(seconds: float) -> Act:
    return lambda rig: rig.clock.advance(seconds)


def cancel(compensate: bool = False) -> Act:
    return lambda rig: rig.send(RUN, Cancel("enough", compensate), "cancel")


def retry() -> Act:
    async def act(rig: Rig) -> None:
        await rig.end(RUN)
        await rig.send(RUN, Resume("retry"), "retry")

    return act


def after_the_end(act: Act) -> Act:
    async def later(rig: Rig) -> None:
        await rig.end(RUN)
        await act(rig)

    return later


def decide(decision: str = "approve", by: str = "ann") -> Act:
    async def act(rig: Rig) -> None:
        await rig.settle()
        for approval in await rig.store.approvals(ApprovalFilter(namespace="default", run_id=RUN)):
            await rig.send(RUN, Decided(approval.token, decision, by), f"decide:{approval.token}:{by}")

    return act


# -- playing ---------------------------------------------------------------------------------------------------------


class SimulatedCrash(BaseException):
    """The process is gone."""


@dataclass(frozen=True)
class Picture:
    """A run as it was when a commit of it was made."""

    machine: bytes
    _kernel: bytes

    @property
    def kernel(self) -> KernelState:
        return values.decode(self._kernel, KernelState)

    @staticmethod
    def of(run: Run) -> Picture:
        return Picture(bytes(run.machine.snapshot()), values.plain(run.state.dump()))


@dataclass
class Ending:
    outcome: Outcome
    events: list[Recorded]
    commits: int

    @property
    def seen(self) -> tuple[object, ...]:
        """What a caller notices."""
        error = self.outcome.error
        output = self.outcome.output
        return (
            self.outcome.status,
            None if output is None else values.decode(output),
            None if error is None else (error.code, error.message),
        )


class WatchingStore(MemoryStore):
    """Takes a picture of each run at each of its commits, and dies at the one it was told."""

    def __init__(self, clock: VirtualClock, crash: tuple[int, Moment] | None) -> None:
        super().__init__(clock=clock, faults=self._fault)
        self.kernel_of: Callable[[], Rig] | None = None
        self.pictures: dict[RunId, dict[int, Picture]] = {}
        self.look: Callable[[Run], None] | None = None
        """Called with each live run right after each of its commits."""
        self.commits = 0
        self._crash = crash
        self.crashed = False

    def _fault(self, moment: Moment, writes: Sequence[Write]) -> None:
        if moment == "before":
            self.commits += 1
        if self._crash == (self.commits, moment) and not self.crashed:
            self.crashed = True
            raise SimulatedCrash(f"{moment} commit {self.commits}")

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        verdicts = await super().commit(writes)
        rig = self.kernel_of() if self.kernel_of is not None else None
        for write, verdict in zip(writes, verdicts, strict=True):
            run = rig.kernel.run_cache.get(write.run_id) if rig is not None else None
            if verdict == "ok" and write.log is not None and run is not None:
                last = write.log.seq + write.log.count - 1
                assert run.state.seq == last
                self.pictures.setdefault(run.id, {})[last] = Picture.of(run)
                if self.look is not None:
                    self.look(run)
        return verdicts


class Stage:
    """Plays scenarios, and goes on with another kernel after each crash."""

    def __init__(
        self, subject: Subject, *, cache_size: int = 1000, crash: tuple[int, Moment] | None = None, twice: bool = False
    ) -> None:
        self._subject = subject
        self._cache_size = cache_size
        self._twice = twice
        self.clock = VirtualClock()
        self.store = WatchingStore(self.clock, crash)
        self.store.kernel_of = lambda: self.rig

    async def play(self, scenario: Scenario) -> Ending:
        await self.store.open()
        await self._open()
        try:
            await self._do(lambda rig: rig.create_program(scenario.definition, scenario.input))
            await self._do(lambda rig: rig.settle())
            for act in scenario.acts:
                await self._do(act)
            outcome = await self._do(lambda rig: rig.end(RUN))
            return Ending(outcome, await recorded(self.store, RUN), self.store.commits)
        finally:
            await self.rig.kernel.crash()

    async def _open(self) -> None:
        while True:
            self.rig = StageRig(
                self.store, dialect=self._subject.dialect(), clock=self.clock, cache_size=self._cache_size
            )
            if self._twice:
                self.rig.deliver_everything_twice()
            try:
                await self.rig.kernel.open()
                return
            except SimulatedCrash:
                await self._bury()

    async def _bury(self) -> None:
        await self.rig.kernel.crash()
        await self.store.release("rig")

    async def _do(self, call: Callable[[StageRig], Awaitable[T]]) -> T:
        """Tries until a kernel that lives has done it, as a client would that tries again."""
        while True:
            rig = self.rig
            dead = rig.kernel.dead
            task = asyncio.ensure_future(call(rig))
            await asyncio.wait([task, dead], return_when=asyncio.FIRST_COMPLETED)
            if not dead.done():
                return await task
            task.cancel()
            [result] = await asyncio.gather(task, return_exceptions=True)
            await self._bury()
            await self._open()
            if not isinstance(result, BaseException):
                return result
            assert isinstance(result, PlaitError | asyncio.CancelledError), result


class StageRig(Rig):
    async def create_program(self, definition: Any, input: object) -> None:
        """Once, however often it is tried."""
        if await self.store.run(RUN) is None:
            await self.create_resolved(await self.dialect.resolve(definition, input, "default"), "run")

    def deliver_everything_twice(self) -> None:
        queue = self.kernel._queue  # pyright: ignore[reportPrivateUsage]
        post = queue.post

        def twice(run: Run, input: AnyInput, key: str | None = None) -> None:
            post(run, input, key)
            post(run, input, None)

        queue.post = twice
