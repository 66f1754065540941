"""The Python worker, when what it sends is not taken, and when it is to stop at a bad moment."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import Raw

from plait import Engine, heartbeat, step, workflow
from plait.api.task import QueueTask, TaskReport
from plait.client import Client
from plait.kernel.clock import Clock, SystemClock
from plait.kernel.errors import Forbidden, PlaitError, RunFailed, TooLarge
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock
from plait.workers.queue_worker import QueueWorker
from tests.server.serving import serving
from tests.workers.test_queue_worker import settings

HERE = sys.modules[__name__]
THREADS = 40
"""More than an engine has for the steps of its own process."""
together = threading.Barrier(THREADS)
begun: asyncio.Event
beaten: asyncio.Event


def nested(levels: int) -> Any:
    return [] if levels == 1 else [nested(levels - 1)]


class LongName(Exception):
    pass


LongName.__qualname__ = "N" * 5_000


@step(queue="gpu", max_attempts=1)
async def awkward(what: str) -> Any:
    """Fit for a step of the engine's own process, and not for the body of a request."""
    match what:
        case "nested":
            return nested(128)
        case "number":
            return 10**400
        case "name":
            raise LongName("my name is long")
        case _:
            return what


@step(queue="gpu")
def in_step(number: int) -> int:
    together.wait(30)
    return number


@step(queue="gpu", max_attempts=1, timeout=None, heartbeat_timeout=6)
async def lively() -> str:
    begun.set()
    for page in range(30):
        heartbeat({"page": page})
        await beaten.wait()
        beaten.clear()
    return "done"


@workflow
async def one(ctx: Any, what: str) -> Any:
    return await ctx.step("awkward", awkward, what)


@workflow
async def many(ctx: Any, count: int) -> int:
    return len(await asyncio.gather(*(ctx.step(f"s{n}", in_step, n) for n in range(count))))


@workflow
async def long(ctx: Any) -> str:
    return await ctx.step("lively", lively)


def worker_of(engine: Engine, source: Any = None, clock: Clock | None = None, **more: Any) -> QueueWorker:
    executors = [each for bundle in engine.bundles.values() for each in bundle.executors]
    executors = [*engine.executors.all, *executors]
    return QueueWorker(source or engine.queues, executors, clock or SystemClock(), settings(**more))


@asynccontextmanager
async def working(worker: QueueWorker) -> AsyncGenerator[None]:
    """Raises what the worker raises, instead of waiting for results that will not come."""
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        running = group.create_task(worker.run())
        yield
        worker.stop()
        await running


class Source:
    """The queues of an engine, for tests that change one of their calls."""

    def __init__(self, engine: Engine) -> None:
        self.queues = engine.queues

    def __getattr__(self, name: str) -> Any:
        return getattr(self.queues, name)


# -- what is not taken -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "said"),
    [("nested", "nested deeper than 128 levels"), ("number", "a number has 401 characters"), ("name", "is long")],
)
async def test_what_a_server_can_not_take_fails_its_step_and_harms_no_other(what: str, said: str):
    async with serving("memory:", definitions=(HERE,)) as served, Client(served.url) as client:
        runs = [await served.engine.start(one, each) for each in ("first", what, "last")]
        async with working(worker_of(served.engine, client.queues)):
            assert await runs[0].result() == "first"
            with pytest.raises(RunFailed, match=said):
                await runs[1].result()
            assert await runs[2].result() == "last"
        assert [event.type for event in await runs[1].events()].count("task.queued") == 1


class Broken(Source):
    """A server with a bug that one result brings out."""

    async def report(self, reports: Sequence[TaskReport], *, namespace: str) -> list[PlaitError | None]:
        if any(each.output == Raw(b'"bad"') for each in reports):
            raise PlaitError("server.bug", "something went wrong")
        return await self.queues.report(reports, namespace=namespace)


async def test_a_result_that_the_server_fails_over_is_given_up_and_the_others_are_reported():
    clock = VirtualClock()
    async with Engine(store=MemoryStore(clock=clock), clock=clock, definitions=[HERE]) as engine:
        runs = [await engine.start(one, each) for each in ("first", "bad", "last")]
        worker = worker_of(engine, Broken(engine), clock)
        async with working(worker):
            for _ in range(20):
                await clock.advance(1)
            assert [await runs[0].result(), await runs[2].result()] == ["first", "last"]
            assert not worker._held


class NoProgress(Source):
    async def heartbeat(self, id: str, progress: Raw | None = None, **options: Any) -> bool:
        if progress is not None:
            raise TooLarge("http.body_too_large", "the body is too large")
        return await self.queues.heartbeat(id, **options)


@pytest.mark.parametrize("source", [Source, NoProgress])
async def test_a_step_that_beats_in_time_keeps_its_task_however_long_the_lease_is(source: type[Source]):
    global begun, beaten
    begun, beaten = asyncio.Event(), asyncio.Event()
    clock = VirtualClock()
    async with Engine(store=MemoryStore(clock=clock), clock=clock, definitions=[HERE]) as engine:
        run = await engine.start(long)
        async with working(worker_of(engine, source(engine), clock, lease=60)):
            await begun.wait()
            for _ in range(30):
                await clock.advance(1)
                beaten.set()
            assert await run.result() == "done"


async def test_a_worker_whose_key_is_refused_does_not_wait_for_what_it_can_not_report():
    class Revoked(Source):
        async def report(self, reports: Sequence[TaskReport], *, namespace: str) -> list[PlaitError | None]:
            raise Forbidden("auth.forbidden", "this key may not report")

    async with Engine("memory:", definitions=[HERE]) as engine:
        await engine.start(one, "x")
        with pytest.raises(Forbidden):
            await asyncio.wait_for(worker_of(engine, Revoked(engine), drain=3_600).run(), 30)
        [task] = await engine.queues.claim("other", ["gpu"])
        assert task.attempt == 1


# -- how much at a time, and its end -----------------------------------------------------------------------------------


async def test_as_many_plain_functions_run_at_a_time_as_the_worker_may_do():
    async with Engine("memory:", definitions=[HERE]) as engine:
        run = await engine.start(many, THREADS)
        async with working(worker_of(engine, concurrency=THREADS)):
            assert await run.result() == THREADS


class SlowAnswer(Source):
    """Like a server far away: its answer is on its way when the worker hangs up."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.given = asyncio.Event()
        self.arrive = asyncio.Event()

    async def claim(self, *args: Any, **options: Any) -> list[QueueTask]:
        found = await self.queues.claim(*args, **options)
        if found:
            self.given.set()
            await self.arrive.wait()
        return found


async def test_what_a_worker_is_given_just_when_it_is_to_stop_is_given_back_at_once():
    clock = VirtualClock()
    async with Engine(store=MemoryStore(clock=clock), clock=clock, definitions=[HERE]) as engine:
        await engine.start(one, "x")
        source = SlowAnswer(engine)
        worker = worker_of(engine, source, clock)
        async with working(worker):
            await source.given.wait()
            worker.stop()
            source.arrive.set()
        assert not worker._held
        [task] = await engine.queues.claim("other", ["gpu"])
        assert task.attempt == 1
