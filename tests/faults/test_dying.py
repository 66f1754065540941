"""Steps that are bad for their process, and processes that are asked to go."""

import asyncio
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from plait import Context, Engine, Handle, workflow
from plait.errors import RunFailed

from .serving import Serving, serving
from .work import DEFINITIONS, deadly, entries, hanging, summing, waiting

RESTARTS = 12


async def test_a_step_that_kills_its_process_is_stopped_and_the_innocent_finish(database: str, ledger: Path):
    async with Engine(database, definitions=DEFINITIONS, work=False) as client:
        innocent = [await client.start(summing, number, id=f"sum-{number}") for number in range(20)]
        patient = await client.start(waiting, id="waiting")
        guilty = await client.start(deadly, id="deadly")
        deaths = 0
        while await guilty.status() == "running" and deaths < RESTARTS:
            with serving(database, ledger, ready=False) as engine:
                deaths += await _dies_before(engine, guilty)
        with pytest.raises(RunFailed, match=r"each of the last \d times its process died"):
            await guilty.result()
        tries = [entry for entry in entries(ledger) if entry.path == "deadly/die"]
        assert len(tries) == deaths < RESTARTS
        assert len({entry.key for entry in tries}) == 1
        [letter] = await client.dlq.list()
        assert (letter.run_id, letter.token) == ("deadly", "die")
        with serving(database, ledger):
            await patient.message("go", "on")
            assert await patient.result() == "went on"
            assert [await handle.result() for handle in innocent] == list(range(5, 25))


async def _dies_before(engine: Serving, run: Handle[Any]) -> bool:
    """Whether an engine dies of its step before the run has ended; one that does not is killed."""
    dying = asyncio.ensure_future(asyncio.to_thread(engine.ended))
    ending = asyncio.ensure_future(run.result())
    await asyncio.wait([dying, ending], return_when=asyncio.FIRST_COMPLETED)
    died = dying.done()
    engine.kill()
    ending.cancel()
    await asyncio.gather(ending, return_exceptions=True)
    return await dying == 77 if died else await dying == 0


async def test_a_step_that_blocks_the_loop_is_named_in_a_warning(caplog: pytest.LogCaptureFixture, tmp_path: Path):
    warned = threading.Event()

    class Notice(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "blocked" in record.getMessage():
                warned.set()

    @workflow
    async def blocking(ctx: Context) -> bool:
        async def block() -> bool:
            return warned.wait(30)

        return await ctx.step("block", block)

    logger = logging.getLogger("plait.watchdog")
    notice = Notice()
    logger.addHandler(notice)
    try:
        async with Engine(f"sqlite:///{tmp_path / 'plait.db'}") as engine:
            assert await (await engine.start(blocking, id="b-1")).result()
    finally:
        logger.removeHandler(notice)
    [warning] = [record.getMessage() for record in caplog.records if "blocked" in record.getMessage()]
    assert "step `block` of run b-1" in warning


async def test_an_engine_that_is_asked_to_stop_loses_nothing_and_gives_its_shards_up_at_once(
    database: str, ledger: Path
):
    count = 60
    async with Engine(database, definitions=DEFINITIONS, work=False) as client:
        with serving(database, ledger, lease=3600) as first:
            handles = [await client.start(summing, number, id=f"sum-{number}") for number in range(count)]
            hanged = await client.start(hanging, id="hanging")
            await asyncio.to_thread(first.hears, "step hanging/hang")
            assert await asyncio.to_thread(first.terminate) == 0
            assert "closed" in "".join(first.said)
        with serving(database, ledger, lease=3600):
            outputs = await asyncio.gather(*(handle.result() for handle in handles))
            assert outputs == [number + 5 for number in range(count)]
            assert await hanged.status() == "running"
            await hanged.cancel()
    hung = [entry for entry in entries(ledger) if entry.path == "hanging/hang"]
    assert len(hung) == 2
    assert len({entry.key for entry in hung}) == 1
