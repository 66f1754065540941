"""Timeouts of many attempts with one alarm: those with the same limit expire in the order they began.

Only an item that is begun again counts from another time than now; these few are kept apart, by their due times.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Generic, TypeVar

from plait.kernel.clock import Alarm, Clock

T = TypeVar("T")


class Deadlines(Generic[T]):
    def __init__(self, clock: Clock, expired: Callable[[T], None]) -> None:
        self._clock = clock
        self._monotonic = clock.monotonic
        self._expired = expired
        self._lanes: dict[float, dict[T, float]] = {}
        """By limit: start times of items, oldest first."""
        self._again: dict[T, float] = {}
        """Due times of items that were begun again."""
        self._queue: list[tuple[float, int, T]] = []
        self._numbers = itertools.count()
        self._alarm: Alarm | None = None
        self._next = 0.0

    def begin(self, item: T, limit: float) -> None:
        now = self._monotonic()
        lane = self._lanes.get(limit)
        if lane is None:
            lane = self._lanes[limit] = {}
        lane[item] = now
        if self._alarm is None or now + limit < self._next:
            self._schedule(now + limit)

    def begin_again(self, item: T, due: float) -> None:
        """Gives an expired item more time."""
        self._again[item] = due
        heapq.heappush(self._queue, (due, next(self._numbers), item))
        if self._alarm is None or due < self._next:
            self._schedule(due)

    def end(self, item: T, limit: float) -> None:
        lane = self._lanes.get(limit)
        if lane is not None:
            lane.pop(item, None)
        if self._again:
            self._again.pop(item, None)

    def stop(self) -> None:
        self._lanes.clear()
        self._again.clear()
        self._queue.clear()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _schedule(self, due: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._next = due
        self._alarm = self._clock.call_later(max(0.0, due - self._clock.monotonic()), self._look)

    def _look(self) -> None:
        now = self._clock.monotonic()
        self._alarm = None
        for limit, lane in list(self._lanes.items()):
            for item, began in list(lane.items()):
                if began + limit > now:
                    break
                del lane[item]
                self._expired(item)
            if not lane:
                self._lanes.pop(limit, None)
        self._look_at_those_begun_again(now)
        dues = [next(iter(lane.values())) + limit for limit, lane in self._lanes.items() if lane]
        if self._queue:
            dues.append(self._queue[0][0])
        if dues and (self._alarm is None or min(dues) < self._next):
            self._schedule(min(dues))

    def _look_at_those_begun_again(self, now: float) -> None:
        queue = self._queue
        while queue and (queue[0][0] <= now or self._again.get(queue[0][2]) != queue[0][0]):
            due, _, item = heapq.heappop(queue)
            if self._again.get(item) == due:
                del self._again[item]
                self._expired(item)
