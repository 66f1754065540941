"""A tool: a name, what it is for, what it takes, and what it does with one call.

Whether an agent may use it is decided before it is called. What it raises goes to the model, which may try something
else: a `ToolFault` in its own words, anything else by its name, and into the log of the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec


class ToolFault(Exception):
    """A call that can't be answered; the text is for the model."""


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls, and on what."""

    namespace: str
    run_id: str
    node_id: str
    key: str
    """The idempotency key, equal after a crash."""
    payload: Any
    """What the agent works on."""
    session_id: str = ""
    depth: int = 0
    """Of delegation."""


class Tool(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """A JSON Schema of an object; arguments were checked against it."""
        ...

    async def call(self, arguments: Mapping[str, Any], use: ToolUse) -> Any:
        """The result, as JSON values."""
        ...
