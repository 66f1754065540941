"""The log of a namespace's promoted tools, and the state folded from it."""

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
    """Uses at the time of promotion."""
    steps: list[dict[str, Any]]
    at: Millis


class ToolLog:
    """Changed only by `apply`."""

    def __init__(self) -> None:
        self.tools: dict[str, PromotedTool] = {}
        """By name, oldest first."""
        self.hashes: set[str] = set()
        """Hashes of all pipelines ever promoted: none is promoted again."""
        self.names: dict[str, str] = {}
        """The hash behind every name ever given: a name never comes to mean another pipeline."""

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
