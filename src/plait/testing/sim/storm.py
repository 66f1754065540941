"""Trouble, drawn from a seed. It has a budget, so that every storm passes and every run must end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random

from plait.kernel.errors import Unavailable
from plait.kernel.inputs import TimerFired
from plait.kernel.kernel import Kernel
from plait.kernel.store import TimerRow, Verdict, Write
from plait.stores.memory import Moment

from .door import Door
from .scenario import Weather
from .simulator import SimulatedCrash


class Storm:
    def __init__(self, seed: int, weather: Weather) -> None:
        self._random = Random(f"storm {seed}")
        self._weather = weather
        self._budget = {"crash": 12, "unavailable": 25, "steal": 6, "cut": 6, "clock": 4, "echo": 40}
        self.seen: list[str] = []
        """What went wrong, in order."""

    @property
    def random(self) -> Random:
        return self._random

    def strikes(self, what: str) -> bool:
        """Whether this kind of trouble strikes now."""
        chance: float = getattr(self._weather, what)
        if not chance or not self._budget[what] or self._random.random() >= chance:
            return False
        self._budget[what] -= 1
        return True

    def delay(self) -> int:
        return self._random.randint(0, self._weather.slow) if self._weather.slow else 0

    def reading(self, door: Door) -> None:
        if self.strikes("unavailable"):
            self.seen.append("unavailable")
            raise Unavailable("store.unreachable", "the store did not answer")

    def committing(self, door: Door, moment: Moment, writes: Sequence[Write]) -> None:
        if self.strikes("crash"):
            self.seen.append(f"crash {moment} a commit")
            raise SimulatedCrash(f"{moment} a commit")
        if self.strikes("unavailable"):
            self.seen.append(f"unavailable {moment} a commit")
            raise Unavailable("store.unreachable", f"the store went away {moment} a commit")

    def judged(self, verdicts: list[Verdict]) -> None:
        self.seen += [f"a commit was refused: {verdict}" for verdict in verdicts if verdict in ("fenced", "conflict")]

    def due(self, door: Door, rows: list[TimerRow]) -> None:
        kernel = door.kernel
        for row in rows:
            if kernel is not None and self.strikes("echo"):
                self.seen.append(f"{row.token} of {row.run_id} fires twice")
                _later(self._random.randint(0, 12), _echo(kernel, row))


def _echo(kernel: Kernel, row: TimerRow) -> Callable[[], None]:
    return lambda: kernel.delivery.deliver(row.run_id, TimerFired(row.token, row.due), None)


def _later(rounds: int, act: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    if rounds:
        loop.call_soon(_later, rounds - 1, act)
    else:
        loop.call_soon(act)
