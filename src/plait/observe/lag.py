"""The lag of the event loop: a timer that measures how late it fires."""

from __future__ import annotations

import asyncio
from collections import deque

from .counters import LATENCIES
from .tally import Tally

_EVERY = 0.25
_SPAN = 10.0
_SPANS = 7
"""The number of time spans to keep: those of the last minute and the current one."""


class LoopLag:
    def __init__(self) -> None:
        self.seconds = Tally(LATENCIES)
        self._worst = deque([0.0], _SPANS)
        """The largest lag per time span, newest last."""
        self._turn = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._turn = loop.time() + _SPAN
        self._arm(loop)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    @property
    def worst(self) -> float:
        """Returns the largest lag of the last minute. Reading it does not reset it, so all scrapers see the same."""
        return max(self._worst)

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(_EVERY, self._tick, loop, loop.time() + _EVERY)

    def _tick(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        now = loop.time()
        late = max(0.0, now - due)
        while now >= self._turn:
            self._worst.append(0.0)
            self._turn += _SPAN
        self._worst[-1] = max(self._worst[-1], late)
        self.seconds.add(late)
        self._arm(loop)
