"""Checks the health of steps while an engine is open: new and changed steps at once, those with a `health_check`
periodically. A single background task does it, and work never waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Any, Final, Protocol

from plait.dialects.goals.errors import ScriptInvalid
from plait.dialects.goals.steps.scripts import Compiler, check_scripts, scripts_of
from plait.dialects.goals.steps.step import Step
from plait.kernel.clock import Clock
from plait.kernel.errors import Unavailable

from .catalogs import Catalogs
from .cluster import HEALTHY, UNKNOWN, StepHealth, worst

log = logging.getLogger("plait.goals")

ROUND: Final = 30.0
"""Seconds between two checks of a step with a `health_check`."""
PATIENCE: Final = 3.0
"""Seconds that a service has to answer."""
_AT_ONCE = 32
_RETRY_AFTER = 1.0

Note = Callable[[str, Mapping[str, StepHealth]], Awaitable[object]]


class Checkups:
    def __init__(self, catalogs: Catalogs, checker: Checker, clock: Clock, note: Note) -> None:
        self._catalogs = catalogs
        self._checker = checker
        self._clock = clock
        self._note = note
        self._wanted: dict[str, set[str]] = {}
        self._polled: dict[str, set[str]] = {}
        self._bell = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._unwatch: Callable[[], None] | None = None

    def open(self) -> None:
        self._unwatch = self._catalogs.watch(self.look)
        for namespace in self._catalogs.namespaces:
            self.look(namespace, self._catalogs.get(namespace).steps.keys())
        self._keeper = asyncio.get_running_loop().create_task(self._keep(), name="plait.health")

    async def close(self) -> None:
        if self._unwatch is not None:
            self._unwatch()
            self._unwatch = None
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None

    def look(self, namespace: str, step_ids: Collection[str]) -> None:
        """Requests a check of these steps."""
        self._wanted.setdefault(namespace, set()).update(step_ids)
        self._bell.set()

    async def _keep(self) -> None:
        due = self._clock.monotonic() + ROUND
        while True:
            await self._look_now()
            await self._rest(due)
            if self._clock.monotonic() >= due:
                due = self._clock.monotonic() + ROUND
                for namespace, step_ids in self._polled.items():
                    self.look(namespace, step_ids)

    async def _rest(self, due: float) -> None:
        """Waits until a check is requested or a round is due; there are no rounds without steps to poll."""
        waiting: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._bell.wait())]
        if any(self._polled.values()):
            waiting.append(asyncio.ensure_future(sleep(self._clock, due - self._clock.monotonic())))
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()

    async def _look_now(self) -> None:
        self._bell.clear()
        wanted, self._wanted = self._wanted, {}
        for namespace, step_ids in wanted.items():
            try:
                await self._note(namespace, await self._checked(namespace, sorted(step_ids)))
            except Unavailable as error:
                log.warning("the health of steps can't be noted, will try again: %s", error)
                self._wanted.setdefault(namespace, set()).update(step_ids)
            except Exception:
                log.exception("the health of steps can't be noted")
        if self._wanted and not self._bell.is_set():
            await sleep(self._clock, _RETRY_AFTER)
            self._bell.set()

    async def _checked(self, namespace: str, step_ids: list[str]) -> dict[str, StepHealth]:
        found: dict[str, StepHealth] = {}
        todo = iter(step_ids)
        await asyncio.gather(*(self._check_some(namespace, todo, found) for _ in range(_AT_ONCE)))
        return found

    async def _check_some(self, namespace: str, todo: Iterator[str], found: dict[str, StepHealth]) -> None:
        for step_id in todo:
            await asyncio.sleep(0)  # yields to the runs
            step = self._catalogs.get(namespace).steps.get(step_id)
            polled = self._polled.setdefault(namespace, set())
            if step is not None and is_polled(step):
                polled.add(step_id)
            else:
                polled.discard(step_id)
            try:
                found[step_id] = await self._checker.check(step) if step is not None else UNKNOWN
            except Exception:
                log.exception("step %s could not be checked", step_id)


# -- one step ----------------------------------------------------------------------------------------------------------


class Probe(Protocol):
    async def __call__(self, url: str) -> str:
        """Probes a service; returns what is wrong, or an empty string."""
        ...


class Checker:
    """Checks a step on this node: whether its scripts compile, its function is registered, its service answers."""

    def __init__(self, compiler: Compiler, knows: Callable[[str], bool], probe: Probe, clock: Clock) -> None:
        """`knows` tells whether a handler is registered here."""
        self._compiler = compiler
        self._knows = knows
        self._probe = probe
        self._clock = clock

    async def check(self, step: Step) -> StepHealth:
        found: list[StepHealth] = []
        if any(True for _ in scripts_of(step)):
            found.append(await self._compiled(step))
        if step.python is not None:
            found.append(HEALTHY if self._knows(step.python.handler) else UNKNOWN)
        if is_polled(step) and step.http is not None:
            found.append(await self._answered(step.http.health_check))
        return worst(found)

    async def _compiled(self, step: Step) -> StepHealth:
        try:
            await check_scripts(step, self._compiler)
        except ScriptInvalid as error:
            return StepHealth("unhealthy", error.message)
        return HEALTHY

    async def _answered(self, url: str) -> StepHealth:
        asking = asyncio.ensure_future(self._asked(url))
        limit = asyncio.ensure_future(sleep(self._clock, PATIENCE))
        try:
            await asyncio.wait({asking, limit}, return_when=asyncio.FIRST_COMPLETED)
            error = asking.result() if asking.done() else f"no answer within {PATIENCE:g} s"
        finally:
            asking.cancel()
            limit.cancel()
        return StepHealth("unhealthy", error) if error else HEALTHY

    async def _asked(self, url: str) -> str:
        try:
            return await self._probe(url)
        except Exception as error:
            return str(error) or type(error).__name__


def is_polled(step: Step) -> bool:
    return step.http is not None and step.http.health_check != ""


async def sleep(clock: Clock, seconds: float) -> None:
    """Sleeps by that clock; its alarms are only hints to check again."""
    due = clock.monotonic() + seconds
    while (left := due - clock.monotonic()) > 0:
        woken = asyncio.Event()
        alarm = clock.call_later(left, woken.set)
        try:
            await woken.wait()
        finally:
            alarm.cancel()
