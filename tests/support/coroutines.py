"""Lets pytest call an `async def` test: each gets an event loop of its own, and a limit that shows where it hung."""

import asyncio
import functools
import os
from collections.abc import Callable, Coroutine
from typing import Any


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """`PLAIT_TEST_LOOP=uvloop` runs the tests on uvloop instead of asyncio's own loop."""
    if os.environ.get("PLAIT_TEST_LOOP") != "uvloop":
        return None
    import uvloop

    return uvloop.new_event_loop


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]], seconds: float | None) -> Callable[..., None]:
    async def limited(*args: Any, **kwargs: Any) -> None:
        async with asyncio.timeout(seconds):
            await test(*args, **kwargs)

    @functools.wraps(test)
    def call(*args: Any, **kwargs: Any) -> None:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(limited(*args, **kwargs))

    return call
