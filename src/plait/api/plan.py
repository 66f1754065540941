"""Plans: what a run would do, before it starts."""

from __future__ import annotations

from typing import Any

import msgspec

from .shape import Body, DialectName, Name, RunIdText, Shape


class RunPlan(Shape, frozen=True, kw_only=True):
    dialect: str
    definition: str
    version: str | None = None
    valid: bool
    """Whether a run could be started this way. A plan with gaps is returned with `valid` false; a definition that can't
    be planned at all is refused."""
    input: Any = None
    """The input as the definition reads it."""
    notes: list[str]
    plan: Any = None
    """The steps that would run and those that would not, if the dialect can tell in advance."""


class PlanRun(Body, frozen=True, kw_only=True):
    definition: Name | dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    dialect: DialectName | None = None
    """The server's default dialect if left out."""
    input: Any = None
    from_run: RunIdText | None = None
    """Instead of a definition: a run to make one from, if its dialect can. The plan is then a draft of it."""
    options: dict[str, Any] = {}
    """Options of that draft."""
