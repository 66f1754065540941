"""How late the event loop is: a timer that notes by how much it was missed."""

from __future__ import annotations

import asyncio
from collections import deque

from .counters import LATENCIES
from .tally import Tally

_EVERY = 0.25
_SPAN = 10.0
_SPANS = 7
"""How many are kept: those of the last minute, and the one that is not over yet."""


class LoopLag:
    def __init__(self) -> None:
        self.seconds = Tally(LATENCIES)
        self._worst = deque([0.0], _SPANS)
        """By spans of time, the newest last."""
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
        """Of the last minute: several who ask see the same, and none takes it from the others."""
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
