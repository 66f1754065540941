"""A whole engine on virtual time, with Python steps that do as they are told: at once, or when the test lets them.

    async with bench(work("fetch", "user_id", "email"), work("send", "email", "sent")) as b:
        run = await b.start("send", {"user_id": 1})
        await b.finish("fetch", email="a@b")
        b.plays("send", {"sent": True})

A step without orders waits until `finish` or `fail`; one with orders follows them call by call, and repeats the last.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from plait import Engine, Handle, goals
from plait.dialects.goals.running.state import FlowState, ItemState
from plait.dialects.goals.steps.builder import PythonStep, StepBuilder, catalog_step
from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Ids
from plait.kernel.inputs import Message
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock
from tests.dialects.goals.running.tale import Tale, told
from tests.dialects.goals.running.wire import Wire

LEASE = 1000 * 366 * 86_400.0
_ROUNDS = 5_000
_QUIET = 12


def work(id: str, needs: str = "", gives: str = "") -> StepBuilder:
    """A Python step that requires some names and gives others; the bench does its work."""
    building = catalog_step(id).python(id)
    for name in needs.split():
        building = building.required(name)
    for name in gives.split():
        building = building.output(name)
    return building


@dataclass
class Call:
    """One attempt of an item, or of its compensator."""

    step: str
    inputs: dict[str, Any]
    answer: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Bench:
    engine: Engine

    def __init__(self, steps: tuple[StepBuilder | PythonStep[..., Any], ...], cache: int, **options: Any) -> None:
        self.clock = VirtualClock()
        self.store = MemoryStore(clock=self.clock)
        self.clock.settle = self.settle
        self.wire = Wire()
        self.calls: list[Call] = []
        self._steps = steps
        self._cache = cache
        self._options = options
        self._orders: dict[str, list[Any]] = {}

    # -- life ----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        self.engine = Engine(
            store=self.store,
            clock=self.clock,
            ids=Ids(seed=1),
            lease_ttl=LEASE,
            code_cache=self._cache,
            **{"definitions": [], **self._options},
        )
        self.engine.executors.send = self.wire.send  # step servers on virtual time
        for each in self._steps:
            built = each.definition if isinstance(each, PythonStep) else each.build()
            if built.python is not None and isinstance(each, StepBuilder):
                self.knows(built.python.handler)
            if built.python is not None and built.python.compensate:
                self.knows(built.python.compensate)
        self.prepare()
        await self.engine.__aenter__()
        async with self.engine.catalog.transaction() as changes:
            for each in self._steps:
                changes.upsert(each)
        await self.settle()

    def prepare(self) -> None:
        """Before the engine is open, and takes up what it finds."""

    async def close(self) -> None:
        await self.engine.__aexit__(None, None, None)
        await self.store.dispose()

    async def crash(self) -> None:
        """The process is gone, and another takes over."""
        await self.engine.kernel.crash()
        await self.engine.goals.close()
        await self.engine.executors.close()
        await self.store.release(self.engine.kernel.owner)
        await self.open()

    async def settle(self) -> None:
        """Until nothing moves unless time passes or a step is let go."""
        quiet = 0
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
            kernel = self.engine.kernel
            assert not kernel.dead.done(), "the run loop died"
            quiet = quiet + 1 if kernel.loop.idle and not kernel.run_cache.loading else 0
            if quiet > _QUIET:
                return
        raise AssertionError("it never comes to rest")

    async def wait(self, seconds: float) -> None:
        await self.clock.advance(seconds)

    # -- steps ---------------------------------------------------------------------------------------------------

    def knows(self, name: str) -> None:
        """Registers the bench's own function under a name."""
        self.engine.goals.handlers.add(name, self._handler(name))

    def plays(self, step_id: str, *orders: Any) -> None:
        """What its calls come to: outputs, an exception, or a function of the inputs; the last for all further."""
        self._orders[step_id] = list(orders)

    def _handler(self, name: str) -> Callable[..., Any]:
        async def handler(**inputs: Any) -> Any:
            call = Call(name, inputs)
            self.calls.append(call)
            orders = self._orders.get(name)
            if orders is None:
                return await call.answer
            order = orders.pop(0) if len(orders) > 1 else orders[0]
            call.answer.cancel()
            result = order(inputs) if callable(order) and not isinstance(order, type) else order
            if isinstance(result, BaseException):
                raise result
            return result

        return handler

    def waiting(self, step_id: str) -> list[Call]:
        """Calls that nobody has answered."""
        return [call for call in self.calls if call.step == step_id and not call.answer.done()]

    def inputs(self, step_id: str) -> list[dict[str, Any]]:
        """What it was called with, call by call."""
        return [call.inputs for call in self.calls if call.step == step_id]

    def ran(self) -> list[str]:
        return [call.step for call in self.calls]

    async def finish(self, step_id: str, which: int = 0, **outputs: Any) -> None:
        self.waiting(step_id)[which].answer.set_result(outputs)
        await self.settle()

    async def fail(self, step_id: str, text: str = "boom", which: int = 0, *, final: bool = False) -> None:
        self.waiting(step_id)[which].answer.set_exception(boom(text, final=final))
        await self.settle()

    # -- runs ----------------------------------------------------------------------------------------------------

    async def start(
        self, wanted: str | tuple[str, ...], init: Mapping[str, Any] | None = None, id: str = "run", **options: Any
    ) -> BenchRun:
        names = (wanted,) if isinstance(wanted, str) else wanted
        await self.engine.start(goals(*names), dict(init or {}), id=id, **options)
        await self.settle()
        return BenchRun(self, id)


