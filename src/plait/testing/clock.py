"""A clock that stands still until it is told to move.

It is a kernel's `Clock`: the wake-ups that an engine asks for are its alarms. `advance` rings them in order and lets
the engine settle after each one, so a year passes in as many steps as there are events in it. Wall time may also be
set, as an administrator does; elapsed time is not affected.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
from collections.abc import Awaitable, Callable, Collection, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from plait.kernel.ids import Millis
from plait.kernel.task import current_attempt

START = datetime(2030, 1, 1, tzinfo=UTC)
_ROUNDS = 50
"""Rounds of the event loop that a clock without a simulator gives other tasks to settle."""


class VirtualAlarm:
    __slots__ = ("callback", "due", "off")

    def __init__(self, due: int, callback: Callable[[], object]) -> None:
        self.due = due
        self.callback = callback
        self.off = False

    def cancel(self) -> None:
        self.off = True


class VirtualClock:
    """Pass it to `Engine(clock=...)`, or use `sim()`, which does so and skips idle time by itself."""

    def __init__(self, start: datetime = START) -> None:
        self._elapsed = 0
        """Milliseconds since its creation."""
        self._offset = round(start.timestamp() * 1000)
        self._alarms: list[tuple[int, int, VirtualAlarm]] = []
        self._numbers = itertools.count()
        self._asleep: dict[object, int] = {}
        self.settle: Callable[[], Awaitable[object]] = _some_rounds
        """Waits until nothing more can happen now; a simulator installs its own."""

    # -- what an engine asks -------------------------------------------------------------------------------------

    def now(self) -> Millis:
        return Millis(self._offset + self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed / 1000

    def call_later(self, seconds: float, callback: Callable[[], object]) -> VirtualAlarm:
        # Rounded up: an alarm that rings a moment early would be set again for the same moment, for ever
        alarm = VirtualAlarm(self._elapsed + max(0, math.ceil(seconds * 1000)), callback)
        heapq.heappush(self._alarms, (alarm.due, next(self._numbers), alarm))
        return alarm

    def call_at(self, due: Millis, callback: Callable[[], object]) -> VirtualAlarm:
        return self.call_later((due - self.now()) / 1000, callback)

    # -- what a test does ----------------------------------------------------------------------------------------

    @property
    def time(self) -> datetime:
        """Wall time."""
        return datetime.fromtimestamp(self.now() / 1000, UTC)

    async def advance(self, seconds: float | timedelta) -> None:
        """Lets time pass: rings every alarm on the way, in order, and lets the engine settle after each."""
        span = seconds.total_seconds() if isinstance(seconds, timedelta) else seconds
        target = self._elapsed + round(span * 1000)
        await self.settle()
        while self.ring(target):
            await self.settle()
        self._elapsed = max(self._elapsed, target)
        await self.settle()

    def set(self, when: datetime) -> None:
        """Sets wall time, forward or back. No time passes by that: nothing times out."""
        self._offset = round(when.timestamp() * 1000) - self._elapsed
        for _, _, alarm in self._alarms:  # timers that wait for wall time must check it again
            alarm.due = self._elapsed
        alarms = [alarm for _, _, alarm in sorted(self._alarms, key=lambda entry: entry[1]) if not alarm.off]
        self._alarms = [(alarm.due, next(self._numbers), alarm) for alarm in alarms]

    async def sleep(self, seconds: float) -> None:
        """For steps that take time: returns when that much virtual time has passed."""
        due = self.monotonic() + seconds
        with self._sleeper():
            while self.monotonic() < due:  # an alarm is only a hint
                await self._alarm(due - self.monotonic())

    async def _alarm(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        alarm = self.call_later(seconds, lambda: woken.done() or woken.set_result(None))
        try:
            await woken
        finally:
            alarm.cancel()

    # -- what a simulator does -----------------------------------------------------------------------------------

    def ring(self, limit: int | None = None) -> bool:
        """Moves to the next alarm and rings it; False if there is none, or none before `limit`."""
        due = self.next_due()
        if due is None or (limit is not None and due > limit):
            return False
        alarm = heapq.heappop(self._alarms)[2]
        self._elapsed = max(self._elapsed, due)
        alarm.callback()
        return True

    def next_due(self) -> int | None:
        """When the next alarm rings, in elapsed milliseconds."""
        while self._alarms and self._alarms[0][2].off:
            heapq.heappop(self._alarms)
        return self._alarms[0][0] if self._alarms else None

    def due_besides(self, alarms: Collection[object]) -> int | None:
        """When the first alarm not among these rings, in elapsed milliseconds."""
        return min((alarm.due for _, _, alarm in self._alarms if not alarm.off and alarm not in alarms), default=None)

    def skip(self, span: int, alarms: Collection[object]) -> None:
        """Skips a span in milliseconds during which only these alarms would ring; they ring that much later."""
        for _, _, alarm in self._alarms:
            if alarm in alarms:
                alarm.due += span
        self._alarms = [(alarm.due, number, alarm) for _, number, alarm in self._alarms]
        heapq.heapify(self._alarms)
        self._elapsed += span

    @property
    def elapsed(self) -> int:
        return self._elapsed

    @property
    def asleep(self) -> int:
        """How many steps are waiting in `sleep`."""
        return len(self._asleep)

    @contextmanager
    def _sleeper(self) -> Generator[None]:
        who = _current_step()
        if who is None:
            yield
            return
        self._asleep[who] = self._asleep.get(who, 0) + 1
        try:
            yield
        finally:
            self._asleep[who] -= 1
            if not self._asleep[who]:
                del self._asleep[who]


def _current_step() -> object | None:
    """The step whose code is running: its own task, or, in a task that it created, its name."""
    attempt = current_attempt.get()
    if attempt is None:
        return None
    task = asyncio.current_task()
    own = task is not None and task.get_name() == f"{attempt.run_id}:{attempt.task.token}"
    return task if own else (attempt.run_id, attempt.task.token, attempt.number)


async def _some_rounds() -> None:
    for _ in range(_ROUNDS):
        await asyncio.sleep(0)
