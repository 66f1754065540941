"""Opening and closing engines: clear words when it can't be opened, and nothing lost when it closes."""

import asyncio
import gc
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plait import Context, Engine, workflow
from plait.errors import InvalidInput, PlaitError, Unavailable
from plait.kernel.ids import RunId
from plait.stores.sqlite import SqliteStore
from tests.engine.flows import echo, listener, sleeper
from tests.engine.places import OnDisk, Place, soon, until


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mysql://localhost/db",
        "sqlite://plait.db",
        "sqlite:///",
        "sqlite:///x.db?synchronous=OFF",
        "sqlite:///x.db?mode=ro",
        "memory",
        "plait.db",
        "redis://localhost",
    ],
)
def test_a_url_that_names_no_database_is_refused(url: str):
    with pytest.raises(InvalidInput) as caught:
        Engine(url)
    assert caught.value.code == "store.bad_url"
    assert caught.value.fix


def test_a_password_is_not_shown():
    with pytest.raises(InvalidInput) as caught:
        Engine("mysql://me:secret@host/db")
    assert "secret" not in str(caught.value)


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(Unavailable) as caught:
        async with Engine(f"sqlite:///{tmp_path}/no/such/plait.db"):
            pass
    assert caught.value.code == "store.no_folder"
    assert "mkdir -p" in caught.value.fix


async def test_a_file_of_a_newer_plait_is_refused_and_left_alone(disk: OnDisk):
    async with disk.engine():
        pass
    with closing(sqlite3.connect(disk.path)) as db:
        db.execute("pragma user_version = 999")
        before = list(db.iterdump())
    with pytest.raises(Unavailable) as caught:
        async with disk.engine():
            pass
    assert caught.value.code == "store.schema_too_new"
    with closing(sqlite3.connect(disk.path)) as db:
        assert list(db.iterdump()) == before


async def test_a_file_that_is_no_database_is_refused(disk: OnDisk):
    disk.path.write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(Unavailable) as caught:
        async with disk.engine():
            pass
    assert caught.value.code == "store.not_a_database"


async def test_an_engine_that_could_not_open_holds_nothing(disk: OnDisk, monkeypatch: pytest.MonkeyPatch):
    """Neither the file nor the lock that says who owns it."""

    async def fail(self: object, shards: object) -> list[object]:
        raise RuntimeError("no")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "recovering", fail)
        with pytest.raises(RuntimeError):
            async with disk.engine():
                pass
    gc.disable()
    try:
        async with disk.engine() as engine:
            assert await (await engine.start(echo, 1)).result() == 1
    finally:
        gc.enable()


async def test_a_closed_engine_says_that_it_is_closed(place: Place):
    async with place.engine() as engine:
        run = await engine.start(listener, id="o-1")
    calls: list[Callable[[], Awaitable[Any]]] = [
        engine.runs,
        engine.approvals.list,
        engine.dlq.list,
        run.row,
        run.view,
        run.events,
        lambda: engine.get("o-1"),
        lambda: engine.start(echo, 1),
        lambda: engine.start(echo, 1, id="other"),
        lambda: run.message("go"),
        run.result,
        run.cancel,
    ]
    for call in calls:
        with pytest.raises(PlaitError) as caught:
            await call()
        assert caught.value.code == "kernel.closed"


async def test_an_engine_that_was_never_opened_says_so():
    engine = Engine("memory:")
    with pytest.raises(PlaitError):
        await engine.start(echo, 1)


# -- closing while steps run -----------------------------------------------------------------------------------------


async def test_steps_that_run_when_the_engine_closes_are_done_by_the_next(place: Place):
    began: list[str] = []
    gate = asyncio.Event()

    async def step(number: int) -> int:
        began.append(str(number))
        await gate.wait()
        return number

    @workflow
    async def work(ctx: Context, number: int) -> list[int]:
        first = await ctx.step("first", _quick, number)
        return [first, await ctx.step("second", step, number)]

    async with place.engine(work) as engine:
        runs = [await engine.start(work, number, id=f"w-{number}") for number in range(20)]
        await until(lambda: len(began) == 20)
    gate.set()
    async with place.engine(work) as engine:
        for number in range(20):
            assert await (await engine.get(f"w-{number}")).result() == [number, number]
        events = [await (await engine.get(run.id)).events() for run in runs]
        for found in events:
            assert sum(event.type == "op.closed" for event in found) == 2


async def _quick(number: int) -> int:
    return number


async def test_a_step_in_a_thread_does_not_hold_up_the_close(place: Place):
    began, gate = threading.Event(), threading.Event()

    def step() -> None:
        began.set()
        gate.wait(10)

    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("slow", step)

    try:
        async with asyncio.timeout(5):
            async with place.engine(work) as engine:
                await engine.start(work)
                await until(began.is_set)
    finally:
        gate.set()


async def test_what_was_acknowledged_before_a_close_is_there_after_it(place: Place):
    async with place.engine(listener) as engine:
        runs = [await engine.start(listener, id=f"l-{number}") for number in range(50)]
        for number, run in enumerate(runs):
            await run.message("go", number)
    async with place.engine(listener) as engine:
        for number in range(50):
            assert await (await engine.get(f"l-{number}")).result() == number


async def test_an_engine_can_be_opened_and_closed_many_times(place: Place):
    for number in range(10):
        async with place.engine() as engine:
            assert await (await engine.start(echo, number, id=f"e-{number}")).result() == number
    async with place.engine() as engine:
        assert len(await engine.runs()) == 10


# -- two engines on one file -----------------------------------------------------------------------------------------


async def test_a_second_engine_on_a_file_is_a_client_until_the_first_closes(disk: OnDisk):
    first = disk.engine(listener, sleeper)
    await first.__aenter__()
    async with disk.engine(listener, sleeper, lease_ttl=0.15) as second:
        assert not second.kernel.owns(RunId("any"))
        run = await second.start(listener, id="by-client")
        waiting = [asyncio.ensure_future(run.result()) for _ in range(3)]
        await run.message("go", "hello")
        assert await asyncio.gather(*waiting) == ["hello"] * 3
        sleeping = await second.start(sleeper, 0.2, id="sleeping")
        waits = await second.start(listener, id="waits")

        async def taken_up() -> bool:
            return len(await waits.events()) > 1

        await soon(taken_up)
        await first.__aexit__(None, None, None)
        await until(lambda: second.kernel.owns(RunId("any")))
        await waits.message("go", "still here")
        assert await waits.result() == "still here"
        assert await sleeping.result() == "rested"


async def test_an_engine_that_only_looks_takes_nothing_up(disk: OnDisk):
    async with disk.engine(listener) as engine:
        await engine.start(listener, id="o-1")
    async with disk.engine(listener, work=False) as looker:
        run = await looker.get("o-1")
        assert await run.status() == "running"
        assert [reason.kind for reason in await run.waiting()] == ["message"]
        await run.message("go", "later")
    async with disk.engine(listener) as engine:
        assert await (await engine.get("o-1")).result() == "later"
