"""One engine on a virtual clock and a store that outlives it.

Time stands still while anything can happen and jumps to the next alarm when nothing can, so a test of a year's sleep
takes no time. A crash drops the engine without a word and opens another on the same store; callers are moved to it,
like clients that retry.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, TypeGuard, TypeVar

from plait.agents.model import Model
from plait.dialects.code.definition import Workflow
from plait.engine import Handle
from plait.engine.ask import ask
from plait.kernel import values
from plait.kernel.bundle import Startable
from plait.kernel.errors import Unavailable
from plait.kernel.events import Recorded
from plait.kernel.ids import Ids, run_key
from plait.kernel.inputs import AnyInput, Cancel, Resume
from plait.kernel.limits import Limits
from plait.kernel.store import RunRow
from plait.kernel.view import Reason, RunStatus, RunView
from plait.registry.engine import Engine
from plait.stores.memory import MemoryStore
from plait.testing.clock import START, VirtualClock
from plait.testing.history import History

T = TypeVar("T")

Definition = Startable | str
"""What can be started: a definition of any dialect, or a name; the simulation must have the definitions that it
needs."""

LEASE = 1000 * 366 * 86_400.0
"""Seconds: so long that renewals don't interrupt jumps through years of sleep."""
_FOREVER = 200 * 366 * 86_400_000
"""Milliseconds: longer than any wait of a workflow; an alarm after that is a lease renewal."""
_ROUNDS = 200
"""Rounds after which an event loop that can't report whether it is idle (uvloop) counts as idle."""
_REAL_WAIT = 0.001


class StuckError(AssertionError):
    """The run waits for something that can never happen in this simulation."""


class SimulatedCrash(BaseException):
    """The process is gone: nothing may catch this by accident."""


