"""`engine.catalog`: the steps that goals are planned with.

    await engine.catalog.register(catalog_step("greet").required("name", str).output("greeting", str).lua("return ..."))

    async with engine.catalog.transaction() as changes:      # all or none
        changes.upsert(charge)
        changes.unregister("charge-old")

A step is fully checked before it is accepted: its shape, its scripts, then its place among the others. Changes by
another process are seen by the next call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol, overload

from plait.dialects.goals.catalogs.catalogs import Catalogs
from plait.dialects.goals.catalogs.cluster import StepHealth
from plait.dialects.goals.catalogs.health import Health, HealthReport
from plait.dialects.goals.catalogs.registering import Removal
from plait.dialects.goals.planning.plan import Links
from plait.dialects.goals.steps.scripts import Compiler, check_scripts
from plait.dialects.goals.steps.step import Step
from plait.kernel.events import Recorded
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, run_key

from .catalog_changes import CatalogChanges, Declared, Handler

_SCRIPTS_AT_A_TIME = 10
"""Steps whose scripts are compiled before the event loop gets a turn."""


class Handlers(Protocol):
    """The functions that Python steps call."""

    def add(self, name: str, handler: Callable[..., Any], /) -> object: ...


class StepCatalog:
    """The catalog of one namespace; `of` returns that of another."""

    def __init__(
        self,
        catalogs: Catalogs,
        health: Health,
        compiler: Compiler,
        handlers: Handlers,
        namespace: str = DEFAULT_NAMESPACE,
    ) -> None:
        run_key(namespace, "catalog")  # refuses an invalid namespace
        self._catalogs = catalogs
        self._health = health
        self._compiler = compiler
        self._handlers = handlers
        self.namespace = namespace

    def of(self, namespace: str) -> StepCatalog:
        return StepCatalog(self._catalogs, self._health, self._compiler, self._handlers, namespace)

    # -- changing ------------------------------------------------------------------------------------------------

    async def register(self, step: Declared, handler: Handler | None = None) -> Step:
        """Adds a new step; durable when this returns. The same again is fine; another with its id is refused."""
        async with self.transaction() as changes:
            return changes.register(step, handler)

    async def update(self, step: Declared, handler: Handler | None = None) -> Step:
        """Replaces an existing step. Runs in flight keep the version that they were planned with."""
        async with self.transaction() as changes:
            return changes.update(step, handler)

    async def upsert(self, step: Declared, handler: Handler | None = None) -> Step:
        """Registers the step, or updates it if it exists."""
        async with self.transaction() as changes:
            return changes.upsert(step, handler)

    async def unregister(self, step_id: str) -> Removal:
        """Removes a step, and returns which others are left without a provider or a goal."""
        async with self.transaction() as changes:
            changes.unregister(step_id)
        return changes.removals[step_id]

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[CatalogChanges]:
        """Several changes made when the block ends: all of them, or none if one is refused or the block raises."""
        changes = CatalogChanges()
        yield changes
        await self._make(changes)

    async def _make(self, changes: CatalogChanges) -> None:
        for number, step in enumerate(changes.steps, 1):
            if number % _SCRIPTS_AT_A_TIME == 0:
                await asyncio.sleep(0)
            await check_scripts(step, self._compiler)
        await self._catalogs.change(self.namespace, changes.make)
        for step, handler in changes.handlers:
            if step.python is not None:
                self._handlers.add(step.python.handler, handler)
                self._health.look(self.namespace, [step.id])

    # -- queries -------------------------------------------------------------------------------------------------

    async def get(self, step_id: str) -> Step:
        return (await self._catalogs.refresh(self.namespace)).get(step_id)

    async def attributes(self) -> dict[str, Links]:
        """Every name that steps share, with its providers and consumers."""
        names = (await self._catalogs.refresh(self.namespace)).graph.names
        return {name: Links(list(ties.providers), list(ties.consumers)) for name, ties in sorted(names.items())}

    @overload
    async def health(self, step_id: str) -> StepHealth: ...
    @overload
    async def health(self, step_id: None = None) -> HealthReport: ...
    async def health(self, step_id: str | None = None) -> StepHealth | HealthReport:
        """The health of one step, as its worst node reports it; or of all steps, also by node."""
        if step_id is None:
            return await self._health.report(self.namespace)
        return await self._health.get(self.namespace, step_id)

    @property
    def last_updated(self) -> Millis:
        """The time of the last change that this process has seen; 0 if there is none."""
        return self._catalogs.get(self.namespace).last_updated

    @property
    def sequence(self) -> int:
        """The number of the last event that this process has seen."""
        return self._catalogs.sequence(self.namespace)

    async def events(self, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """The events of the catalog after event `after`."""
        return await self._catalogs.events(self.namespace, after, limit)

    async def health_events(self, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """The changes of its steps' health, by node, after event `after`."""
        return await self._health.events(self.namespace, after, limit)

    async def list(self, labels: Mapping[str, str] | None = None) -> list[Step]:
        """Steps by id; with `labels`, only those that have all of them."""
        steps = (await self._catalogs.refresh(self.namespace)).steps
        wanted = (labels or {}).items()
        return [steps[step_id] for step_id in sorted(steps) if wanted <= steps[step_id].labels.items()]
