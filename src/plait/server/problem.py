"""Turns errors into problems (RFC 9457) for HTTP callers."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import msgspec

from plait.api.problem import Problem
from plait.kernel.errors import Busy, PlaitError

log = logging.getLogger("plait.server")

_RETRY_AFTER = "1"
_TRY_LATER = (429, 503)


def problem_of(error: PlaitError, request_id: str = "") -> Problem:
    return Problem(
        type=f"urn:plait:error:{error.code}",
        title=error.what,
        status=error.status,
        detail=f"{error.what}: {error.why}" if error.why else error.what,
        code=error.code,
        why=error.why,
        fix=error.fix,
        errors=error.flaws,
        diagnostics=[msgspec.to_builtins(each) for each in getattr(error, "diagnostics", ())],
        retry_after_seconds=_retry_after(error),
        request_id=request_id,
    )


def _retry_after(error: PlaitError) -> int | None:
    return error.retry_after if isinstance(error, Busy) else None


def headers_of(error: PlaitError) -> dict[str, str]:
    given: Mapping[str, str] = getattr(error, "headers", {})
    seconds = _retry_after(error)
    later = {"retry-after": _RETRY_AFTER if seconds is None else str(seconds)} if error.status in _TRY_LATER else {}
    return later | dict(given)


def bug(error: Exception, request_id: str) -> PlaitError:
    """Makes an error for an unexpected exception: the log gets all of it, the caller only the request id to find it."""
    log.error("request %s failed unexpectedly", request_id, exc_info=error)
    return PlaitError(
        "server.bug",
        "internal server error",
        why="this is a bug in Plait; the server's log has the details",
        fix=f"report it with request id {request_id}",
    )
