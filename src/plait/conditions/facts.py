"""The data that a condition is evaluated on, and the names under which it sees that data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from plait.kernel.values import Json

from .verdict import Verdict

EMPTY: Final[Mapping[str, Any]] = {}

Place = Literal["node", "policy"]
"""Where a condition is used: at a node (loop, branch, edge), or in a policy."""
NAMES: Final[Mapping[Place, tuple[str, ...]]] = {
    "node": ("output", "ctx", "current", "input"),
    "policy": ("from_node", "to_node", "user", "input"),
}


MAX_LEAVES: Final = 64
"""Leaf conditions in a composite."""


class SandboxCall(msgspec.Struct, frozen=True):
    """A request to a sandbox: code that defines `evaluate(output, context)`, and its limits."""

    code: str
    timeout_ms: int
    max_memory_mb: int


class Facts(msgspec.Struct, frozen=True):
    names: Mapping[str, Json]
    node: str = ""
    """The node that just finished, for messages."""
    answers: Mapping[SandboxCall, Verdict] = {}
    """The sandbox's answers so far, for conditions that had to wait for it."""

    @property
    def output(self) -> Json:
        return self.names.get("output")

    @property
    def nodes(self) -> Mapping[str, Any]:
        """Node id → `{output, metadata}`."""
        return self.names.get("ctx") or EMPTY


def at_a_node(
    output: Json, ctx: Mapping[str, Any], input: Json, metadata: Mapping[str, Any] = EMPTY, node: str = ""
) -> Facts:
    current = {"output": output, "metadata": metadata}
    return Facts({"output": output, "ctx": ctx, "current": current, "input": input}, node)
