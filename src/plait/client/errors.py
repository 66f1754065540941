"""Turns a server's problems into the exceptions that an engine in this process would raise; and errors for a missing
response, or for one that is not Plait's."""

from __future__ import annotations

import os
from typing import cast

import httpx
import msgspec

from plait.api.problem import MEDIA_TYPE, Problem
from plait.kernel.errors import (
    Busy,
    Conflict,
    Erased,
    Forbidden,
    InvalidInput,
    NotFound,
    PlaitError,
    Stale,
    TooLarge,
    Unavailable,
)
from plait.kernel.version import __version__

from .connections import Answer

_GATEWAY = (502, 503, 504)
_LATER = (429, 503)


class Refused(PlaitError):
    """The server could not process the request as it was sent."""

    status = 400


class Unauthorized(PlaitError):
    """The server requires a key, or does not accept the one it got."""

    status = 401


_CLASSES: dict[int, type[PlaitError]] = {
    cls.status: cls
    for cls in (Unauthorized, Forbidden, NotFound, Conflict, Stale, TooLarge, InvalidInput, Busy, Unavailable)
}
_BY_CODE: dict[str, type[PlaitError]] = {"codec.erased": Erased}
"""Classes by code, for statuses that several errors share."""
_problem = msgspec.json.Decoder(Problem)

_KEY_FIXES = {
    "auth.no_key": "pass it with --key or PLAIT_KEY; `plait keys create` creates one",
    "auth.bad_key": "check --key or PLAIT_KEY; `plait keys create` creates a new one",
}
"""Advice for users of the client by code, where the server's advice is about headers."""


class NoAnswer(Unavailable):
    """No response, or not one of a Plait server."""


def refusal_of(status: int, code: str, what: str) -> PlaitError:
    """Makes the error for one refused item of several that were sent together."""
    return _CLASSES.get(status, Refused)(code, what)


def is_transient(error: PlaitError) -> bool:
    """Whether a retry may help. A refused key stays refused."""
    if isinstance(error, NoAnswer):
        return error.code in ("client.dropped", "client.gateway")
    return error.status in _LATER and not error.code.startswith("auth.")


def error_of(answer: Answer, url: str) -> PlaitError:
    """Returns the error in a response that is not a success; its body must have been read."""
    if answer.headers.get("content-type", "").startswith(MEDIA_TYPE):
        try:
            return _error(_problem.decode(answer.content))
        except msgspec.DecodeError:
            pass
    if answer.status_code in _GATEWAY:
        return NoAnswer(
            "client.gateway",
            f"no Plait server responds behind {url}",
            why=f"the proxy in front of it responds with {answer.status_code}",
            fix="check that the server is running",
        )
    return not_plait(url, _summary(answer))


def _error(problem: Problem) -> PlaitError:
    if problem.code == "http.no_route":
        return _other_version(problem.title)
    cls = _BY_CODE.get(problem.code) or _CLASSES.get(problem.status)
    cls = cls or (Refused if problem.status < 500 else PlaitError)
    fix = _KEY_FIXES.get(problem.code, problem.fix)
    return cls(problem.code, problem.title, why=problem.why, fix=fix, flaws=problem.errors)


def _summary(answer: Answer) -> str:
    if answer.is_redirect:
        return f"it redirects to {answer.headers.get('location', 'another address')[:200]}"
    kind = answer.headers.get("content-type", "").partition(";")[0]
    return f"it responds with {answer.status_code}" + (f" with {kind[:80]}" if kind else "")


def not_plait(url: str, why: str) -> NoAnswer:
    return NoAnswer(
        "client.not_plait", f"{url} is not a Plait server", why=why, fix="use the address that `plait serve` prints"
    )


def unreadable(error: msgspec.DecodeError) -> NoAnswer:
    """Makes the error for a response from Plait in a shape that this version does not know."""
    return _other_version(f"its response can't be decoded: {error}")


def _other_version(why: str) -> NoAnswer:
    return NoAnswer(
        "client.other_version",
        "the server runs another version of Plait",
        why=why,
        fix=f"this is Plait {__version__}: install the server's version here (`plait doctor` shows it)",
    )


def unreachable(error: httpx.HTTPError | httpx.InvalidURL, url: str) -> PlaitError:
    """Makes the error that explains why there was no response at all."""
    match error:
        case httpx.ConnectError() | httpx.ConnectTimeout():
            why = _reason(error) if isinstance(error, httpx.ConnectError) else "the connection timed out"
            return NoAnswer("client.no_server", f"no server responds at {url}", why=why, fix="start it: plait serve")
        case httpx.TimeoutException():
            return NoAnswer(
                "client.timeout",
                f"{url} did not respond in time",
                fix="check the server's load and logs; the request may have been processed",
            )
        case httpx.RemoteProtocolError() if "illegal" in str(error):
            return not_plait(url, "its response is not HTTP")
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return InvalidInput(
                "client.bad_url", f"{url} is not a valid address", why=str(error), fix="use http://host:port"
            )
        case _:
            return NoAnswer(
                "client.dropped",
                f"{url} closed the connection before it responded",
                why="" if isinstance(error, httpx.RemoteProtocolError) else _reason(error),
                fix="check whether the request was processed before you send it again",
            )


def _reason(error: Exception) -> str:
    """Returns the innermost message: the outer ones only tell that something went wrong."""
    cause: BaseException = error
    while (deeper := _cause(cause)) is not None:
        cause = deeper
    if isinstance(cause, OSError) and cause.errno is not None and cause.errno > 0:
        return os.strerror(cause.errno).lower()  # its own message is asyncio's
    return getattr(cause, "strerror", None) or str(cause) or str(error)


def _cause(error: BaseException) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        tried = cast("BaseExceptionGroup[BaseException]", error).exceptions  # one for each address of a host name
        return tried[0]
    return error.__cause__ or error.__context__
