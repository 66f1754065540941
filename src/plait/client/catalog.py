"""The step catalog of a server: the calls of `engine.catalog`, from far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from plait.dialects.goals.catalogs.catalog_changes import Declared
from plait.dialects.goals.catalogs.health import HealthReport
from plait.dialects.goals.catalogs.registering import Removal
from plait.dialects.goals.planning.plan import Links
from plait.dialects.goals.steps.builder import PythonStep, StepBuilder
from plait.dialects.goals.steps.step import Step, emitted
from plait.kernel.ids import DEFAULT_NAMESPACE

from . import shapes
from .transport import Query, Transport

T = TypeVar("T")
Mode = Literal["register", "update", "upsert"]


class RemoteCatalog:
    """Of one namespace; `of` gives that of another. Functions of Python steps are the server's own."""

    def __init__(self, transport: Transport, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._transport = transport
        self.namespace = namespace

    def of(self, namespace: str) -> RemoteCatalog:
        return RemoteCatalog(self._transport, namespace)

    # -- changing ------------------------------------------------------------------------------------------------

    async def register(self, step: Declared) -> Step:
        """A new step; durable when this returns. The same again is fine, another with its id is refused."""
        return await self._put(step, "register")

    async def update(self, step: Declared) -> Step:
        """Another version of a step that is there."""
        return await self._put(step, "update")

    async def upsert(self, step: Declared) -> Step:
        """Registers the step, or updates it if it is there."""
        return await self._put(step, "upsert")

    async def put(self, steps: Iterable[Declared], mode: Mode) -> Sequence[Step]:
        """Several steps: all of them, or none if one is refused."""
        return (await self._save([_sent(step) for step in steps], mode, shapes.CatalogSteps)).steps

    async def unregister(self, step_id: str) -> Removal:
        """Takes a step out, and tells which others are left without a provider or a goal."""
        found = await self._transport.delete(self._path(step_id), shapes.StepRemoved, self._query)
        return Removal([], found.orphans, found.flows)

    async def _put(self, step: Declared, mode: Mode) -> Step:
        return (await self._save(_sent(step), mode, shapes.CatalogStep)).step

    async def _save(self, definition: Any, mode: Mode, shape: type[T]) -> T:
        body = {"dialect": "goals", "definition": definition, "mode": mode}
        path = self._transport.address.path("definitions")
        return await self._transport.post(path, shape, body, self._query, again=True)

    # -- looking -------------------------------------------------------------------------------------------------

    async def get(self, step_id: str) -> Step:
        return (await self._transport.get(self._path(step_id), shapes.CatalogStep, self._query)).step

    async def list(self, labels: Mapping[str, str] | None = None) -> list[Step]:
        """By id; with `labels`, those that have all of them."""
        wanted = (labels or {}).items()
        return [step for step in (await self._whole()).steps if wanted <= step.labels.items()]

    async def attributes(self) -> dict[str, Links]:
        """Every name that steps share, with those that give it and those that take it."""
        return (await self._whole()).attributes

    async def health(self) -> HealthReport:
        """How each step is, as its worst node says; what each node says, a server does not tell."""
        found = await self._whole()
        return HealthReport(found.health, {}, found.last_updated)

    async def _whole(self) -> shapes.Catalog:
        return await self._transport.get(self._path(), shapes.Catalog, self._query)

    def _path(self, *parts: str) -> str:
        return self._transport.address.path("catalog", *parts)

    @property
    def _query(self) -> Query:
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
