"""What a server says against a request, as the exceptions that an engine in this process would raise; and what
happens when there is no answer, or one that is not Plait's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import cast

import httpx
import msgspec

import plait
from plait.kernel.errors import (
    Busy,
    Conflict,
    Flaw,
    InvalidInput,
    NotFound,
    PlaitError,
    TooLarge,
    Unavailable,
)

_PROBLEM = "application/problem+json"
_GATEWAY = (502, 503, 504)
_LATER = (429, 503)


class Refused(PlaitError):
    """The server could not use the request as it was sent."""

    status = 400


class Unauthorized(PlaitError):
    """The server asks for a key, or does not know the one it was given."""

    status = 401


class Forbidden(PlaitError):
    """The server knows who calls, and he may not do this."""

    status = 403


class _Problem(msgspec.Struct, frozen=True):
    title: str
    status: int
    code: str
    why: str = ""
    fix: str = ""
    errors: Sequence[Flaw] = ()


_CLASSES: dict[int, type[PlaitError]] = {
    cls.status: cls for cls in (Unauthorized, Forbidden, NotFound, Conflict, TooLarge, InvalidInput, Busy, Unavailable)
}
_problem = msgspec.json.Decoder(_Problem)

_KEY_FIXES = {
    "auth.no_key": "give it with --key or PLAIT_KEY; `plait keys create` makes one",
    "auth.bad_key": "check --key or PLAIT_KEY; `plait keys create` makes a new one",
}
"""What helps a caller that is a program, where the server speaks of headers."""


class Stray(Unavailable):
    """No answer, or not one of a Plait server."""


def is_passing(error: PlaitError) -> bool:
    """Whether it may be over in a moment. A key that is not taken does not get better by being sent again."""
    if isinstance(error, Stray):
        return error.code in ("client.dropped", "client.gateway")
    return error.status in _LATER and not error.code.startswith("auth.")


def refusal_of(answer: httpx.Response, url: str) -> PlaitError:
    """The error in an answer that is not a success; its body must have been read."""
    if answer.headers.get("content-type", "").startswith(_PROBLEM):
        try:
            return _error(_problem.decode(answer.content))
        except msgspec.DecodeError:
            pass
    if answer.status_code in _GATEWAY:
        return Stray(
            "client.gateway",
            f"no Plait server answers behind {url}",
            why=f"what is in front of it says {answer.status_code}",
            fix="see that the server runs",
        )
    return not_plait(url, _said(answer))


def _error(problem: _Problem) -> PlaitError:
    if problem.code == "http.no_route":
        return _other_version(problem.title)
    cls = _CLASSES.get(problem.status) or (Refused if problem.status < 500 else PlaitError)
    fix = _KEY_FIXES.get(problem.code, problem.fix)
    return cls(problem.code, problem.title, why=problem.why, fix=fix, flaws=problem.errors)


def _said(answer: httpx.Response) -> str:
    if answer.is_redirect:
        return f"it points to {answer.headers.get('location', 'another place')[:200]}"
    kind = answer.headers.get("content-type", "").partition(";")[0]
    return f"it answers {answer.status_code}" + (f" with {kind[:80]}" if kind else "")


def not_plait(url: str, why: str) -> Stray:
    return Stray(
        "client.not_plait", f"{url} is not a Plait server", why=why, fix="give the address that `plait serve` prints"
    )


def unreadable(error: msgspec.DecodeError) -> Stray:
    """Plait's routes, but not the shapes that this release knows."""
    return _other_version(f"its answer can't be read: {error}")


def _other_version(why: str) -> Stray:
    return Stray(
        "client.other_version",
        "the server is of another version of Plait",
        why=why,
        fix=f"this is Plait {plait.__version__}: install the server's version here (`plait doctor` says it)",
    )


def unreachable(error: httpx.HTTPError | httpx.InvalidURL, url: str) -> PlaitError:
    """Why there was no answer at all."""
    match error:
        case httpx.ConnectError() | httpx.ConnectTimeout():
            why = _reason(error) if isinstance(error, httpx.ConnectError) else "it takes no connection in time"
            return Stray("client.no_server", f"no server answers at {url}", why=why, fix="start it: plait serve")
        case httpx.TimeoutException():
            return Stray(
                "client.timeout",
                f"{url} does not answer in time",
                fix="look at the server's load and logs; what was sent may have been done",
            )
        case httpx.RemoteProtocolError() if "illegal" in str(error):
            return not_plait(url, "what it answers is not HTTP")
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return InvalidInput("client.bad_url", f"{url} is no address", why=str(error), fix="use http://host:port")
        case _:
            return Stray(
                "client.dropped",
                f"{url} broke off before it answered",
                why=_reason(error),
                fix="look whether what you sent was done, before you send it again",
            )


def _reason(error: Exception) -> str:
    """The innermost words: what is around them only says that something went wrong."""
    cause: BaseException = error
    while (deeper := _cause(cause)) is not None:
        cause = deeper
    if isinstance(cause, OSError) and cause.errno is not None and cause.errno > 0:
        return os.strerror(cause.errno).lower()  # its own words are asyncio's
    return getattr(cause, "strerror", None) or str(cause) or str(error)


def _cause(error: BaseException) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        tried = cast("BaseExceptionGroup[BaseException]", error).exceptions  # the addresses of one name
        return tried[0]
    return error.__cause__ or error.__context__
