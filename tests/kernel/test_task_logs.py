"""Lines of tasks are kept, also those that are on their way to disk when the engine closes."""

from __future__ import annotations

import asyncio

from plait.kernel.clock import SystemClock
from plait.kernel.ids import RunId
from plait.kernel.store import Verdict, Write
from plait.kernel.task_logs import TaskLogs


class SlowQueue:
    """Commits when it is told to."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self.kept: list[str] = []

    async def append(self, write: Write) -> Verdict:
        self.asked.set()
        await self.go.wait()
        self.kept += [line.text for line in write.lines]
        return "ok"


async def test_draining_waits_for_lines_that_are_being_written():
    queue = SlowQueue()
    logs = TaskLogs(SystemClock(), queue)  # type: ignore[arg-type]
    await logs.start()
    logs.keep(RunId("run"), "charge", 1, [("info", "charged")])
    await queue.asked.wait()
    draining = asyncio.ensure_future(logs.drain())
    await asyncio.sleep(0)
    assert not draining.done()
    queue.go.set()
    await draining
    assert queue.kept == ["charged"]
