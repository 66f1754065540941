"""Checks that a result can be decoded to the declared return type: one that can't must not be recorded."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.failures import describe
from plait.kernel.inputs import TaskResult
from plait.kernel.values import ABSENT


def check_result(what: str, returns: Any, output: object, raw: Raw) -> None:
    """`what` says whose result it is, as in "step `charge`"."""
    if returns is Any or (returns is None and output is None):
        return
    try:
        values.decode(raw, returns)
    except (msgspec.DecodeError, TypeError, ValueError) as error:
        text = f"the result of {what} does not fit what its function says it returns"
        raise TypeError(f"{text}, {getattr(returns, '__name__', returns)}: {error}") from None


def checked_result(what: str, returns: Any, result: TaskResult) -> TaskResult:
    """A failure, if it does not fit: a worker of a queue may have other code than this, or be in another language."""
    try:
        check_result(what, returns, ABSENT, result.output)
    except Exception as error:  # also of the constructor of the user's own type
        return msgspec.structs.replace(result, error=describe(error), retryable=False)
    return result
