"""Timeouts of many attempts with one alarm: those with the same limit run out in the order they began."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from plait.kernel.clock import Alarm, Clock

T = TypeVar("T")


class Deadlines(Generic[T]):
    def __init__(self, clock: Clock, expired: Callable[[T], None]) -> None:
        self._clock = clock
        self._expired = expired
        self._lanes: dict[float, dict[T, float]] = {}
        """By limit: what began when, oldest first."""
        self._alarm: Alarm | None = None
        self._next = 0.0

    def begin(self, item: T, limit: float, since: float | None = None) -> None:
        now = self._clock.monotonic() if since is None else since
        lane = self._lanes.get(limit)
        if lane is None:
            lane = self._lanes[limit] = {}
        lane[item] = now
        if self._alarm is None or now + limit < self._next:
            self._schedule(now + limit)

    def end(self, item: T, limit: float) -> None:
        lane = self._lanes.get(limit)
        if lane is not None:
            lane.pop(item, None)

    def stop(self) -> None:
        self._lanes.clear()
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
        oldest = [next(iter(lane.values())) + limit for limit, lane in self._lanes.items() if lane]
        if oldest and self._alarm is None:
            self._schedule(min(oldest))
