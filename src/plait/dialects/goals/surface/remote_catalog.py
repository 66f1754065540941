"""The step catalog of a server: the calls of `engine.catalog`, over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plait.api.definition import SaveMode
from plait.api.transport import Parameters, Transport
from plait.dialects.goals.catalogs.catalog_changes import Declared
from plait.dialects.goals.catalogs.health import HealthReport
from plait.dialects.goals.catalogs.registering import Removal
from plait.dialects.goals.planning.plan import Links
from plait.dialects.goals.steps.builder import PythonStep, StepBuilder
from plait.dialects.goals.steps.step import Step, emitted
from plait.kernel.ids import DEFAULT_NAMESPACE

from .shapes import CatalogDetail, RemovedStep, SavedSteps, StepDetail


class RemoteCatalog:
    """The catalog of one namespace; `of` returns that of another. Functions of Python steps are the server's own."""

    def __init__(self, transport: Transport, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._transport = transport
        self.namespace = namespace

    def of(self, namespace: str) -> RemoteCatalog:
        return RemoteCatalog(self._transport, namespace)

    # -- changes -------------------------------------------------------------------------------------------------

    async def register(self, step: Declared) -> Step:
        """Adds a new step; durable when this returns. The same again is fine; another with its id is refused."""
        return await self._put(step, "register")

    async def update(self, step: Declared) -> Step:
        """Replaces an existing step."""
        return await self._put(step, "update")

    async def upsert(self, step: Declared) -> Step:
        """Registers the step, or updates it if it exists."""
        return await self._put(step, "upsert")

    async def put(self, steps: Iterable[Declared], mode: SaveMode) -> Sequence[Step]:
        """Saves several steps: all of them, or none if one is refused."""
        return (await self._save([_sent(step) for step in steps], mode)).all

    async def unregister(self, step_id: str) -> Removal:
        """Removes a step, and returns which others are left without a provider or a goal."""
        found = await self._transport.delete(self._path(step_id), RemovedStep, self._query)
        return Removal([], found.orphans, found.flows)

    async def _put(self, step: Declared, mode: SaveMode) -> Step:
        return (await self._save(_sent(step), mode)).all[0]

    async def _save(self, definition: Any, mode: SaveMode) -> SavedSteps:
        body = {"dialect": "goals", "definition": definition, "mode": mode}
        return await self._transport.post(
            self._transport.path("definitions"), SavedSteps, body, self._query, idempotent=True
        )

    # -- queries -------------------------------------------------------------------------------------------------

    async def get(self, step_id: str) -> Step:
        return (await self._transport.get(self._path(step_id), StepDetail, self._query)).step

    async def list(self, labels: Mapping[str, str] | None = None) -> list[Step]:
        """Steps by id; with `labels`, only those that have all of them."""
        wanted = (labels or {}).items()
        return [step for step in (await self._whole()).steps if wanted <= step.labels.items()]

    async def attributes(self) -> dict[str, Links]:
        """Every name that steps share, with its providers and consumers."""
        return (await self._whole()).attributes

    async def health(self) -> HealthReport:
        """The health of each step, as its worst node reports it; a server does not list the nodes."""
        found = await self._whole()
        return HealthReport(found.health, {}, found.last_updated)

    async def _whole(self) -> CatalogDetail:
        return await self._transport.get(self._path(), CatalogDetail, self._query)

    def _path(self, *parts: str) -> str:
        return self._transport.path("catalog", *parts)

    @property
    def _query(self) -> Parameters:
        return {"namespace": self.namespace}


def _sent(step: Declared) -> Mapping[str, Any]:
    match step:
        case Step():
            return emitted(step)
        case StepBuilder():
            return emitted(step.build())
        case PythonStep():
            return emitted(step.definition)
        case _:
            return step
