"""The health of a namespace's steps as each node reports it, folded from events one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.events import Event
from plait.kernel.ids import Millis

Status = Literal["unknown", "healthy", "unhealthy"]


class StepHealthChanged(Event, frozen=True, tag="step_health_changed"):
    node_id: str
    step_id: str
    status: Status
    error: str = ""


class StepHealth(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    status: Status
    error: str = ""


UNKNOWN = StepHealth("unknown")
HEALTHY = StepHealth("healthy")


def worst(found: Iterable[StepHealth]) -> StepHealth:
    """The health of things that are all needed: unhealthy if one is, else unknown if one is."""
    told = list(found)
    order: tuple[Status, ...] = ("unhealthy", "unknown", "healthy")
    return next((each for status in order for each in told if each.status == status), UNKNOWN)


class ClusterSnapshot(msgspec.Struct, frozen=True):
    nodes: dict[str, dict[str, StepHealth]]
    last_updated: Millis


_snapshot = msgspec.json.Decoder(ClusterSnapshot)


class Cluster:
    """Changed only by `apply`, `restore` and `forget`."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, StepHealth]] = {}
        """The known health of steps by node; steps of unknown health are left out."""
        self.last_updated = Millis(0)

    def apply(self, event: StepHealthChanged, at: Millis) -> None:
        steps = self.nodes.setdefault(event.node_id, {})
        if event.status == "unknown":
            steps.pop(event.step_id, None)
        else:
            steps[event.step_id] = StepHealth(event.status, event.error)
        self.last_updated = max(self.last_updated, at)

    def forget(self, alive: Collection[str]) -> None:
        """Drops the reports of nodes that are gone; where each deployment has new names, they would pile up."""
        self.nodes = {node: steps for node, steps in self.nodes.items() if node in alive}

    def snapshot(self) -> Raw:
        return Raw(values.plain(ClusterSnapshot(self.nodes, self.last_updated)))

    def restore(self, snapshot: Raw) -> set[str]:
        """Restores a snapshot; returns the steps whose health may have changed."""
        found, before = _snapshot.decode(snapshot), self.nodes
        self.nodes, self.last_updated = found.nodes, max(self.last_updated, found.last_updated)
        return {
            step_id
            for node in before.keys() | found.nodes
            for step_id in before.get(node, {}).keys() | found.nodes.get(node, {})
        }

    def of(self, step_id: str, alive: Collection[str] | None = None) -> StepHealth:
        """The worst health that a node reports of a step; `alive` leaves out nodes that are gone."""
        told = (steps.get(step_id) for node, steps in self.nodes.items() if alive is None or node in alive)
        return worst(each for each in told if each is not None)

    def changes(self, node: str, found: Mapping[str, StepHealth]) -> list[StepHealthChanged]:
        """The events for what differs from the node's last report."""
        known = self.nodes.get(node, {})
        return [
            StepHealthChanged(node, step_id, each.status, each.error)
            for step_id, each in found.items()
            if known.get(step_id, UNKNOWN) != each
        ]