class Sim:
    """The object that `sim()` yields. `engine` is the current one; each crash replaces it."""

    engine: Engine

    def __init__(
        self,
        definitions: Iterable[object],
        *,
        seed: int,
        code_cache: int,
        limits: Limits | None,
        store: MemoryStore | None,
        start: datetime = START,
        ids: Ids | None = None,
        models: Mapping[str, Model] | None = None,
    ) -> None:
        self.clock = VirtualClock(start)
        self.store = store or MemoryStore(clock=self.clock)
        self.crashes = 0
        self._own_store = store is None
        self._definitions = list(definitions)
        self._ids = ids or Ids(seed)
        self._code_cache = code_cache
        self._limits = limits
        self._models = models
        self._reopening = asyncio.Lock()
        self.clock.settle = self.settle

    # -- life ----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        await self.store.open()
        self.engine = await self._open_engine()

    async def close(self) -> None:
        if self.engine.kernel.dead.done():
            await self.engine.kernel.crash()
            await self.engine.goals.close()
            await self.engine.executors.close()
        else:
            await self.engine.__aexit__(None, None, None)
        if self._own_store:
            await self.store.dispose()

    async def crash(self) -> None:
        """Drops the engine without a word, as `kill -9` does, and opens another on the same store."""
        await self._reopen(self.engine)

    async def _reopen(self, dead: Engine) -> None:
        async with self._reopening:
            while self.engine is dead:
                self.crashes += 1
                await dead.kernel.crash()
                await dead.goals.close()
                await dead.executors.close()
                await self.store.release(dead.kernel.owner)  # as if its leases had expired
                self.engine = await self._open_engine()

    async def _open_engine(self) -> Engine:
        """Retries until it is open: an engine may crash while it starts, too."""
        while True:
            engine = Engine(
                definitions=self._definitions,
                code_cache=self._code_cache,
                limits=self._limits,
                lease_ttl=LEASE,
                store=self.store,
                clock=self.clock,
                ids=self._ids,
                models=self._models,
            )
            try:
                return await engine.__aenter__()
            except (SimulatedCrash, Unavailable) as error:  # the latter if it had something to write itself
                if not isinstance(error, SimulatedCrash):
                    _raise_unless_simulated(engine)
                self.crashes += 1
                await self.store.release(engine.kernel.owner)

    # -- runs ----------------------------------------------------------------------------------------------------

    async def start(
        self,
        definition: Definition,
        input: Any = None,
        *,
        id: str | None = None,
        namespace: str = "default",
        deadline: float | timedelta | None = None,
        labels: dict[str, str] | None = None,
    ) -> SimRun:
        """Starts a run; the returned handle may be used across crashes."""
        if is_workflow(definition) and definition not in self._definitions:
            self._definitions.append(definition)  # the engine after a crash must know it too
        key = id if id is not None else self._ids.run_id(self.clock.now())

        async def start(engine: Engine) -> None:
            await engine.start(definition, input, id=key, namespace=namespace, deadline=deadline, labels=labels)

        await self.durably(start)
        return SimRun(self, key, namespace)

    async def run(self, definition: Definition, input: Any = None, **options: Any) -> Any:
        """Starts a run and returns its output; idle time is skipped."""
        return await self.result(await self.start(definition, input, **options))

    async def result(self, run: SimRun | Handle[Any]) -> Any:
        """The output of a run; idle time is skipped. Raises what `Handle.result` raises."""
        if isinstance(run, Handle):
            run = SimRun(self, run.id, run.namespace)
        await self.skip_until(run.ended)
        return await run.on_handle(lambda handle: handle.result())

    # -- time ----------------------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Runs until nothing can happen unless time passes or someone outside acts. Reopens an engine that crashed."""
        rounds = 0
        while True:
            engine = self.engine
            if engine.kernel.dead.done():
                _raise_unless_simulated(engine)
                await self._reopen(engine)
                continue
            await asyncio.sleep(0)
            rounds += 1
            if engine.kernel.running > self.clock.asleep or engine.kernel.resolving:
                if rounds > _ROUNDS:  # a thread, or a step that waits for the real world
                    await asyncio.sleep(_REAL_WAIT)
            elif engine.kernel.idle or _loop_is_idle(rounds):
                return

    async def skip_until(self, done: Callable[[], Awaitable[bool]]) -> None:
        """Jumps from alarm to alarm until `done` returns true."""
        await self.settle()
        while not await done():
            due = self.clock.next_due()
            if due is None or due - self.clock.elapsed > _FOREVER:
                raise StuckError(await self._why_stuck())
            self.clock.ring()
            await self.settle()

    async def _why_stuck(self) -> str:
        lines = ["nothing will ever happen again, and these runs wait:"]
        for row in await self.engine.runs():
            if row.status == "running":
                handle = await self.engine.get(SimRun(self, row.id.rpartition("/")[2], row.namespace).id, row.namespace)
                reasons = "; ".join(reason.text for reason in await handle.waiting())
                lines.append(f"  {handle.id} ({row.definition}): {reasons}")
        return "\n".join(lines)

    async def durably(self, call: Callable[[Engine], Awaitable[T]]) -> T:
        """Calls until a live engine has answered, like a client that retries."""
        while True:
            engine = self.engine
            task = asyncio.ensure_future(call(engine))
            try:
                await asyncio.wait([task, engine.kernel.dead], return_when=asyncio.FIRST_COMPLETED)
                if task.done() and not (engine.kernel.dead.done() and isinstance(task.exception(), Unavailable)):
                    return task.result()
            finally:
                if not task.done():
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
            _raise_unless_simulated(engine)
            await self._reopen(engine)


