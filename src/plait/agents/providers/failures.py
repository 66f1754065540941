"""Maps call errors to the kinds that the loop knows. Texts contain no key and no header."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

from pydantic_ai import exceptions as theirs

from plait.agents.model import ErrorKind, ModelError
from plait.egress.errors import EgressError

from .secrets import Secret, hide

_SHOWN: Final = 300
_KINDS: Final[tuple[tuple[type[Exception], ErrorKind, str], ...]] = (
    (theirs.ModelContextWindowExceededError, "context_too_long", "the conversation is too long for it"),
    (theirs.ModelAuthenticationError, "auth", "its endpoint refused the key"),
    (theirs.ModelQuotaExceededError, "auth", "the account has no quota or credit left"),
    (theirs.ModelRateLimitError, "rate_limited", "its endpoint is rate limiting"),
    (theirs.ModelUnavailableError, "overloaded", "its endpoint is overloaded"),
    (theirs.ModelServerError, "overloaded", "its endpoint failed"),
    (theirs.ModelRequestTimeout, "timeout", "it did not answer in time"),
    (theirs.ModelTimeoutError, "timeout", "it did not answer in time"),
    (theirs.ModelConnectionError, "overloaded", "the connection to its endpoint failed"),
    (theirs.ModelRequestRejectedError, "invalid_request", "its endpoint refused the request"),
    (theirs.UserError, "invalid_request", "the request can't be sent to it"),
)
"""The first match wins."""
_UNREADABLE: Final = "its endpoint answered what can't be read"


def error_of(model: str, error: Exception, secrets: Iterable[Secret]) -> ModelError:
    kind, what = _kind(error)
    detail = _detail(error)
    text = f"model `{model}`: {what}{f': {detail}' if detail else ''}"
    return ModelError(kind, hide(text, secrets), retry_after=_retry_after(error))


def unreadable(model: str) -> ModelError:
    """For an answer without content and without a reason for that."""
    return ModelError("overloaded", f"model `{model}`: {_UNREADABLE}")


def _kind(error: Exception) -> tuple[ErrorKind, str]:
    if (refused := _refused_by_egress(error)) is not None and not refused.retryable:
        return "invalid_request", "its endpoint can't be reached"
    for type, kind, what in _KINDS:
        if isinstance(error, type):
            return kind, what
    if isinstance(error, theirs.ModelHTTPError):
        return _kind_of_status(error.status_code)
    return "overloaded", _UNREADABLE


def _kind_of_status(status: int) -> tuple[ErrorKind, str]:
    if status >= 500:
        return "overloaded", "its endpoint failed"
    return ("timeout", "it did not answer in time") if status == 408 else ("invalid_request", "it refused the request")


def _retry_after(error: Exception) -> float | None:
    seconds = error.retry_after if isinstance(error, theirs.ModelAPIError) else None
    return None if seconds is None or not 0 <= seconds < 86_400 else seconds


def _detail(error: Exception) -> str:
    """The provider's message, if it is in a field meant for it: a body may echo headers and prompts."""
    if (refused := _refused_by_egress(error)) is not None:
        return f"{refused.what}: {refused.why}" if refused.why else refused.what
    status = f"status {error.status_code}" if isinstance(error, theirs.ModelHTTPError) else ""
    said = _said(error.body) if isinstance(error, theirs.ModelAPIError) else ""
    return ", ".join(part for part in (status, said) if part)


def _said(body: object) -> str:
    found: Any = body
    for name in ("error", "message"):
        if isinstance(found, dict):
            found = cast("dict[str, Any]", found).get(name, cast("dict[str, Any]", found).get("message"))
    if not isinstance(found, str):
        return ""
    plain = " ".join("".join(char if char.isprintable() else " " for char in found[: 4 * _SHOWN]).split())
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"


def _refused_by_egress(error: BaseException | None) -> EgressError | None:
    """The egress rules refuse a connection below the library, which wraps the error several times."""
    for _ in range(10):
        if error is None or isinstance(error, EgressError):
            return error
        error = error.__cause__ or error.__context__
    return None
