"""What a run would do, before it is started."""

from __future__ import annotations

from typing import Any

from .shape import Body, DialectName, Name, Shape


class RunPlan(Shape, frozen=True, kw_only=True):
    dialect: str
    definition: str
    version: str | None = None
    valid: bool
    """Whether a run could be started this way. A plan with gaps is returned with them; what can't be planned at all
    is refused."""
    input: Any = None
    """As the definition reads it."""
    notes: list[str]
    plan: Any = None
    """Which steps would run and which would not, where the dialect can tell in advance."""


class PlanRun(Body, frozen=True, kw_only=True):
    definition: Name | dict[str, Any]
    dialect: DialectName | None = None
    """The server's default dialect if left out."""
    input: Any = None
