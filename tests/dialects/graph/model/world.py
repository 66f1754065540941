"""What the nodes of a random graph do: fixed by the seed, the node and its round, never by the order of things."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class World:
    seed: int
    failing: frozenset[str] = frozenset()
    """Nodes whose work fails for good."""
    flaky: frozenset[str] = frozenset()
    """Nodes whose first attempt fails."""

    def output(self, node: str, loops: Mapping[str, int]) -> dict[str, Any]:
        return {"node": node, "v": self._draw(node, loops) % 4}

    def approves(self, node: str, loops: Mapping[str, int]) -> bool:
        return self._draw(node, loops) % 3 > 0

    def _draw(self, node: str, loops: Mapping[str, int]) -> int:
        rounds = ",".join(f"{loop}={i}" for loop, i in sorted(loops.items()) if i > 1)
        return hashlib.md5(f"{self.seed}/{node}/{rounds}".encode()).digest()[0]
