"""What the steps of all families do: add one to the number they get, fail or wait as they are told, and note it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from plait import CriticalError
from plait.testing import Effects, Sim

FOREVER = 10 * 366 * 86_400.0
TOLD = "told to fail"


class World(Effects):
    """Steps in `failing` fail, and those in `waiting` never end, until somebody heals them."""

    def __init__(self, *, failing: Iterable[str] = (), waiting: Iterable[str] = ()) -> None:
        super().__init__()
        self._ill = frozenset(failing), frozenset(waiting)

    def begin(self, sim: Sim) -> None:
        super().begin(sim)
        self._clock = sim.clock
        self.failing, self.waiting = map(set, self._ill)

    def heal(self) -> None:
        self.failing.clear()
        self.waiting.clear()

    async def do(self, name: str, given: object) -> dict[str, int]:
        self.note(name)
        if name in self.failing:
            raise CriticalError(TOLD)
        if name in self.waiting:
            await self._clock.sleep(FOREVER)
        found = max(numbers(given)) + 1
        return {"n": found, name: found}

    def function(self, name: str) -> Callable[..., Any]:
        """As steps of `goals` and `refs` call it: by named arguments."""

        async def call(**given: Any) -> dict[str, int]:
            return await self.do(name, given)

        return call

    def handler(self, name: str) -> Callable[..., Any]:
        """As nodes of `graph` and events of `afl` call it: with a payload."""

        async def call(payload: Any) -> dict[str, int]:
            return await self.do(name, payload)

        return call


def numbers(found: object) -> Iterator[int]:
    if isinstance(found, dict):
        for value in found.values():
            yield from numbers(value)
    elif isinstance(found, list):
        for value in found:
            yield from numbers(value)
    elif isinstance(found, int):
        yield found
