"""A condition tried on data, before it stands in a definition."""

from __future__ import annotations

from typing import Any

import msgspec

from .shape import Body, Shape


class ConditionTest(Body, frozen=True, kw_only=True):
    condition: Any
    """An object with a `type`, or the text of a CEL expression."""
    output: Any = None
    """Of the node that just finished."""
    ctx: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """Earlier nodes by id: `{output, metadata}`."""
    input: Any = None
    """Of the run."""


class ConditionProblem(Shape, frozen=True, kw_only=True):
    code: str
    message: str
    soft: bool = False
    """The condition is false all the same."""


class ConditionVerdict(Shape, frozen=True, kw_only=True):
    value: bool | None = None
    """Not there if it can't be told."""
    error: ConditionProblem | None = None
