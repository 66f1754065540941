"""Events of the cluster: what the nodes find out about the steps of a namespace."""

from __future__ import annotations

from typing import Literal

from plait.kernel.events import Event

Status = Literal["unknown", "healthy", "unhealthy"]


class StepHealthChanged(Event, frozen=True, tag="step_health_changed"):
    node_id: str
    step_id: str
    status: Status
    error: str = ""
