"""Evaluates expressions of a program in a scope; an error fails the step."""

from __future__ import annotations

from typing import Any

from plait.dialects.afl.expressions.errors import ExpressionError
from plait.dialects.afl.expressions.evaluate import evaluate as worth
from plait.dialects.afl.expressions.evaluate import holds as is_true
from plait.dialects.afl.program.parts import Expr

from .failures import StepError
from .scope import Scope


def evaluate(expr: Expr, scope: Scope) -> Any:
    """Returns the value; raises `StepError`."""
    try:
        return worth(expr, scope)
    except ExpressionError as error:
        raise StepError(error.code, str(error), error.type) from None


def holds(expr: Expr, scope: Scope) -> bool:
    """Returns the verdict; raises `StepError`."""
    try:
        return is_true(expr, scope)
    except ExpressionError as error:
        raise StepError(error.code, str(error), error.type) from None
