"""Log lines of steps in a worker: written to its own log, and sent to their runs' logs with heartbeats.

Lines are not part of any decision: what can't be sent is dropped, and a result never waits long for the lines before
it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from plait.api.task import TaskLine
from plait.kernel.clock import Clock, sleep
from plait.kernel.errors import PlaitError
from plait.kernel.store import LineLevel
from plait.kernel.task import Attempt
from plait.kernel.task_logs import admit, on_loop

from .task_source import TaskSource

log = logging.getLogger("plait.worker")

_PAUSE = 0.2
"""Seconds in which lines are collected."""
_AT_ONCE = 100
"""Most lines in one heartbeat."""


class WorkerLines:
    def __init__(self, source: TaskSource, clock: Clock, namespace: str) -> None:
        self._source = source
        self._clock = clock
        self._namespace = namespace
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[str, list[TaskLine]] = {}
        """Waiting lines by claim."""
        self._said = asyncio.Event()

    def note(self, attempt: Attempt, level: LineLevel, text: str) -> None:
        """Takes a line of an attempt, from any thread."""
        log.log(logging.getLevelNamesMapping()[level.upper()], "%s: %s", attempt.task.label, text)
        if (admitted := admit(attempt, level, text)) is not None:
            line = TaskLine(level=admitted[0], text=admitted[1])
            on_loop(self._loop, self._add, (attempt.task.token, line))

    def _add(self, said: tuple[str, TaskLine]) -> None:
        claim, line = said
        self._waiting.setdefault(claim, []).append(line)
        self._said.set()

    async def send_all(self) -> None:
        """Sends lines at intervals until cancelled."""
        while True:
            await self._said.wait()
            await sleep(self._clock, _PAUSE)
            self._said.clear()
            await self.send(list(self._waiting))

    async def send(self, claims: Iterable[str]) -> None:
        """Sends the collected lines of these claims."""
        for claim in claims:
            lines = self._waiting.pop(claim, [])
            try:
                for at in range(0, len(lines), _AT_ONCE):
                    part = lines[at : at + _AT_ONCE]
                    await self._source.heartbeat(claim, lines=part, namespace=self._namespace)
            except PlaitError as error:
                log.warning("%d lines of a task are lost: %s", len(lines), error)

    def forget(self, claim: str) -> None:
        self._waiting.pop(claim, None)
