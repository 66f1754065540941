"""What steps log is kept with their run."""

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from plait import Context, Engine, step, workflow
from plait.kernel.store import Line
from plait.observe import logs
from plait.observe.task_lines import TaskLines
from tests.observe.conftest import Output
from tests.observe.flows import ONCE, chatty, failing
from tests.observe.test_masking import Unprintable

pytestmark = pytest.mark.usefixtures("output")


@contextmanager
def lines_kept() -> Iterator[None]:
    handler = TaskLines()
    handler.install()
    yield
    handler.remove()


@asynccontextmanager
async def open_engine(*definitions: object) -> AsyncIterator[Engine]:
    with lines_kept():
        async with Engine("memory:", definitions=definitions) as engine:
            yield engine


async def kept(engine: Engine, run_id: str) -> list[Line]:
    await engine.kernel.task_logs.flush()
    handle = await engine.get(run_id)
    return await engine.kernel.store.lines((await handle.row()).id, None, 0, 5000)


async def test_lines_of_async_steps_threads_and_structlog_are_kept():
    async with open_engine(chatty) as engine:
        await (await engine.start(chatty, "hi", id="r1")).result()
        assert [(line.node, line.attempt, line.level, line.text) for line in await kept(engine, "r1")] == [
            ("one", 1, "info", "async says hi"),
            ("two", 1, "warning", "thread says hi"),
            ("three", 1, "info", "structlog says text='hi' password='***'"),
        ]


@step
async def misbehave() -> None:
    log = logging.getLogger("shop")
    log.info("nul \0 and lone \ud800")
    log.info("%s", Unprintable())
    log.info("Bearer abcdefgh")
    logging.getLogger("plait.kernel").warning("about the engine")
    try:
        raise ValueError("closed")
    except ValueError:
        log.exception("no luck")


@workflow
async def misbehaving(ctx: Context) -> None:
    await ctx.step("one", misbehave, retry=ONCE)


async def test_lines_that_no_store_could_keep_do_not_harm_the_step():
    async with open_engine(misbehaving) as engine:
        await (await engine.start(misbehaving, id="r1")).result()
        first, second, third, last = await kept(engine, "r1")
        assert first.text.startswith("nul ")
        assert "can't be printed" in second.text or second.text == "'%s'"
        assert third.text == "Bearer ***"
        assert last.level == "error"
        assert last.text.startswith("no luck\nTraceback")


@step
def flood(lines: int) -> None:
    for number in range(lines):
        logging.getLogger("shop").info("%d %s", number, "x" * 10_000)


@workflow
async def flooding(ctx: Context) -> None:
    await ctx.step("one", flood, 1500)


async def test_a_flood_is_bounded_and_says_so(output: Output):
    logs.configure("json", "info", output.stream)
    async with open_engine(flooding) as engine:
        await (await engine.start(flooding, id="r1")).result()
        found = await kept(engine, "r1")
        assert len(found) == 1001
        assert max(len(line.text) for line in found) <= 4096
        assert found[-1].level == "warning"
        assert "1,000" in found[-1].text
        assert engine.kernel.task_logs.dropped == 500


async def test_outside_steps_nothing_is_kept():
    async with open_engine(failing) as engine:
        logging.getLogger("shop").error("not in a step")
        handle = await engine.start(failing, id="r1")
        await handle.cancel()
        assert [line.text for line in await kept(engine, "r1") if "not in a step" in line.text] == []
