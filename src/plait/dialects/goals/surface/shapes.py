"""The step catalog as the API sends it. Nothing is left out when it is empty: clients index what they get."""

from __future__ import annotations

import msgspec

from plait.api.shape import Label, Scoped, Shape
from plait.dialects.goals.catalogs.cluster import StepHealth
from plait.dialects.goals.planning.plan import Links
from plait.dialects.goals.steps.step import Step
from plait.kernel.ids import Millis


class CatalogDetail(msgspec.Struct, frozen=True, kw_only=True):
    steps: list[Step]
    """Steps by id."""
    attributes: dict[str, Links]
    """Every name that steps share, with its providers and consumers."""
    health: dict[str, StepHealth]
    last_updated: Millis
    """Milliseconds; 0 if it never changed."""
    sequence: int
    """The number of its last event."""


class StepDetail(Shape, frozen=True, kw_only=True):
    step: Step
    health: StepHealth


class RemovedStep(msgspec.Struct, frozen=True, kw_only=True):
    """What no longer works without the step. Runs in progress keep it."""

    orphans: dict[str, list[str]]
    """Names that no step provides any more, each with the steps that consume it."""
    flows: list[str]
    """Flow steps that had it as their goal: they can't be planned any more."""


class SavedSteps(Shape, frozen=True, kw_only=True):
    """In the catalog of their namespace, with their defaults filled in."""

    step: Step | None = None
    """Present if one step was sent."""
    steps: list[Step] | None = None
    """Present if a list was sent."""

    @property
    def all(self) -> list[Step]:
        return self.steps or [] if self.step is None else [self.step]


class ListSteps(Scoped, frozen=True, kw_only=True):
    label: list[Label] = msgspec.field(default_factory=list[str])
    """`key:value`; a step must have all of them."""