class BenchRun:
    def __init__(self, bench: Bench, id: str) -> None:
        self.bench = bench
        self.id = id

    async def handle(self) -> Handle[Any]:
        return await self.bench.engine.get(self.id)

    async def state(self) -> FlowState:
        handle = await self.handle()
        run = await self.bench.engine.kernel.peek(await handle.row())
        return run.machine.flow.state  # pyright: ignore

    async def tale(self) -> Tale:
        """What happened, under the names of the spec."""
        return told(await (await self.handle()).events())

    async def status(self) -> str:
        return await (await self.handle()).status()

    async def statuses(self) -> dict[str, str]:
        return {step_id: each.status for step_id, each in (await self.state()).steps.items()}

    async def error(self) -> ErrorInfo:
        found = (await (await self.handle()).row()).error
        assert found is not None, await self.tale()
        return found

    async def output(self) -> Any:
        """Of a run that has completed by now."""
        assert await self.status() == "completed", f"{await self.reasons()}\n{await self.tale()}"
        return await (await self.handle()).result()

    async def reasons(self) -> list[str]:
        return [reason.text for reason in await (await self.handle()).waiting()]

    async def values(self, name: str) -> list[tuple[str, Any]]:
        """The values of an attribute with who gave them."""
        found = (await self.state()).attributes.get(name, [])
        return [(each.step, values.decode(each.value)) for each in found]

    async def items(self, step_id: str) -> list[ItemState]:
        return list((await self.state()).steps[step_id].items.values())

    async def token(self, step_id: str, place: int = 0) -> str:
        return list((await self.state()).steps[step_id].items)[place]

    async def webhook(self, token: str, body: Any, *, failed: bool = False, id: str = "") -> bytes | None:
        """The answer of a step server."""
        kernel = self.bench.engine.kernel
        name = f"{'failed' if failed else 'work'}:{token}"
        key = id or kernel.ids.key()
        row = await (await self.handle()).row()
        await kernel.send(row.id, Message(key, name, values.encode(body)), key)
        taken = await kernel.reply(row.id, key)
        await self.bench.settle()
        return taken.reply


class Boom(Exception):
    """A step that fails."""


class FinalBoom(Boom):
    retryable = False


def boom(text: str = "boom", *, final: bool = False) -> Boom:
    return FinalBoom(text) if final else Boom(text)


@asynccontextmanager
async def bench(*steps: StepBuilder | PythonStep[..., Any], cache: int = 1000, **options: Any) -> AsyncGenerator[Bench]:
    found = Bench(steps, cache, **options)
    await found.open()
    try:
        yield found
    finally:
        await found.close()
