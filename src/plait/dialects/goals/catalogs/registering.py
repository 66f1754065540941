"""Changes to a catalog: each is checked against it and gives the events that make it, or an error and no event.

The steps have passed `read_step` and `check_scripts` by then. A writer appends the events at the sequence that the
catalog had; on a conflict it folds what is new and asks again. Several changes at once go through a `Draft`.
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
    """A new step. The same again is fine and gives no event; another with its id is refused."""
    old = catalog.steps.get(step.id)
    if old is None:
        _check(catalog.graph, step)
        return [StepRegistered(step)]
    if old != step:
        raise StepExists(step.id, differences(old, step))
    return []


def update(catalog: Catalog, step: Step) -> list[CatalogEvent]:
    """Another version of a step that is there. The same again gives no event."""
    if catalog.get(step.id) == step:
        return []
    _check(_without(catalog.graph, step.id), step)
    return [StepUpdated(step)]


def upsert(catalog: Catalog, step: Step) -> list[CatalogEvent]:
    return update(catalog, step) if step.id in catalog.steps else register(catalog, step)


class Removal(msgspec.Struct, frozen=True):
    """What unregistering a step does to the others. Runs under way keep their snapshot."""

    events: list[CatalogEvent]
    orphans: dict[str, list[str]]
    """Name -> its consumers, where nobody provides it any more: runs must now bring it in their init."""
    flows: list[str]
    """Flow steps whose goal it is: they can't be planned any more."""


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
    """Changes, all or none: each is checked against those before it. The catalog itself stays as it is; only a second
    change needs a copy of it."""

    def __init__(self, catalog: Catalog) -> None:
        self._base = catalog
        self._copy: Catalog | None = None
        self.events: list[CatalogEvent] = []

    @property
    def catalog(self) -> Catalog:
        """With the changes so far."""
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
    """Types first, then circles; the graph does not hold the step."""
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
