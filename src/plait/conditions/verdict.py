"""The result of evaluating a condition: true, false, or why it is unknown."""

from __future__ import annotations

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """Why a condition could not be evaluated as it was written."""

    code: str
    message: str
    """Names fields and types, never a value: values may be secret."""
    soft: bool = False
    """The condition is simply false: an operand of a cross-node comparison is missing."""


class Verdict(msgspec.Struct, frozen=True):
    value: bool | None
    """None if unknown; `error` then says why."""
    error: Problem | None = None


TRUE = Verdict(True)
FALSE = Verdict(False)


def of(value: bool) -> Verdict:
    return TRUE if value else FALSE


def failed(code: str, message: str) -> Verdict:
    return Verdict(None, Problem(f"condition.{code}", message))


def missing(message: str) -> Verdict:
    """False because an operand is missing."""
    return Verdict(False, Problem("condition.missing_operand", message, soft=True))
