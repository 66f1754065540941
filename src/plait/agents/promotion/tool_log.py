"""The log of a namespace's promoted tools, and what it says when it is folded."""

from __future__ import annotations

from typing import Any, assert_never

import msgspec

from plait.kernel.events import Event
from plait.kernel.ids import Millis


class ToolPromoted(Event, frozen=True, tag="tool.promoted"):
    name: str
    hash: str
    uses: int
    steps: list[dict[str, Any]]


class ToolRemoved(Event, frozen=True, tag="tool.removed"):
    name: str
    hash: str
    uses: int


ToolEvent = ToolPromoted | ToolRemoved


class PromotedTool(msgspec.Struct, frozen=True):
    name: str
    hash: str
    uses: int
    """When it was promoted."""
    steps: list[dict[str, Any]]
    at: Millis


class ToolLog:
    """Changed by `apply` alone."""

    def __init__(self) -> None:
        self.tools: dict[str, PromotedTool] = {}
        """By name, the oldest first."""
        self.hashes: set[str] = set()
        """Of all that ever were promoted: none of them is promoted again."""
        self.names: dict[str, str] = {}
        """Hashes by every name that was ever given: a name never means another pipeline."""

    def apply(self, event: ToolEvent, at: Millis) -> None:
        match event:
            case ToolPromoted():
                self.tools[event.name] = PromotedTool(event.name, event.hash, event.uses, event.steps, at)
                self.hashes.add(event.hash)
                self.names[event.name] = event.hash
            case ToolRemoved():
                self.tools.pop(event.name, None)
            case _:
                assert_never(event)
