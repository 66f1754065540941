"""The root cause of a failure: which operation failed and why, in one sentence. A function of the stored error
alone, so that lists, pages, commands and exceptions say the same, for every dialect.

An error wraps others: the last error of a step that used up its attempts, those of the branches of a join, that of a
child run. What people ask first is what failed innermost, so the wrapping is folded away.
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
    """Why, without the name of the operation."""
    label: str = ""
    """The operation that failed, as people call it; empty if the run failed by itself."""
    attempts: int = 0
    """That it had, if it used up all of them."""
    node: str | None = None
    """Where to look in the run itself: the operation that failed, or the one whose child run failed."""
    run: str | None = None
    """The child run in which it happened; the innermost, if it has children too."""
    run_node: str | None = None
    """The operation of that child run."""


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
        if error.kind == "child" and error.attrs.get("status") != "refused":  # which there is no run of
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
    """The error of an operation that failed for good, with its name and how often it was tried."""
    if attempts < 2:
        return replace(found, ops=[op], label=label)
    attrs = {"attempts": attempts}
    return ErrorInfo(found.code, found.message, "exhausted", attrs=attrs, cause=found, ops=[op], label=label)


def of_child(child: ChildFinished, code: str, message: str, type: str = "") -> ErrorInfo:
    """The error of an operation whose child run did not complete: how a cause is found in the child."""
    attrs = {"run_id": caller_id(child.run_id), "status": child.status}
    return ErrorInfo(code, message, "child", type, attrs=attrs, cause=child.error)


def _cancelled(error: ErrorInfo) -> str:
    """Nothing failed in a child that was cancelled: the operation that waited for it is what failed."""
    why = "" if error.message in ("", "cancelled") else f": {error.message}"
    return f"its child run was cancelled{why}"


def _inner(error: ErrorInfo) -> ErrorInfo | None:
    """What an error stands for. The cause of a step's own exception is that step's affair."""
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
