"""What a condition is evaluated on, and the names under which it sees that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from plait.kernel.values import Json

from .verdict import Verdict

EMPTY: Final[Mapping[str, Any]] = {}

Place = Literal["node", "policy"]
"""Where a condition stands: at a node (loop, branch, edge), or in a policy."""
NAMES: Final[Mapping[Place, tuple[str, ...]]] = {
    "node": ("output", "ctx", "current", "input"),
    "policy": ("from_node", "to_node", "user", "input"),
}


MAX_LEAVES: Final = 64
"""Conditions in a composite that are none themselves."""


class SandboxCall(msgspec.Struct, frozen=True):
    """What is asked of a sandbox: code that defines `evaluate(output, context)`, and what it may take."""

    code: str
    timeout_ms: int
    max_memory_mb: int


class Facts(msgspec.Struct, frozen=True):
    names: Mapping[str, Json]
    node: str = ""
    """The node that just finished, for messages."""
    answers: Mapping[SandboxCall, Verdict] = {}
    """What the sandbox said, for conditions that were evaluated that far."""

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
