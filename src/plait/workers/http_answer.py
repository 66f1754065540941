"""What an HTTP response means for a task: a result, a failure for good, or one that may pass."""

from __future__ import annotations

from typing import Any, cast

from plait.egress import Response
from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.task import LATER, Later, TaskError
from plait.kernel.task_inputs import HttpInput

_SHOWN = 300
"""Characters of a body that an error shows."""


def result_of(response: Response, wanted: HttpInput) -> Any | Later:
    """What the other side returned, None if that is nothing. Raises for all but 2xx, and for a status that is to be
    tried again."""
    status = response.status
    if not 200 <= status < 300 or status in wanted.retry_statuses:
        raise _failure(response, wanted)
    if wanted.expects in ("callback", "nothing"):
        return LATER if wanted.expects == "callback" else None
    try:
        found = values.parse(response.body) if response.body.strip() else None
    except PlaitError as error:  # what is not JSON is wrong on every attempt
        reason = error.why or error.what
        raise TaskError(f"step returned what is not JSON: {reason}", retryable=False) from None
    if wanted.expects == "object" and not isinstance(found, dict):
        if found is None:
            return {}
        kind = "a list" if isinstance(found, list) else "a plain value"
        raise TaskError(f"step returned {kind}, not an object of outputs", retryable=False)
    return cast("Any", found)


def _failure(response: Response, wanted: HttpInput) -> TaskError:
    status, detail = response.status, _detail(response)
    text = f"step returned HTTP error: status {status}{': ' if detail else ''}{detail}"
    return TaskError(text, retryable=status >= 500 or status in wanted.retry_statuses)


def _detail(response: Response) -> str:
    """`detail`, else `title` of a problem; else the first part of a text."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if "json" in kind:
        told = _told(response.body)
        if told:
            return _line(told)
    elif kind and not kind.startswith("text/"):
        return ""
    return _line(response.body[: 4 * _SHOWN].decode(errors="replace"))


def _told(body: bytes) -> str:
    try:
        found = values.parse(body)
    except PlaitError:
        return ""
    if not isinstance(found, dict):
        return ""
    problem = cast("dict[str, Any]", found)
    texts = (problem.get(name) for name in ("detail", "title"))
    return next((each for each in texts if isinstance(each, str) and each), "")


def _line(text: str) -> str:
    """On one line, without what a terminal or a store would mind."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * _SHOWN]).split())
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"
