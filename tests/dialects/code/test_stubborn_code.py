"""Code that catches everything, also what tells it to stop: it must not hold up the engine."""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from plait import Context, workflow

from .conftest import Simulate
from .support import failure

# Python itself says of each such coroutine, when it is freed, that it does not end
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

Wait = Callable[[Context, int], Awaitable[Any]]


async def _listen(ctx: Context, n: int) -> Any:
    return await ctx.listen(f"m{n}", "m")


async def _listen_twice(ctx: Context, n: int) -> Any:
    return await asyncio.gather(ctx.listen(f"m{n}", "m"), ctx.listen(f"n{n}", "n"))


async def _sleep(ctx: Context, n: int) -> Any:
    await asyncio.sleep(3600)


async def on_and_on(ctx: Context, wait: Wait) -> None:
    n = 0
    while True:
        n += 1
        try:
            await wait(ctx, n)
        except:  # noqa: E722
            continue


@pytest.fixture(autouse=True)
def freed() -> Iterator[None]:
    """What a test has left behind is freed in its own time, not in another's."""
    yield
    gc.collect()


@pytest.mark.parametrize("wait", [_listen, _listen_twice, _sleep])
async def test_a_bare_except_in_a_loop_does_not_stop_the_engine_from_closing(
    wait: Wait, simulate: Simulate, caplog: pytest.LogCaptureFixture
) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await on_and_on(ctx, wait)

    with caplog.at_level(logging.WARNING, "plait.code"):
        async with simulate() as s:
            run = await s.start(w, id="stubborn")
            await s.settle()
            before = str(await run.history())
        async with simulate(store=s.store) as s:  # it is as it was
            again = await s.start(w, id="another")
            await s.settle()
            assert len(before) == len(str(await again.history()))
    assert "run stubborn: its code catches the signal to stop; write `except Exception`" in caplog.text


async def test_a_branch_that_does_not_accept_that_it_lost_is_left_alone(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        won = await ctx.race("r", a=lambda c: on_and_on(c, _listen), b=lambda c: c.sleep("s", 1))
        return won.winner

    async with simulate() as s:
        assert await s.run(w) == "b"


async def test_code_that_catches_a_refusal_and_tries_again_fails_as_spinning(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        while True:
            try:
                await ctx.listen("m")
            except Exception:  # the second is refused: its name is taken
                continue

    async with simulate() as s:
        run = await s.start(w)
        await run.message("m")
        assert (await failure(s, run)).code == "CODE_SPINNING"
