"""Evaluates a condition on data, before it is used in a definition."""

from __future__ import annotations

from typing import Any

import msgspec

from .shape import Body, Shape


class ConditionTest(Body, frozen=True, kw_only=True):
    condition: Any
    """An object with a `type`, or the text of a CEL expression."""
    output: Any = None
    """The output of the node that just finished."""
    ctx: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """Earlier nodes by id: `{output, metadata}`."""
    input: Any = None
    """The input of the run."""


class ConditionProblem(Shape, frozen=True, kw_only=True):
    code: str
    message: str
    soft: bool = False
    """Whether the condition counts as false despite the error."""


class ConditionVerdict(Shape, frozen=True, kw_only=True):
    value: bool | None = None
    """The result; absent if the condition can't be evaluated."""
    error: ConditionProblem | None = None
