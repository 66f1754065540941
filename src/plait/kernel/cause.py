"""The root cause of a failure: the failed operation and the reason, in one sentence. It depends on the stored error
alone, so lists, pages, commands and exceptions agree, for every dialect.

Errors wrap others: the last error of a step that used up its attempts, the errors of a join's branches, the error of a
child run. People want the innermost failure first, so the wrapping is removed.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from .errors import ErrorInfo
from .ids import caller_id
from .inputs import ChildFinished


class Cause(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    text: str
    """The sentence to show first: "Take the payment failed: the card was declined"."""
    message: str
    """The reason, without the name of the operation."""
    label: str = ""
    """The label of the failed operation; empty if the run failed by itself."""
    attempts: int = 0
    """Attempts made, if all were used up; else 0."""
    node: str | None = None
    """The node to look at in the run itself: the failed operation, or the one whose child run failed."""
    run: str | None = None
    """The child run that failed; the innermost, if children are nested."""
    run_node: str | None = None
    """The failed node in that child run."""


def cause_of(error: ErrorInfo) -> Cause:
    label, attempts = "", 0
    node = run = run_node = None
    while True:
        if error.ops:
            label = error.label or error.ops[0]
            node, run_node = (error.ops[0], None) if run is None else (node, error.ops[0])
        if error.kind == "exhausted":
            attempts = int(error.attrs.get("attempts", 0))
        inner = _inner(error)
        if inner is None:
            break
        if error.kind == "child" and error.attrs.get("status") == "cancelled":
            run, error = str(error.attrs.get("run_id", "")) or None, replace(inner, message=_cancelled(inner))
            break
        if error.kind == "child" and error.attrs.get("status") != "refused":  # a refused child has no run
            run, run_node, label, attempts = str(error.attrs.get("run_id", "")) or None, None, "", 0
        error = inner
    return Cause(
        text=_sentence(label, attempts, error.message),
        message=error.message,
        label=label,
        attempts=attempts,
        node=node,
        run=run,
        run_node=run_node,
    )


def of_operation(found: ErrorInfo, op: str, label: str, attempts: int = 1) -> ErrorInfo:
    """The error of an operation that failed for good, with its name and number of attempts."""
    if attempts < 2:
        return replace(found, ops=[op], label=label)
    attrs = {"attempts": attempts}
    return ErrorInfo(found.code, found.message, "exhausted", attrs=attrs, cause=found, ops=[op], label=label)


def of_child(child: ChildFinished, code: str, message: str, type: str = "") -> ErrorInfo:
    """The error of an operation whose child run did not complete, with a link to the cause in the child."""
    attrs = {"run_id": caller_id(child.run_id), "status": child.status}
    return ErrorInfo(code, message, "child", type, attrs=attrs, cause=child.error)


def _cancelled(error: ErrorInfo) -> str:
    """Nothing failed in a cancelled child: the operation that waited for it is what failed."""
    why = "" if error.message in ("", "cancelled") else f": {error.message}"
    return f"its child run was cancelled{why}"


def _inner(error: ErrorInfo) -> ErrorInfo | None:
    """The error that this one wraps. The `__cause__` of a step's own exception is not unwrapped."""
    if error.parts:
        parts = error.parts.values()
        return next((part for part in parts if part.kind != "cancelled"), next(iter(parts)))
    cause = error.cause
    if cause is not None and (error.kind in ("child", "exhausted") or cause.ops):
        return cause
    return None


def _sentence(label: str, attempts: int, message: str) -> str:
    if not label:
        return message
    after = f" after {attempts} attempts" if attempts > 1 else ""
    return f"{label} failed{after}: {message}"
