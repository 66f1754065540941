"""The `goals` dialect, wired: its catalogs, the functions that its steps may call, and the health of the steps."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Collection, Sequence
from typing import Any, TypeGuard

from plait.agents.models import Models
from plait.dialects.goals.catalogs.catalogs import Catalogs
from plait.dialects.goals.catalogs.checkups import Checker, Probe
from plait.dialects.goals.catalogs.health import Alive, Health
from plait.dialects.goals.dialect import GoalsDialect
from plait.dialects.goals.executors import StepScriptsExecutor
from plait.dialects.goals.memo import MemoExecutor
from plait.dialects.goals.running.code import code_name
from plait.dialects.goals.steps.builder import PythonStep, StepBuilder
from plait.dialects.goals.steps.handlers import Functions, Handlers
from plait.dialects.goals.steps.step import Step
from plait.kernel.clock import Clock
from plait.kernel.errors import Conflict, Damaged, Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.records import Records
from plait.kernel.subscriptions import Subscriptions
from plait.kernel.task import Executor
from plait.scripts.languages import Languages

from .catalogs.catalog_changes import Declared
from .catalogs.step_catalog import StepCatalog

log = logging.getLogger("plait.goals")

_PAUSE = 0.5
"""Seconds between two polls for changes that other processes made."""


class GoalsBundle(GoalsDialect):
    """Created with the engine; opened and closed with it."""

    def __init__(
        self,
        *,
        records: Records,
        clock: Clock,
        subscriptions: Subscriptions,
        alive: Alive,
        watches: bool,
        functions: Functions,
        languages: Languages,
        probe: Probe,
        executors: Sequence[Executor],
        models: Models | None = None,
    ) -> None:
        """`executors` do the work of memoized steps; `functions` are the handlers that steps call."""
        self._subscriptions = subscriptions
        self._watches = watches
        self._declared: list[Declared] = []
        self.handlers = Handlers(functions)
        self.executors = (StepScriptsExecutor(languages), MemoExecutor(executors, self.handlers))
        self.catalogs = Catalogs(records, clock)
        checker = Checker(languages, self._knows, probe, clock)
        self.health = Health(self.catalogs, records, clock, checker, node=socket.gethostname(), alive=alive)
        self._reader: asyncio.Task[None] | None = None
        self.catalog = StepCatalog(self.catalogs, self.health, languages, self.handlers)
        super().__init__(self.catalogs, self.handlers, self._unhealthy_step, languages, models)

    def declare(self, definition: object) -> bool:
        if not is_step(definition):
            return False
        self._declared.append(definition)
        if isinstance(definition, PythonStep) and definition.definition.python is not None:
            self.handlers.add(definition.definition.python.handler, definition)  # recovered runs call it at once
        return True

    async def open(self, *, working: bool) -> None:
        """Reads the catalogs, registers what the program declared, and starts the health checks."""
        try:
            await self.catalogs.refresh_all()
        except (Unavailable, Damaged) as error:  # runs are being recovered already; a start reads its catalog again
            log.warning("can't read the catalogs yet: %s", error)
        if working:
            await self.catalogs.keep_all()
        if working and self._declared:
            await self._register_declared()
        if self._watches:
            self.health.open()
            self._reader = asyncio.get_running_loop().create_task(self._keep_up(), name="plait.catalogs")

    async def _register_declared(self) -> None:
        """Into a catalog that can't be read, no step is registered; a start of a run then says why."""
        try:
            await self.catalogs.refresh(DEFAULT_NAMESPACE)
        except (Damaged, Conflict) as error:
            log.error("the steps of this program are not registered: %s", error)
            return
        async with self.catalog.transaction() as changes:
            for step in self._declared:
                changes.upsert(step)

    async def drain(self) -> None:
        await self.health.close()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    async def close(self) -> None:
        await self.drain()

    async def _keep_up(self) -> None:
        """Polls what other processes registered: a run may need it for a child without asking first."""
        with self._subscriptions.others() as bell:
            while True:
                await bell.wait()
                bell.clear()
                try:
                    await self.catalogs.refresh_all()
                    await self.health.refresh_all()
                except (Unavailable, Damaged) as error:
                    log.warning("can't read the catalogs for now: %s", error)
                await asyncio.sleep(_PAUSE)

    def code(self) -> Collection[str]:
        return [code_name(handler) for handler in self.handlers.names]

    def _knows(self, handler: str) -> bool:
        return self.handlers.get(handler) is not None

    def _unhealthy_step(self, namespace: str, step_id: str) -> str:
        health = self.health.now(namespace, step_id)
        return health.error if health.status == "unhealthy" else ""


def is_step(definition: object) -> TypeGuard[Step | StepBuilder | PythonStep[..., Any]]:
    return isinstance(definition, Step | StepBuilder | PythonStep)
