"""How a step is on this node: whether its scripts compile, its function is here, its service answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from plait.dialects.goals.errors import ScriptInvalid
from plait.dialects.goals.steps.scripts import Compiler, check_scripts, scripts_of
from plait.dialects.goals.steps.step import Step
from plait.kernel.clock import Clock

from .cluster import HEALTHY, UNKNOWN, StepHealth, worst

log = logging.getLogger("plait.goals")

PATIENCE: Final = 3.0
"""Seconds that a service has to answer."""


class Probe(Protocol):
    async def __call__(self, url: str) -> str:
        """Asks a service how it is: what is wrong, or nothing."""
        ...


class Checker:
    def __init__(self, compiler: Compiler, knows: Callable[[str], bool], probe: Probe, clock: Clock) -> None:
        """`knows` tells whether a handler is here."""
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
    """By that clock, whose alarms are only hints to look again."""
    due = clock.monotonic() + seconds
    while (left := due - clock.monotonic()) > 0:
        woken = asyncio.Event()
        alarm = clock.call_later(left, woken.set)
        try:
            await woken.wait()
        finally:
            alarm.cancel()
