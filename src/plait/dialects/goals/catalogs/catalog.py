"""The catalog of a namespace: its steps and their graph, folded from events one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

import msgspec
from msgspec import Raw

from plait.definitions.nearest import nearest
from plait.dialects.goals.errors import StepNotFound
from plait.dialects.goals.steps.ports import ports_of
from plait.dialects.goals.steps.step import Step
from plait.kernel import values
from plait.kernel.events import Event
from plait.kernel.ids import Millis

from .cycles import place
from .graph import Graph


class StepRegistered(Event, frozen=True, tag="step_registered"):
    step: Step


class StepUpdated(Event, frozen=True, tag="step_updated"):
    step: Step


class StepUnregistered(Event, frozen=True, tag="step_unregistered"):
    step_id: str


CatalogEvent = StepRegistered | StepUpdated | StepUnregistered


class CatalogSnapshot(msgspec.Struct, frozen=True):
    steps: list[Step]
    last_updated: Millis


_snapshot = msgspec.json.Decoder(CatalogSnapshot)


class Catalog:
    """Changed only by `apply` and `adopt`. `copy` is cheap: a snapshot, or the draft of a transaction."""

    def __init__(self, events: Iterable[CatalogEvent] = ()) -> None:
        self.steps: dict[str, Step] = {}
        self.graph = Graph()
        self.last_updated = Millis(0)
        for event in events:
            self.apply(event)

    def copy(self) -> Catalog:
        found = Catalog()
        found.steps = self.steps.copy()
        found.graph = self.graph.copy()
        found.last_updated = self.last_updated
        return found

    def adopt(self, other: Catalog, at: Millis) -> None:
        """Takes over the result of a transaction's draft, all at once."""
        self.steps, self.graph = other.steps, other.graph
        self.last_updated = max(self.last_updated, at)

    def apply(self, event: CatalogEvent, at: Millis = Millis(0)) -> None:
        match event:
            case StepRegistered(step) | StepUpdated(step):
                self._drop(step.id)
                self.steps[step.id] = step
                self.graph.add(step.id, ports_of(step))
                place(self.graph, step.id)
            case StepUnregistered(step_id):
                self._drop(step_id)
            case _:
                assert_never(event)
        self.last_updated = max(self.last_updated, at)

    def snapshot(self) -> Raw:
        return Raw(values.plain(CatalogSnapshot(list(self.steps.values()), self.last_updated)))

    @classmethod
    def restore(cls, snapshot: Raw) -> Catalog:
        """Restores the steps in the order of their last change, as folding all events would."""
        found = _snapshot.decode(snapshot)
        catalog = cls(map(StepRegistered, found.steps))
        catalog.last_updated = found.last_updated
        return catalog

    def _drop(self, step_id: str) -> None:
        if self.steps.pop(step_id, None) is not None:
            self.graph.remove(step_id)

    def get(self, step_id: str) -> Step:
        found = self.steps.get(step_id)
        if found is None:
            raise StepNotFound(step_id, nearest(step_id, self.steps))
        return found
