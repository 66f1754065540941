"""Tools that were promoted from agents' pipelines."""

from __future__ import annotations

from typing import Any

from plait.kernel.ids import Millis

from .shape import Shape


class PromotedTool(Shape, frozen=True, kw_only=True):
    name: str
    hash: str
    """SHA-256 of the pipeline's canonical JSON."""
    uses: int
    """How often it had been used when it was promoted."""
    steps: list[dict[str, Any]]
    promoted_at: Millis


class PromotedTools(Shape, frozen=True, kw_only=True):
    tools: list[PromotedTool]
    """The tools, oldest first."""
