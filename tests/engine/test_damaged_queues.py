"""A damaged row of a queue holds up the runs of no other queue."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from plait import Context, Engine, workflow
from plait.engine.deep_check import DeepCheck
from plait.kernel.errors import Damaged

FAR = 3_600


@workflow
async def brew(ctx: Context) -> str:
    return "tea"


async def fill(path: Path) -> None:
    """Two queues with limits, a run on each, and one that waits for an hour on the first."""
    async with Engine(f"sqlite:///{path}", definitions=[brew]) as engine:
        for queue in ("a", "b"):
            await engine.queues.set(queue, concurrency=5)
            await engine.queues.pause(queue)
            await engine.start(brew, id=queue, queue=queue)
        await engine.start(brew, id="later", queue="a", delay=FAR, deadline=2 * FAR)


def change(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as db:
        db.execute("""update queues set settings = replace(settings, '"paused":true', '"paused":false')""")
        for statement in statements:
            db.execute(statement)
    db.close()


async def test_limits_that_are_damaged_stop_their_queue_alone(tmp_path: Path):
    path = tmp_path / "plait.db"
    await fill(path)
    change(path, "update queues set settings = '{' where name = 'a'")
    async with Engine(f"sqlite:///{path}", definitions=[brew]) as engine:
        assert await (await engine.get("b")).result() == "tea"
        assert [each.name for each in await engine.queues.list() if each.settings is not None] == ["b"]
        with pytest.raises(Damaged, match="the settings of queue a"):
            await engine.queues.show("a")
        assert await (await engine.get("a")).status() == "running"


@pytest.mark.parametrize("column", ["due", "deadline"])
@pytest.mark.parametrize("value", ["x'fffe'", "cast(x'ff61' as text)"])
async def test_a_run_whose_time_is_damaged_waits_alone(tmp_path: Path, column: str, value: str):
    path = tmp_path / "plait.db"
    await fill(path)
    change(path, f"update queued_runs set {column} = {value} where run_id = 'later'")
    async with Engine(f"sqlite:///{path}", definitions=[brew]) as engine:
        assert await (await engine.get("a")).result() == "tea"
        findings = [str(error) async for error in DeepCheck(engine.kernel.store).findings()]
        assert [finding for finding in findings if "run later on queue a is damaged" in finding]


async def test_a_run_whose_time_is_damaged_is_refused_by_its_name(tmp_path: Path):
    path = tmp_path / "plait.db"
    await fill(path)
    change(path, "update queued_runs set due = x'fffe' where run_id = 'later'")
    async with Engine(f"sqlite:///{path}", definitions=[brew]) as engine:
        with pytest.raises(Damaged, match="run later on queue a"):
            await (await engine.get("later")).waiting()
