"""A tool: a name, a description, parameters, and a function that handles one call.

Permission is checked before the call. What it raises goes to the model, which may try something else: a `ToolFault`
with its text, anything else by its name, and into the log of the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec


class ToolFault(Exception):
    """A call that failed; the text is for the model."""


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """The caller of a tool, and the payload."""

    namespace: str
    run_id: str
    node_id: str
    key: str
    """The idempotency key, the same after a crash."""
    payload: Any
    """The value that the agent works on."""
    session_id: str = ""
    depth: int = 0
    """Depth of delegation."""


class Tool(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """A JSON Schema of an object; arguments are checked against it before the call."""
        ...

    async def call(self, arguments: Mapping[str, Any], use: ToolUse) -> Any:
        """Returns the result as JSON values."""
        ...
