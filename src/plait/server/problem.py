"""Errors as `application/problem+json` (RFC 9457), with our code and what to do about it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import msgspec

from plait.kernel.errors import Flaw, PlaitError

log = logging.getLogger("plait.server")

MEDIA_TYPE = "application/problem+json"
_RETRY_AFTER = "1"
_TRY_LATER = (429, 503)


class Problem(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Why a request was not done."""

    type: str
    """`urn:plait:error:` and the code."""
    title: str
    status: int
    detail: str
    code: str
    why: str = ""
    fix: str = ""
    errors: Sequence[Flaw] = ()
    request_id: str = ""
    """To find it in the logs of the server."""


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
        request_id=request_id,
    )


def headers_of(error: PlaitError) -> dict[str, str]:
    given: Mapping[str, str] = getattr(error, "headers", {})
    later = {"retry-after": _RETRY_AFTER} if error.status in _TRY_LATER else {}
    return later | dict(given)


def bug(error: Exception, request_id: str) -> PlaitError:
    """An error nobody foresaw: the log has all of it, the caller only the number to find it by."""
    log.error("request %s failed by a bug", request_id, exc_info=error)
    return PlaitError(
        "server.bug", "a bug in Plait", why="the server's log says more", fix=f"report it with request id {request_id}"
    )
