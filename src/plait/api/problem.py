"""Errors as `application/problem+json` (RFC 9457), with our code and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plait.kernel.errors import Flaw

from .shape import Shape

MEDIA_TYPE = "application/problem+json"


class Problem(Shape, frozen=True, kw_only=True):
    """Why a request was refused or failed."""

    type: str
    """The type: `urn:plait:error:` and the code."""
    title: str
    status: int
    detail: str
    code: str
    why: str = ""
    fix: str = ""
    errors: Sequence[Flaw] = ()
    diagnostics: Sequence[dict[str, Any]] = ()
    """The compiler's diagnostics of a program, with file, line and column."""
    retry_after_seconds: int | None = None
    """Seconds after which to try again, if known."""
    request_id: str = ""
    """Finds the request in the server's log."""
