"""Workers whose connection dies between a claim and its answer, and workers whose clock is wrong: no task is lost, none
is done twice without need, and each result is recorded once."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from plait import Engine
from plait.client import Client
from plait.kernel.clock import SystemClock
from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis
from plait.kernel.queued import ClaimRequest, HeldTask
from plait.stores.postgres import PostgresStore
from plait.workers.queue_worker import QueueWorker, WorkerSettings
from plait.workers.task_source import TaskSource
from tests.faults import remote_flows
from tests.faults.cutting_proxy import cutting
from tests.server.serving import serving

DAY = 24 * 3600 * 1000
TASKS = 20


class WrongClock(SystemClock):
    def __init__(self, ahead: int) -> None:
        self._ahead = ahead

    def now(self) -> Millis:
        return Millis(super().now() + self._ahead)


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the steps did: number and key."""
    found: list[str] = []
    monkeypatch.setattr(remote_flows, "note", lambda line: found.append(" ".join(line.split()[:2])))
    return found


@asynccontextmanager
async def working(engine: Engine, source: TaskSource, clock: SystemClock, lease: float) -> AsyncGenerator[None]:
    settings = WorkerSettings(
        name="w", queues=["chaos"], namespace=DEFAULT_NAMESPACE, concurrency=4, lease=lease, drain=5
    )
    executors = [each for bundle in engine.bundles.values() for each in bundle.executors]
    worker = QueueWorker(source, [*engine.executors.all, *executors], clock, settings)
    running = asyncio.ensure_future(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await running


async def crowd(client: Any) -> list[Any]:
    """The events of a run whose steps are all done by workers."""
    run = await client.start("crowd", TASKS, id="crowd")
    assert await run.result() == sum(range(TASKS))
    events = await run.events()
    closed = [event.data["at"] for event in events if event.type == "op.closed"]
    assert sorted(closed) == sorted(f"e{n}" for n in range(TASKS)), "each result once"
    return events


def lost(events: list[Any]) -> list[str]:
    return [event.data["token"] for event in events if event.type == "task.queued" and event.data.get("lost_worker")]


# -- connections -------------------------------------------------------------------------------------------------------


async def test_a_connection_that_dies_between_claim_and_answer_neither_loses_nor_doubles_a_task(
    notes: list[str],
):
    async with (
        serving(definitions=(remote_flows,)) as served,
        cutting(served.url) as proxy,
        Client(served.url) as client,
        Client(proxy.url) as through,
    ):
        proxy.cuts[b"/tasks/claim"] = 1
        async with working(served.engine, through.queues, SystemClock(), lease=1):
            events = await crowd(client)
        assert proxy.cuts[b"/tasks/claim"] == 0
    assert lost(events), "what nobody heard of was given again once its lease was over"
    assert set(notes) == {f"{n} crowd:e{n}:0" for n in range(TASKS)}, "each under its key"


async def test_a_connection_that_dies_between_report_and_answer_records_each_result_once(notes: list[str]):
    async with (
        serving(definitions=(remote_flows,)) as served,
        cutting(served.url) as proxy,
        Client(served.url) as client,
        Client(proxy.url) as through,
    ):
        proxy.cuts[b"/tasks/report"] = 3
        async with working(served.engine, through.queues, SystemClock(), lease=30):
            events = await crowd(client)
        assert proxy.cuts[b"/tasks/report"] == 0
    assert not [event for event in events if event.type == "task.late"], "the same report again is one"
    assert sorted(notes) == sorted(f"{n} crowd:e{n}:0" for n in range(TASKS))


async def test_a_database_that_is_lost_between_claim_and_answer_neither_loses_nor_doubles_a_task(
    postgres_url: str, notes: list[str], monkeypatch: pytest.MonkeyPatch
):
    async with (
        Engine(postgres_url, definitions=[remote_flows]) as engine,
        Engine(postgres_url, definitions=[remote_flows], work=False) as other,
    ):
        claim, fails = other.kernel.store.queues.claim, iter([True])

        async def unheard(request: ClaimRequest) -> list[HeldTask]:
            found = await claim(request)
            if found and next(fails, False):
                raise Unavailable("store.unreachable", "the answer was lost")
            return found

        assert isinstance(other.kernel.store, PostgresStore)
        monkeypatch.setattr(other.kernel.store.queues, "claim", unheard)
        async with working(other, other.queues, SystemClock(), lease=1):
            events = await crowd(engine)
    assert lost(events)
    assert set(notes) == {f"{n} crowd:e{n}:0" for n in range(TASKS)}


# -- clocks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [-DAY, DAY], ids=["behind", "ahead"])
async def test_a_worker_whose_clock_is_wrong_keeps_its_tasks_on_a_server(ahead: int, notes: list[str]):
    async with (
        serving(definitions=(remote_flows,)) as served,
        Client(served.url) as client,
        working(served.engine, client.queues, WrongClock(ahead), lease=30),
    ):
        events = await crowd(client)
    assert not lost(events)
    assert len(notes) == TASKS


@pytest.mark.parametrize("ahead", [-DAY, DAY], ids=["behind", "ahead"])
async def test_a_worker_whose_clock_is_wrong_keeps_its_tasks_on_a_database(
    postgres_url: str, ahead: int, notes: list[str]
):
    clock = WrongClock(ahead)
    async with (
        Engine(postgres_url, definitions=[remote_flows]) as engine,
        Engine(postgres_url, definitions=[remote_flows], work=False, clock=clock) as other,
    ):
        before = engine.kernel.clock.now()
        async with working(other, other.queues, clock, lease=30):
            events = await crowd(engine)
        times = [event.at for event in events]
        assert before - 60_000 < min(times) <= max(times) < engine.kernel.clock.now() + 60_000, "by the owner's clock"
    assert not lost(events)
    assert len(notes) == TASKS


@pytest.mark.parametrize("ahead", [-DAY, DAY], ids=["behind", "ahead"])
async def test_a_worker_whose_clock_is_wrong_loses_its_lease_as_others_do(postgres_url: str, ahead: int):
    async with (
        Engine(postgres_url, definitions=[remote_flows]) as engine,
        Engine(postgres_url, work=False, clock=WrongClock(ahead)) as other,
    ):
        run = await engine.start("crowd", 1)
        [stalled] = await other.queues.claim("stalled", ["chaos"], lease_ms=1_000, wait_ms=10_000)
        [task] = await engine.queues.claim("quick", ["chaos"], wait_ms=20_000)
        assert (task.attempt, task.key) == (2, stalled.key)
        await engine.queues.complete(task.id, 7)
        with pytest.raises(PlaitError) as late:
            await other.queues.complete(stalled.id, 8)
        assert late.value.code == "task.settled"
        assert await run.result() == 7
