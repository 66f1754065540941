"""What the nodes of a random graph do: fixed by the seed, the node, its round and the way its token took since the last
join, never by the order of things."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

START = "start"


@dataclass(frozen=True)
class World:
    seed: int
    failing: frozenset[str] = frozenset()
    """Nodes whose work fails for good."""
    flaky: frozenset[str] = frozenset()
    """Nodes whose first attempt fails."""

    def output(self, node: str, loops: Mapping[str, int], way: str) -> dict[str, Any]:
        return {"node": node, "v": self._draw(node, loops, way) % 4}

    def approves(self, node: str, loops: Mapping[str, int], way: str) -> bool:
        return self._draw(node, loops, way) % 3 > 0

    def _draw(self, node: str, loops: Mapping[str, int], way: str) -> int:
        return hashlib.md5(f"{self.seed}/{node}/{rounds(loops)}/{way}".encode()).digest()[0]


def onward(way: str, target: str) -> str:
    """The way of a token that is emitted."""
    return hashlib.md5(f"{way}>{target}".encode()).hexdigest()[:8]


def joined(node: str, loops: Mapping[str, int]) -> str:
    """The way of all that a join sends on in one round: which tokens meet in it is a matter of order."""
    return f"{node}@{rounds(loops)}"


def rounds(loops: Mapping[str, int]) -> str:
    return ",".join(f"{loop}={i}" for loop, i in sorted(loops.items()) if i > 1)
