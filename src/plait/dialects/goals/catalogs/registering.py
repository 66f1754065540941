"""Changes to a catalog: each is checked against it and yields the events that make it, or an error and no event.

The steps have already passed `read_step` and `check_scripts`. A writer appends the events at the catalog's sequence
number; on a conflict it folds what is new and asks again. Several changes at once go through a `Draft`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from plait.dialects.goals.errors import Cycle, StepExists, TypeConflict
from plait.dialects.goals.steps.ports import Ports, ports_of
from plait.dialects.goals.steps.step import Step, differences

from .catalog import Catalog, CatalogEvent, StepRegistered, StepUnregistered, StepUpdated
from .cycles import find_cycle
from .graph import Graph


def register(catalog: Catalog, step: Step) -> list[CatalogEvent]:
    """Adds a new step. An identical step yields no event; a different one with the same id is refused."""
    old = catalog.steps.get(step.id)
    if old is None:
        _check(catalog.graph, step)
        return [StepRegistered(step)]
    if old != step:
        raise StepExists(step.id, differences(old, step))
    return []


def update(catalog: Catalog, step: Step) -> list[CatalogEvent]:
    """Replaces an existing step. An identical one yields no event."""
    if catalog.get(step.id) == step:
        return []
    _check(_without(catalog.graph, step.id), step)
    return [StepUpdated(step)]


def upsert(catalog: Catalog, step: Step) -> list[CatalogEvent]:
    return update(catalog, step) if step.id in catalog.steps else register(catalog, step)


class Removal(msgspec.Struct, frozen=True):
    """The effects of unregistering a step on other steps. Runs in flight keep their snapshot."""

    events: list[CatalogEvent]
    orphans: dict[str, list[str]]
    """Name -> its consumers, where no provider is left: runs must now give it in their init."""
    flows: list[str]
    """Flow steps that have it as their goal: they can't be planned any more."""


def unregister(catalog: Catalog, step_id: str) -> Removal:
    catalog.get(step_id)
    ports = catalog.graph.ports[step_id]
    orphans: dict[str, list[str]] = {}
    for name in ports.outputs:
        ties = catalog.graph.ties(name)
        if ties.providers == (step_id,) and ties.consumers:
            orphans[name] = list(ties.consumers)
    return Removal([StepUnregistered(step_id)], orphans, list(catalog.graph.flows.get(step_id, ())))


class Draft:
    """Changes, all or none: each is checked against those before it. The catalog itself stays unchanged; only from the
    second change on is a copy needed."""

    def __init__(self, catalog: Catalog) -> None:
        self._base = catalog
        self._copy: Catalog | None = None
        self.events: list[CatalogEvent] = []

    @property
    def catalog(self) -> Catalog:
        """The catalog with the changes so far."""
        if self._copy is None and self.events:
            self._copy = self._base.copy()
            for event in self.events:
                self._copy.apply(event)
        return self._copy or self._base

    def register(self, step: Step) -> None:
        self._take(register(self.catalog, step))

    def update(self, step: Step) -> None:
        self._take(update(self.catalog, step))

    def upsert(self, step: Step) -> None:
        self._take(upsert(self.catalog, step))

    def unregister(self, step_id: str) -> Removal:
        removal = unregister(self.catalog, step_id)
        self._take(removal.events)
        return removal

    def _take(self, events: Iterable[CatalogEvent]) -> None:
        for event in events:
            if self._copy is not None:
                self._copy.apply(event)
            self.events.append(event)


def _check(graph: Graph, step: Step) -> None:
    """Checks types first, then cycles; the graph must not hold the step."""
    ports = ports_of(step)
    if conflicts := _conflicts(graph, ports):
        raise TypeConflict(conflicts)
    if path := find_cycle(graph, step.id, ports):
        raise Cycle(path)


def _conflicts(graph: Graph, ports: Ports) -> list[tuple[str, str, str, str]]:
    found: list[tuple[str, str, str, str]] = []
    for name, kind in ports.types:
        ties = graph.ties(name)
        if ties.typed and ties.type != kind:
            found.append((name, ties.type, ties.typed[0], kind))
    return found


def _without(graph: Graph, step_id: str) -> Graph:
    found = graph.copy()
    found.remove(step_id)
    return found
