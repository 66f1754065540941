"""A stage for the dialect's own tests: runs are embedded, each on a driver of its own, and a host on virtual time runs
them again when their alarms ring or messages come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from plait.code import Workflow
from plait.dialects.code import view
from plait.dialects.code.location import token_of
from plait.embedding import WorkflowHandle, run_workflow
from plait.embedding.driver import Write
from plait.embedding.handle import Mode
from plait.kernel.errors import RunBlocked
from plait.kernel.ids import Millis
from plait.kernel.view import Reason, RunStatus, RunView
from plait.testing import DriverFailed, MemoryDriver, StuckError, VirtualClock
from plait.testing.clock import VirtualAlarm

Moment = Literal["before", "after"]

_ROUNDS = 200
"""Of the event loop, after which a step that is still under way waits for the real world."""


class FailingDriver(MemoryDriver):
    """Fails at every batch, `after` it was written, or `before` that: then it is written when it comes again."""

    def __init__(self, failing: Moment) -> None:
        super().__init__()
        self._failing = failing
        self._failed = False

    async def batch(self, writes: Sequence[Write]) -> None:
        self._failed = not self._failed
        if self._failing == "before" and self._failed:
            raise DriverFailed(f"after batch {self.batches}")
        await super().batch(writes)
        if self._failing == "after":
            raise DriverFailed(f"batch {self.batches}, which is written")


class Host:
    def __init__(self, definitions: Iterable[object], mode: Mode, failing: Moment | None = None) -> None:
        self.failing: Moment | None = failing
        self.clock = VirtualClock()
        self.clock.settle = self.settle
        self._definitions = list(definitions)
        self._mode: Mode = mode
        self._runs: list[HostedRun] = []

    async def start(self, definition: Any, input: Any = None, *, id: str = "run") -> HostedRun:
        if isinstance(definition, Workflow):
            self._definitions.append(definition)
        found = self.find(definition if isinstance(definition, str) else definition.name)
        run = HostedRun(self, id, found, input)
        self._runs.append(run)
        await run.settle()
        run.raise_refusal()
        return run

    def find(self, name: str) -> Workflow[..., Any]:
        return next(each for each in reversed(self._definitions) if isinstance(each, Workflow) and each.name == name)

    async def run(self, definition: Any, input: Any = None, *, id: str = "run") -> Any:
        return await self.result(await self.start(definition, input, id=id))

    async def result(self, run: HostedRun) -> Any:
        await self.skip_until(run.ended)
        return (await run.handle.result()).output

    async def skip_until(self, done: Callable[[], Awaitable[bool]]) -> None:
        await self.settle()
        while not await done():
            if not self.clock.ring():
                raise StuckError("nothing will ever happen again")
            await self.settle()

    async def settle(self) -> None:
        for run in self._runs:
            await run.settle()

    async def crash(self) -> None:
        for run in self._runs:
            await run.crash()
        await self.settle()

    @property
    def mode(self) -> Mode:
        return self._mode


class HostedRun:
    def __init__(self, host: Host, id: str, definition: Workflow[..., Any], input: Any) -> None:
        self.id = id
        self.driver = MemoryDriver() if host.failing is None else FailingDriver(host.failing)
        self._host = host
        self._definition = definition
        self._input = input
        self._alarm: VirtualAlarm | None = None
        self._sent = 0
        self.handle = self._begin()

    def _begin(self) -> WorkflowHandle:
        host = self._host
        return run_workflow(self.id, self._definition, self._input, self.driver, host.mode, clock=host.clock)

    def wake(self) -> None:
        self._definition = self._host.find(self._definition.name)
        self.handle = self._begin()

    @property
    def _passing(self) -> asyncio.Task[Any]:
        return self.handle._task

    def raise_refusal(self) -> None:
        """Of an input that does not fit."""
        if self._passing.done() and not self.driver.pairs and (error := self._passing.exception()) is not None:
            raise error

    async def settle(self) -> None:
        """Until the pass is over, or waits for time to pass."""
        rounds = 0
        while not self._passing.done() or self._has_failed():
            if self._has_failed():
                self.wake()
                rounds = 0
            idle = self._host.clock.asleep or self._host.mode == "live"
            if rounds > _ROUNDS + (0 if idle else 300):
                break
            await asyncio.sleep(0 if rounds < _ROUNDS else 0.001)
            rounds += 1
        due = self.driver.alarms.get(self.id)
        if self._alarm is not None:
            self._alarm.cancel()
        if due is not None and self._passing.done():
            self._alarm = self._host.clock.call_at(Millis(due), self._ring)

    def _has_failed(self) -> bool:
        passing = self._passing
        return passing.done() and not passing.cancelled() and isinstance(passing.exception(), DriverFailed)

    async def _tell(
        self, telling: Callable[[WorkflowHandle], Awaitable[object]], done: Callable[[], Awaitable[bool]]
    ) -> None:
        """As often as the driver fails meanwhile, and what is written does not say that it was done."""
        while True:
            try:
                await telling(self.handle)
                return
            except DriverFailed:
                if await done():
                    return
                self.wake()

    async def _stops(self) -> bool:
        state = (await self.handle._stored()).state
        return state.rolling_back or state.status != "running"

    def _ring(self) -> None:
        del self.driver.alarms[self.id]
        self.wake()

    async def crash(self) -> None:
        self._passing.cancel()
        await asyncio.gather(self._passing, return_exceptions=True)
        self.wake()

    # -- what a test asks ------------------------------------------------------------------------------------------

    async def message(self, name: str, body: Any = None, id: str | None = None) -> None:
        id = id or f"sent-{self._sent}"
        self._sent += 1
        await self._tell(lambda handle: handle.message(name, body, id), _never)
        if self._passing.done():
            self.wake()
        await self.settle()

    async def cancel(self, reason: str = "", compensate: bool = False) -> None:
        await self._tell(lambda handle: handle.cancel(reason, compensate), self._stops)
        await self.settle()

    async def retry(self) -> None:
        before = (await self.handle._stored()).history.recoveries

        async def went_on() -> bool:
            """It may have failed again since."""
            stored = await self.handle._stored()
            return stored.history.recoveries > before or stored.state.status == "running"

        await self._tell(lambda handle: handle.recover(), went_on)
        await self.settle()

    async def rewind(self, at: str | None = None) -> None:
        before = (await self.handle._stored()).history.generation

        async def went_back() -> bool:
            return (await self.handle._stored()).history.generation > before

        await self._tell(lambda handle: handle.rewind(at), went_back)
        await self.settle()

    async def view(self) -> RunView:
        mirror = await self.handle._stored()
        history = mirror.history
        nodes, edges = view.nodes(history, mirror.state.tasks.facts(), lambda at: token_of(at, history.generation))
        name = self._definition.name
        return RunView(
            run_id=self.id,
            namespace="default",
            dialect="code",
            definition=name,
            status=mirror.state.status,
            nodes=nodes,
            edges=edges,
        )

    async def waiting(self) -> list[Reason]:
        mirror = await self.handle._stored()
        history = mirror.history
        return view.waiting(
            history, mirror.state.tasks.facts(), lambda at: token_of(at, history.generation), self._definition.name
        )

    async def status(self) -> RunStatus:
        return (await self.handle._stored()).state.status

    async def ended(self) -> bool:
        if not self._passing.done():
            return False
        error = self._passing.exception()
        return isinstance(error, RunBlocked) or await self.status() != "running"


async def _never() -> bool:
    return False


@asynccontextmanager
async def hosting(
    definitions: Iterable[object] = (), *, mode: Mode = "yield", failing: Moment | None = None
) -> AsyncGenerator[Host]:
    host = Host(definitions, mode, failing)
    try:
        yield host
    finally:
        for run in host._runs:
            run._passing.cancel()
            await asyncio.gather(run._passing, return_exceptions=True)
