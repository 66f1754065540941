"""Compiles and evaluates in one go, as most tests want it."""

from __future__ import annotations

from typing import Any

import pytest

from plait import conditions
from plait.conditions import InvalidCondition, Verdict
from plait.kernel.errors import Flaw

FLAWS = frozenset({"bad_shape", "ref_missing", "syntax", "too_big", "unknown_node", "unknown_type"})
"""Codes of what is refused."""
PROBLEMS = frozenset(
    {
        "budget",
        "div_zero",
        "missing_operand",
        "no_such_field",
        "not_boolean",
        "out_of_range",
        "overflow",
        "type_mismatch",
    }
    | {"sandbox_error", "sandbox_memory", "sandbox_timeout", "sandbox_unavailable"}
)
"""Codes of what can't be evaluated."""


def judged(condition: Any, output: Any = None, ctx: dict[str, Any] | None = None, input: Any = None) -> Verdict:
    return conditions.compile(condition).evaluate(output, ctx or {}, input)


def truth(condition: Any, output: Any = None, ctx: dict[str, Any] | None = None, input: Any = None) -> bool | None:
    found = judged(condition, output, ctx, input)
    assert found.error is None, found.error
    return found.value


def failure(condition: Any, output: Any = None, ctx: dict[str, Any] | None = None, input: Any = None) -> str:
    """The code of the error, without its area."""
    found = judged(condition, output, ctx, input)
    assert found.error is not None, found.value
    return found.error.code.removeprefix("condition.")


def flaws(condition: Any, pointer: str = "", **options: Any) -> list[Flaw]:
    with pytest.raises(InvalidCondition) as caught:
        conditions.compile(condition, pointer, **options)
    return list(caught.value.flaws)


def refusal(condition: Any, **options: Any) -> tuple[str, str]:
    """The only flaw: its code, without the area, and its message."""
    (flaw,) = flaws(condition, **options)
    return flaw.code.removeprefix("condition."), flaw.message
