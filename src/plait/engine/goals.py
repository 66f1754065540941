"""The `goals` dialect wired: its catalogs, what its steps may call, and how they are."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterable
from typing import Any, TypeGuard

from plait.dialects.goals.catalogs.catalogs import Catalogs
from plait.dialects.goals.catalogs.checkups import Checker
from plait.dialects.goals.catalogs.health import Alive, Health
from plait.dialects.goals.dialect import GoalsDialect
from plait.dialects.goals.executors import StepScriptsExecutor
from plait.dialects.goals.memo import MemoExecutor
from plait.dialects.goals.running.decision_builder import PrepareChild
from plait.dialects.goals.steps.builder import PythonStep, StepBuilder
from plait.dialects.goals.steps.handlers import Handlers
from plait.dialects.goals.steps.step import Step
from plait.egress import Egress, EgressSettings
from plait.kernel.clock import Clock
from plait.kernel.errors import Unavailable
from plait.kernel.ids import RunId
from plait.kernel.records import Records
from plait.kernel.subscriptions import Subscriptions
from plait.kernel.task import Executor
from plait.scripts.languages import Languages
from plait.workers.callbacks import CallbackUrls, local_url
from plait.workers.http import HttpExecutor, HttpProbe, Send
from plait.workers.python import Functions, PythonExecutor
from plait.workers.script import ScriptExecutor

from .catalog import StepCatalog

log = logging.getLogger("plait.goals")

_PAUSE = 0.5
"""Seconds between two looks at what others wrote."""


class GoalsParts:
    """Made with the engine, opened and closed with it."""

    def __init__(
        self,
        records: Records,
        clock: Clock,
        prepare_child: PrepareChild,
        declared: Iterable[object],
        egress: EgressSettings | None,
        alive: Alive,
    ) -> None:
        self.webhooks: CallbackUrls = local_url
        """A server puts its own address here."""
        self._declared = [each for each in declared if is_step(each)]
        self._egress = Egress(egress or EgressSettings())
        self.send: Send = self._egress.send
        """How HTTP goes out; a simulation puts a world of its own here."""
        self._languages = Languages()
        functions = Functions()
        self.handlers = Handlers(functions)
        self.executors = self._executors(functions)
        self.catalogs = Catalogs(records, clock)
        checker = Checker(self._languages, self._knows, HttpProbe(lambda request: self.send(request)), clock)
        self.health = Health(self.catalogs, records, clock, checker, node=socket.gethostname(), alive=alive)
        self._reader: asyncio.Task[None] | None = None
        self.catalog = StepCatalog(self.catalogs, self.health, self._languages, self.handlers)
        self.dialect = GoalsDialect(self.catalogs, self.handlers, prepare_child, self._unhealthy)
        for step in self._declared:  # runs that are taken up at once call them
            if isinstance(step, PythonStep) and step.definition.python is not None:
                self.handlers.add(step.definition.python.handler, step)

    def _executors(self, functions: Functions) -> list[Executor]:
        def callbacks(run_id: RunId, node: str, token: str) -> str:
            return self.webhooks(run_id, node, token)

        common: list[Executor] = [
            PythonExecutor(functions, callbacks),
            HttpExecutor(lambda request: self.send(request), callbacks),
            ScriptExecutor(self._languages, callbacks),
        ]
        return [*common, StepScriptsExecutor(self._languages), MemoExecutor(common, self.handlers)]

    async def open(self, feed: Subscriptions, *, declare: bool, look: bool) -> None:
        """Reads the catalogs, puts in what the program declared, and begins to look how the steps are."""
        try:
            await self.catalogs.refresh_all()
        except Unavailable as error:  # runs are being taken up already; a start reads its catalog again
            log.warning("can't read the catalogs yet: %s", error)
        if declare and self._declared:
            async with self.catalog.transaction() as changes:
                for step in self._declared:
                    changes.upsert(step)
        if look:
            self.health.open()
            self._reader = asyncio.get_running_loop().create_task(self._keep_up(feed), name="plait.catalogs")

    async def leave(self) -> None:
        """Writes nothing any more."""
        await self.health.close()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    async def close(self) -> None:
        await self.leave()
        await self._languages.close()
        await self._egress.aclose()

    async def _keep_up(self, feed: Subscriptions) -> None:
        """Reads what other processes registered: a run may want it as a child without asking first."""
        with feed.others() as bell:
            while True:
                await bell.wait()
                bell.clear()
                try:
                    await self.catalogs.refresh_all()
                    await self.health.refresh_all()
                except Unavailable as error:
                    log.warning("can't read the catalogs for now: %s", error)
                await asyncio.sleep(_PAUSE)

    def _knows(self, handler: str) -> bool:
        return self.handlers.get(handler) is not None

    def _unhealthy(self, namespace: str, step_id: str) -> str:
        health = self.health.now(namespace, step_id)
        return health.error if health.status == "unhealthy" else ""


def is_step(definition: object) -> TypeGuard[Step | StepBuilder | PythonStep[..., Any]]:
    return isinstance(definition, Step | StepBuilder | PythonStep)
