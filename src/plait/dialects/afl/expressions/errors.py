"""Why an expression has no value."""

from __future__ import annotations

from typing import Literal

ExpressionErrorCode = Literal["AFL_REFERENCE", "AFL_EVALUATION"]


class ExpressionError(Exception):
    """What fails a step; `type` is what a catch sees."""

    code: ExpressionErrorCode = "AFL_EVALUATION"
    type = "EvaluationError"


class ReferenceFailed(ExpressionError):
    """Something that is read is not there."""

    code: ExpressionErrorCode = "AFL_REFERENCE"
    type = "ReferenceError"
