"""Errors of the dialect: their codes and types, section 5.1 of the spec."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from plait.kernel.errors import ErrorInfo

from .nodes import StepNode, path_of, path_words

REFERENCE: Final = "AFL_REFERENCE"
EVALUATION: Final = "AFL_EVALUATION"
TYPE: Final = "AFL_TYPE"
SCRIPT: Final = "AFL_SCRIPT"
ASSERT: Final = "AFL_ASSERT"
EVENT_FAILED: Final = "AFL_EVENT_FAILED"
EVENT_TIMEOUT: Final = "AFL_EVENT_TIMEOUT"
UPSTREAM: Final = "AFL_UPSTREAM"
STALLED: Final = "AFL_STALLED"
LIMIT: Final = "AFL_LIMIT"

_TYPES: Final = {
    REFERENCE: "ReferenceError",
    EVALUATION: "EvaluationError",
    TYPE: "TypeError",
    SCRIPT: "ScriptError",
    ASSERT: "AssertionError",
    EVENT_TIMEOUT: "TimeoutError",
}


class StepError(Exception):
    """Fails a step."""

    def __init__(self, code: str, message: str, type: str = "", cause: ErrorInfo | None = None) -> None:
        super().__init__(message)
        self.info = error(code, message, type, cause)


class LimitReached(Exception):
    """The run exceeds a limit: it fails as a whole, without any catch."""

    def __init__(self, what: str, value: int, limit: int, setting: str) -> None:
        text = f"{value:,} {what}; the limit is {limit:,} ({setting})"
        super().__init__(text)
        self.info = error(LIMIT, text)


def error(code: str, message: str, type: str = "", cause: ErrorInfo | None = None) -> ErrorInfo:
    return ErrorInfo(code, message, type=type or _TYPES.get(code, "RuntimeError"), cause=cause)


def at_step(node: StepNode, found: ErrorInfo) -> ErrorInfo:
    """The same error with the place where it happened; the innermost place is kept."""
    if found.ops:
        return found
    return replace(found, ops=[node.id], label=path_words(node), attrs={**found.attrs, "path": path_of(node)})


def after(attempts: int, found: ErrorInfo) -> ErrorInfo:
    """The same error, with the number of attempts of its event."""
    if attempts < 2 or found.kind == "child":
        return found
    attrs = {**found.attrs, "attempts": attempts}
    return replace(found, kind="exhausted", attrs=attrs, cause=found.cause or found)
