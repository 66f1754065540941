"""A definition under validation, as the rules see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plait.definitions.nearest import nearest

from .config_refs import Blobs, config_ref, stored_config
from .node_types import NodeTypes
from .read import Draft, Placed
from .routes import Routing, routings
from .topology import Topology

_SUGGESTIONS = 100
"""The most suggestions for one definition: finding a similar name is slow."""


@dataclass(slots=True)
class Suggestions:
    left: int = _SUGGESTIONS

    def nearest(self, wanted: str, known: Iterable[str]) -> str | None:
        if self.left == 0:
            return None
        self.left -= 1
        return nearest(wanted, known, close=0)


@dataclass(frozen=True, slots=True)
class Examined:
    draft: Draft
    types: NodeTypes
    blobs: Blobs
    routings: Mapping[str, Routing]
    topology: Topology
    """Leaves out edges from a node to itself, which are a flaw of their own."""
    suggestions: Suggestions = field(default_factory=Suggestions)

    @classmethod
    def of(cls, draft: Draft, types: NodeTypes, blobs: Blobs) -> Examined:
        found = routings(draft)
        forward = {id: [each for each in routing.forward() if each != id] for id, routing in found.items()}
        return cls(draft, types, blobs, found, Topology(forward))

    def config(self, placed: Placed) -> dict[str, Any] | None:
        """A node's config, inline or stored; None if the stored one is missing or is not an object."""
        ref = config_ref(placed.node)
        return placed.node.config if ref is None else stored_config(self.blobs, ref)

    def loops(self) -> Iterator[tuple[str, str, frozenset[str]]]:
        """Each loop with a valid back-edge: its node, the node it goes back to, and its body."""
        for id, routing in self.routings.items():
            if routing.loop is None:
                continue
            back_to = routing.loop.loop_back_to or id
            if back_to in self.routings and back_to in self.topology.upstream(id):
                yield id, back_to, self.topology.body(id, back_to)
