"""Errors of steps, and of the runs that they fail."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from plait.dialects.refs.definition.plan import StepPlan
from plait.kernel.cause import of_operation
from plait.kernel.errors import ErrorInfo

_TIMEOUTS: Final = {"tool": "tool_timeout", "code": "code_timeout"}
_UNANSWERED: Final = frozenset(
    ("task.timeout", "tool_timeout", "code_timeout", "task.heartbeat", "interrupted", "tool_unavailable")
)


def error(code: str, message: str, cause: ErrorInfo | None = None) -> ErrorInfo:
    return ErrorInfo(code, message, cause=cause)


def of_task(step: StepPlan, found: ErrorInfo, *, transform: bool = False) -> ErrorInfo:
    """Translates the kernel's own errors to those of the dialect."""
    kind = "code" if transform else step.kind
    if found.code == "task.timeout":
        limit = 10_000 if transform else round((step.timeout or 0) * 1000)
        message = f"Code interrupted after {limit} ms" if kind == "code" else found.message
        return replace(found, code=_TIMEOUTS.get(kind, found.code), message=message)
    if found.code == "kernel.task_interrupted":
        return replace(found, code="interrupted")
    return found


def got_an_answer(found: ErrorInfo | None) -> bool:
    """Whether the error is an answer from whoever did the work: the same key would get the same answer again."""
    return found is not None and found.code not in _UNANSWERED


def of_run(id: str, found: ErrorInfo, attempts: int = 1) -> ErrorInfo:
    """The error of a run that failed because of a step."""
    label = f'Step "{id}"'
    cause = of_operation(found, id, label, attempts)
    return ErrorInfo(found.code, f"{label} failed: {found.message}", cause=cause)
