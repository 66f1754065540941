from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from types import FrameType

import pytest
import uvloop

from plait.kernel import watchdog as module
from plait.kernel.watchdog import Watchdog


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_loop_that_waits_while_the_machine_gives_it_no_time_blames_no_code(
    loop: Callable[[], asyncio.AbstractEventLoop], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """A starved process looks as if its loop were silent, but the thread is where it waits for something to do."""
    monkeypatch.setattr(module, "_BEAT", 0.01)
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(_starve(caplog, monkeypatch))
    assert "test_watchdog.py" in caplog.text


async def _starve(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, looked, is_idle = asyncio.get_running_loop(), asyncio.Event(), module._is_idle  # pyright: ignore[reportPrivateUsage]

    def look(frame: FrameType) -> bool:
        idle = is_idle(frame)
        loop.call_soon_threadsafe(looked.set)
        return idle

    monkeypatch.setattr(module, "_is_idle", look)
    watchdog = Watchdog(lambda _: None, limit=0.05)
    with caplog.at_level(logging.WARNING, "plait.watchdog"):
        watchdog.start()
        assert watchdog._timer is not None  # pyright: ignore[reportPrivateUsage]
        watchdog._timer.cancel()  # pyright: ignore[reportPrivateUsage] # no beat comes any more, though nothing blocks
        await looked.wait()
        assert caplog.text == ""
        while "blocked" not in caplog.text:  # but code that keeps the thread is named at once
            time.sleep(0.001)
        watchdog.stop()
