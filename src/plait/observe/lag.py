"""How late the event loop is: a timer that notes by how much it was missed."""

from __future__ import annotations

import asyncio

from .counters import LATENCIES, Tally

_EVERY = 0.25
_HALF = 30.0


class LoopLag:
    def __init__(self) -> None:
        self.seconds = Tally(LATENCIES)
        self._recent = self._before = 0.0
        self._turn = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._turn = loop.time() + _HALF
        self._arm(loop)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    @property
    def worst(self) -> float:
        """Of the last half to whole minute: several who ask see the same, and none takes it from the others."""
        return max(self._recent, self._before)

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(_EVERY, self._tick, loop, loop.time() + _EVERY)

    def _tick(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        now = loop.time()
        if now >= self._turn:
            self._before, self._recent, self._turn = self._recent, 0.0, now + _HALF
        late = max(0.0, now - due)
        self._recent = max(self._recent, late)
        self.seconds.add(late)
        self._arm(loop)
