"""The Python worker: it does what it claims, keeps its leases, and leaves nothing behind when it goes."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from plait import Engine, goals
from plait.api.task import QueueTask, TaskReport
from plait.kernel.clock import SystemClock
from plait.kernel.errors import PlaitError, RunFailed, TooLarge, Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.workers.queue_worker import QueueWorker, WorkerSettings
from tests.engine.places import until
from tests.workers import queued_flows
from tests.workers.queued_flows import calls, catching


def settings(**more: Any) -> WorkerSettings:
    return WorkerSettings(name="w", queues=["gpu"], namespace=DEFAULT_NAMESPACE, **more)


@asynccontextmanager
async def engine_only() -> AsyncGenerator[Engine]:
    async with Engine("memory:", definitions=[queued_flows]) as engine:
        yield engine


def worker_of(engine: Engine, source: Any = None, **more: Any) -> QueueWorker:
    executors = [each for bundle in engine.bundles.values() for each in bundle.executors]
    return QueueWorker(source or engine.queues, [*engine.executors.all, *executors], SystemClock(), settings(**more))


@asynccontextmanager
async def working(engine: Engine, source: Any = None, **more: Any) -> AsyncGenerator[QueueWorker]:
    worker = worker_of(engine, source, **more)
    running = asyncio.ensure_future(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await running


class Flaky:
    """A source of tasks that fails at first, or refuses what is large."""

    def __init__(self, engine: Engine, failures: int = 0, limit: int = 10**9) -> None:
        self._queues = engine.queues
        self.failures = failures
        self._limit = limit

    async def claim(self, *args: Any, **options: Any) -> list[QueueTask]:
        self._fail()
        return await self._queues.claim(*args, **options)

    async def heartbeat(self, *args: Any, **options: Any) -> bool:
        return await self._queues.heartbeat(*args, **options)

    async def release(self, *args: Any, **options: Any) -> None:
        await self._queues.release(*args, **options)

    async def report(self, reports: Sequence[TaskReport], *, namespace: str) -> list[PlaitError | None]:
        self._fail()
        if any(each.output is not None and len(bytes(each.output)) > self._limit for each in reports):
            raise TooLarge("http.body_too_large", "the body is too large")
        return await self._queues.report(reports, namespace=namespace)

    def _fail(self) -> None:
        if self.failures:
            self.failures -= 1
            raise Unavailable("client.dropped", "the server is away")


async def test_steps_are_done_by_name_async_and_in_threads():
    async with engine_only() as engine, working(engine) as worker:
        assert "double" in worker.handlers
        assert "shout" in worker.handlers
        assert await (await engine.start(calls, "double")).result() == 42
        assert await (await engine.start(calls, "blocking", id="b")).result() == "blocking 1 b:blocking:0 7"


async def test_a_python_step_of_goals_is_done_on_its_queue():
    async with engine_only() as engine, working(engine):
        run = await engine.start(goals("shout"), {"text": "tea"})
        assert list((await run.result()).values()) == ["TEA"]
        assert "task.queued" in [event.type for event in await run.events()]


async def test_a_compensation_of_goals_is_done_on_the_queue_of_its_step():
    queued_flows.undone.clear()
    async with engine_only() as engine, working(engine):
        run = await engine.start(goals("pay-room"), {"text": "suite"})
        with pytest.raises(RunFailed):
            await run.result()
        queued = [event.data["token"] for event in await run.events() if event.type == "task.queued"]
        assert len(queued) == 2
        assert queued_flows.undone == ["suite"]


async def test_a_memoizable_step_of_goals_is_done_once_by_a_worker_for_equal_inputs():
    queued_flows.looked_up.clear()
    async with engine_only() as engine, working(engine):
        found = [await looking_up(engine, country) for country in ("norway", "norway", "chad")]
    assert found == [({"rate": 6}, False), ({"rate": 6}, True), ({"rate": 4}, False)]
    assert queued_flows.looked_up == ["norway", "chad"]


async def test_what_failed_is_not_remembered_by_a_worker():
    queued_flows.looked_up.clear()
    async with engine_only() as engine, working(engine):
        for _ in range(2):
            with pytest.raises(RunFailed):
                await looking_up(engine, "nowhere")
    assert queued_flows.looked_up == ["nowhere", "nowhere"]


async def looking_up(engine: Engine, country: str) -> tuple[Any, bool]:
    """The outputs, and whether they were known."""
    run = await engine.start(goals("look-up"), {"country": country})
    found = await run.result()
    [worked] = [event.data for event in await run.events() if event.type == "work_succeeded"]
    return found, worked.get("memo", False)


async def test_an_error_that_is_never_retried_is_final():
    async with engine_only() as engine, working(engine):
        run = await engine.start(calls, "refused")
        with pytest.raises(RunFailed, match="not this one") as failed:
            await run.result()
        assert isinstance(failed.value.__cause__, queued_flows.Refused)


async def test_a_timeout_stops_the_attempt_in_the_worker():
    async with engine_only() as engine, working(engine):
        with pytest.raises(RunFailed, match=r"took longer than 0.05 s"):
            await (await engine.start(calls, "slow")).result()


async def test_a_group_of_exceptions_comes_back_with_its_parts_cause_and_notes():
    async with engine_only() as engine, working(engine):
        here, there = [await (await engine.start(catching, place)).result() for place in ("here", "queue")]
    assert there == here
    assert there == ["ValueError('the page is lost')", "Refused('no ink')", "page 7", "KeyError('page')"]


async def test_a_result_that_is_not_json_fails_the_step():
    async with engine_only() as engine, working(engine):
        with pytest.raises(RunFailed, match="can't be stored as JSON"):
            await (await engine.start(calls, "unserializable")).result()


async def test_a_result_that_the_server_does_not_take_fails_the_step_at_once():
    async with engine_only() as engine, working(engine, Flaky(engine, limit=10_000)):
        with pytest.raises(RunFailed, match="the body is too large"):
            await (await engine.start(calls, "large")).result()


async def test_a_server_that_is_away_is_asked_again_and_nothing_is_done_twice():
    async with engine_only() as engine:
        source = Flaky(engine, failures=1)
        async with working(engine, source):
            run = await engine.start(calls, "double")
            assert await run.result() == 42
            source.failures = 2
            assert await (await engine.start(calls, "double")).result() == 42
        assert "task.late" not in [event.type for event in await run.events()]


async def test_a_worker_that_is_stopped_finishes_what_is_under_way():
    async with engine_only() as engine:
        run = await engine.start(calls, "blocking")
        async with working(engine) as worker:
            await until(lambda: bool(worker._held))
        assert (await run.result()).startswith("blocking 1")


async def test_what_does_not_end_in_time_is_given_back_at_once():
    queued_flows.started = asyncio.Event()
    async with engine_only() as engine:
        run = await engine.start(calls, "endless")
        async with working(engine, drain=0.01):
            await queued_flows.started.wait()
        [task] = await engine.queues.claim("other", ["gpu"])
        assert (task.run_id, task.attempt) == (run.id, 1)


async def test_a_cancelled_run_stops_its_step_by_the_next_heartbeat():
    queued_flows.started, queued_flows.stopped = asyncio.Event(), asyncio.Event()
    async with engine_only() as engine, working(engine, lease=0.06):
        run = await engine.start(calls, "endless")
        await queued_flows.started.wait()
        await run.cancel()
        async with asyncio.timeout(10):
            await queued_flows.stopped.wait()


async def said(engine: Engine, run: Any) -> list[tuple[str, int, str, str]]:
    lines = await engine.kernel.store.lines(run._run_id, None, 0, 10_000)
    return [(line.node, line.attempt, line.level, line.text) for line in lines]


async def test_what_steps_say_is_in_the_logs_of_the_run():
    async with engine_only() as engine, working(engine):
        run = await engine.start("talk", 2)
        await run.result()
        await engine.kernel.task_logs.flush()
        assert await said(engine, run) == [
            ("chatty", 1, "info", "page 0"),
            ("chatty", 1, "warning", "page 1"),
            ("thread", 1, "info", "from a thread"),
        ]


async def test_a_step_that_says_too_much_is_cut_off_and_still_succeeds():
    async with engine_only() as engine, working(engine):
        run = await engine.start("talk", 2_000)
        await run.result()
        await engine.kernel.task_logs.flush()
        lines = [text for node, _, _, text in await said(engine, run) if node == "chatty"]
        assert (len(lines), lines[-1]) == (1_001, "more than 1,000 lines: the rest is not kept")


async def test_what_a_step_says_can_be_read_while_it_runs():
    async with engine_only() as engine, working(engine, drain=0.0), asyncio.timeout(10):
        run = await engine.start("talk_on")
        while not (found := await said(engine, run)):  # noqa: ASYNC110 -- no event tells
            await asyncio.sleep(0.001)
        assert found == [("on", 1, "info", "still here")]


async def test_lines_that_can_not_be_sent_harm_no_result():
    async with engine_only() as engine:
        source = Flaky(engine)

        async def silent(*_: Any, **__: Any) -> bool:
            raise Unavailable("client.dropped", "the server is away")

        source.heartbeat = silent
        async with working(engine, source):
            run = await engine.start("talk", 2)
            await run.result()
        assert await said(engine, run) == []


async def test_progress_goes_with_the_heartbeat():
    queued_flows.started, queued_flows.stopped = asyncio.Event(), None
    async with engine_only() as engine, working(engine, lease=0.06, drain=0):
        run = await engine.start(calls, "endless")
        await queued_flows.started.wait()
        beats = engine.kernel.store.queues
        async with asyncio.timeout(10):
            while bytes((await beats.held(run._run_id))[0].task.progress) == b"null":  # noqa: ASYNC110 -- no event tells
                await asyncio.sleep(0.005)


async def test_a_worker_does_no_more_than_it_may_at_a_time():
    queued_flows.started, queued_flows.stopped = asyncio.Event(), None
    async with engine_only() as engine:
        for n in range(3):
            await engine.start(calls, "endless", id=f"e{n}")
        async with working(engine, concurrency=2, drain=0) as worker:
            await queued_flows.started.wait()
            await until(lambda: len(worker._held) == 2)
            assert len(await engine.queues.claim("other", ["gpu"], limit=5)) == 1