class SimRun:
    """A handle that outlives its engine: each call goes to the current one."""

    def __init__(self, sim: Sim, id: str, namespace: str) -> None:
        self.id = id
        self.namespace = namespace
        self._sim = sim

    def __repr__(self) -> str:
        return f"<SimRun {self.id}>"

    async def result(self) -> Any:
        """Like `sim.result(run)`."""
        return await self._sim.result(self)

    async def ended(self) -> bool:
        """Ended, or blocked until someone acts."""
        row = await self.row()
        return row.status != "running" or row.blocked is not None

    async def history(self) -> History:
        return History(await self.events())

    async def message(self, name: str, body: Any = None, id: str | None = None) -> str:
        key = id or self._sim.engine.kernel.ids.key()  # one id for all tries
        return await self.on_handle(lambda handle: handle.message(name, body, key))

    async def update(self, name: str, body: Any = None, id: str | None = None) -> Any:
        key = id or self._sim.engine.kernel.ids.key()
        return await self.on_handle(lambda handle: handle.update(name, body, key))

    async def query(self, name: str, argument: Any = None) -> Any:
        return await self.on_handle(lambda handle: handle.query(name, argument))

    async def published(self, key: str) -> Any:
        return await self.on_handle(lambda handle: handle.published(key))

    async def cancel(self, reason: str = "", compensate: bool = False) -> None:
        await self._ask(Cancel(values.text("the reason", reason, max_length=10_000), compensate))

    async def retry(self, at: str | None = None) -> None:
        await (self._ask(Resume("retry")) if at is None else self.rewind(at))

    async def rewind(self, at: str | None = None) -> None:
        await self.on_handle(lambda handle: handle.rewind(at))

    async def compensate(self) -> None:
        await self._ask(Resume("compensate"))

    async def fork(self, at: int | str | None = None, edits: Mapping[str, Any] | None = None) -> SimRun:
        forked = await self.on_handle(lambda handle: handle.fork(at, edits))
        return SimRun(self._sim, forked.id, self.namespace)

    async def row(self) -> RunRow:
        return await self.on_handle(lambda handle: handle.row())

    async def status(self) -> RunStatus:
        return await self.on_handle(lambda handle: handle.status())

    async def view(self) -> RunView:
        return await self.on_handle(lambda handle: handle.view())

    async def waiting(self) -> list[Reason]:
        return await self.on_handle(lambda handle: handle.waiting())

    async def events(self, after: int = 0, limit: int | None = None) -> list[Recorded]:
        return await self.on_handle(lambda handle: handle.events(after, limit))

    async def _ask(self, input: AnyInput) -> None:
        key = self._sim.engine.kernel.ids.key()  # one for all tries: it is one request
        await self._sim.durably(lambda engine: ask(engine.kernel, run_key(self.namespace, self.id), input, key))

    async def on_handle(self, call: Callable[[Handle[Any]], Awaitable[T]]) -> T:
        async def on(engine: Engine) -> T:
            return await call(await engine.get(self.id, self.namespace))

        return await self._sim.durably(on)


@asynccontextmanager
async def sim(
    definitions: Iterable[object] = (),
    *,
    seed: int = 0,
    code_cache: int = 1000,
    limits: Limits | None = None,
    store: MemoryStore | None = None,
    start: datetime = START,
    models: Mapping[str, Model] | None = None,
) -> AsyncGenerator[Sim]:
    """An engine for tests, with virtual time and crashes on demand. The same seed gives the same ids."""
    found = Sim(definitions, seed=seed, code_cache=code_cache, limits=limits, store=store, start=start, models=models)
    await found.open()
    try:
        yield found
    finally:
        await found.close()


def is_workflow(definition: object) -> TypeGuard[Workflow[..., Any]]:
    """Whether it is code, which an engine must have before it can take over a run of it."""
    return isinstance(definition, Workflow)


def _raise_unless_simulated(engine: Engine) -> None:
    """A run loop that died by itself is a bug of the engine, and the test must show it."""
    dead = engine.kernel.dead
    if dead.done() and not dead.cancelled() and not isinstance(dead.exception(), SimulatedCrash):
        raise RuntimeError("the engine died") from dead.exception()


def _loop_is_idle(rounds: int) -> bool:
    """Whether nothing else on this event loop can run before time passes."""
    ready = getattr(asyncio.get_running_loop(), "_ready", None)
    return rounds > _ROUNDS if ready is None else rounds > 2 and not ready
