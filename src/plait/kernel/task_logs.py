"""Log lines of tasks, kept beside the log.

Lines come from the event loop and from threads. They are collected for a moment and written together. They are not part
of any decision: a line that can't be stored is dropped, and a task never waits for its lines.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from .clock import Clock
from .errors import PlaitError
from .ids import RunId, Shard
from .ready_queue import ReadyQueue
from .store import Line, LineLevel, Write
from .task import Attempt

log = logging.getLogger("plait.kernel")

T = TypeVar("T")

MAX_TEXT = 4_000
"""Characters of a line; the rest is cut off."""
MAX_LINES = 1_000
"""Most lines of one attempt."""
_PAUSE = 0.1
_MOST = 20_000
"""Most lines waiting to be written."""


class TaskLogs:
    def __init__(self, clock: Clock, queue: ReadyQueue) -> None:
        self._clock = clock
        self._queue = queue
        self._waiting: list[Line] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writing: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        """A drain also waits for lines being written."""
        self.dropped = 0

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()

    async def drain(self) -> None:
        """Writes the remaining lines."""
        await self.flush()
        await self.stop()

    async def stop(self) -> None:
        self._loop = None

    def note(self, attempt: Attempt, level: LineLevel, text: str) -> None:
        """Takes a line of an attempt, from any thread."""
        loop = self._loop
        if loop is None:
            return
        admitted = admit(attempt, level, text)
        self.dropped += attempt.logged > MAX_LINES
        if admitted is not None:
            task = attempt.task
            line = Line(attempt.run_id, task.node or task.token, attempt.number, self._clock.now(), *admitted)
            on_loop(loop, self._add, line)

    def keep(self, run_id: RunId, node: str, attempt: int, said: Iterable[tuple[LineLevel, str]]) -> None:
        """Takes lines of an attempt in another process."""
        for level, text in said:
            self._add(Line(run_id, node, attempt, self._clock.now(), level, _clean(text)))

    def _add(self, line: Line) -> None:
        if len(self._waiting) >= _MOST:
            self.dropped += 1
            return
        self._waiting.append(line)
        if self._writing is None and self._loop is not None:
            self._writing = self._loop.create_task(self._soon(), name="plait.task_logs")

    async def _soon(self) -> None:
        woken = asyncio.Event()
        self._clock.call_later(_PAUSE, woken.set)
        await woken.wait()
        self._writing = None
        await self.flush()

    async def flush(self) -> None:
        async with self._turn:
            lines, self._waiting = self._waiting, []
            if lines:
                await self._write(lines)

    async def _write(self, lines: list[Line]) -> None:
        first = lines[0]
        try:
            await self._queue.append(Write(RunId(f"~lines/{first.run_id}"), Shard(0), None, lines=lines))
        except PlaitError as error:
            self.dropped += len(lines)
            log.warning("%d lines of tasks are lost: %s", len(lines), error)


def admit(attempt: Attempt, level: LineLevel, text: str) -> tuple[LineLevel, str] | None:
    """The line to store, or a warning once there are too many; None after that. Checked in the thread that logs: a
    tight loop must not fill the event loop's queue."""
    attempt.logged += 1
    if attempt.logged > MAX_LINES + 1:
        return None
    if attempt.logged > MAX_LINES:
        return "warning", f"more than {MAX_LINES:,} lines: the rest is not kept"
    return level, _clean(text)


def on_loop(loop: asyncio.AbstractEventLoop, call: Callable[[T], None], given: T) -> None:
    """Calls at once on the loop's own thread, otherwise as soon as the loop can."""
    try:
        here = asyncio.get_running_loop()
    except RuntimeError:
        here = None
    if here is loop:
        call(given)
    else:
        loop.call_soon_threadsafe(call, given)


def _clean(text: str) -> str:
    """A line that every store can keep."""
    cut = text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
    return cut.replace("\0", "�").encode("utf-8", "replace").decode()
