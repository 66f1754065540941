"""Events of a catalog: what its state is folded from."""

from __future__ import annotations

from plait.dialects.goals.steps.step import Step
from plait.kernel.events import Event


class StepRegistered(Event, frozen=True, tag="step_registered"):
    step: Step


class StepUpdated(Event, frozen=True, tag="step_updated"):
    step: Step


class StepUnregistered(Event, frozen=True, tag="step_unregistered"):
    step_id: str


CatalogEvent = StepRegistered | StepUpdated | StepUnregistered
