"""Errors of expressions that have no value."""

from __future__ import annotations

from typing import Literal

ExpressionErrorCode = Literal["AFL_REFERENCE", "AFL_EVALUATION"]


class ExpressionError(Exception):
    """Fails a step; `type` is what a catch sees."""

    code: ExpressionErrorCode = "AFL_EVALUATION"
    type = "EvaluationError"


class ReferenceFailed(ExpressionError):
    """A value that the expression reads does not exist."""

    code: ExpressionErrorCode = "AFL_REFERENCE"
    type = "ReferenceError"
