"""Errors between a socket and the engine. The engine's own errors already have an HTTP status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from plait.api.caller import Caller
from plait.kernel.errors import Busy, InvalidInput, NotFound, PlaitError, TooLarge, Unavailable


class HttpError(PlaitError):
    """An error that only an HTTP request can cause."""

    headers: Mapping[str, str] = {}


class BadRequest(HttpError):
    """The request is malformed."""

    status: ClassVar[int] = 400


class Unauthorized(HttpError):
    """The caller is not authenticated."""

    status: ClassVar[int] = 401
    headers: Mapping[str, str] = {"www-authenticate": 'Bearer realm="plait"'}


class Forbidden(HttpError):
    """The caller is authenticated, but not allowed to do this."""

    status: ClassVar[int] = 403

    def __init__(self, code: str, what: str, *, why: str = "", fix: str = "", caller: Caller | None = None) -> None:
        super().__init__(code, what, why=why, fix=fix)
        self.caller = caller


class WrongNamespace(Forbidden):
    """The requested namespace is not the caller's."""

    def __init__(self, stated: str) -> None:
        super().__init__(
            "auth.wrong_namespace",
            f"no access to namespace {stated!r}",
            why="the key or token is for another namespace",
            fix="leave `namespace` out, or use a key of that namespace",
        )


class NotAllowed(HttpError):
    """The path exists, but not for this method."""

    status: ClassVar[int] = 405

    def __init__(self, method: str, allowed: Sequence[str]) -> None:
        names = ", ".join(allowed)
        super().__init__("http.method_not_allowed", f"{method} is not allowed here", fix=f"use {names}")
        self.headers = {"allow": names}


class NotAcceptable(HttpError):
    """The caller accepts none of the media types we can send."""

    status: ClassVar[int] = 406


class TooSlow(HttpError):
    """The request did not arrive in time."""

    status: ClassVar[int] = 408
    headers: Mapping[str, str] = {"connection": "close"}


class Gone(HttpError):
    """A link that was already used or has expired."""

    status: ClassVar[int] = 410


class BodyTooLarge(TooLarge):
    """The body is over the limit; the rest of it is not read."""

    headers: Mapping[str, str] = {"connection": "close"}

    def __init__(self, limit: int) -> None:
        super().__init__(
            "http.body_too_large",
            f"the body is larger than {limit:,} bytes",
            fix="store large values elsewhere and pass a reference",
        )


class HeadTooLarge(HttpError):
    """The path and headers of a request are over the limit."""

    status: ClassVar[int] = 431

    def __init__(self, limit: int) -> None:
        super().__init__(
            "http.head_too_large", f"the request head is larger than {limit:,} bytes", fix="send smaller headers"
        )


class NotJson(HttpError):
    """The body is of an unsupported media type."""

    status: ClassVar[int] = 415


class Overloaded(Busy):
    """More requests are in progress than this process accepts."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            "http.overloaded",
            f"{limit:,} requests are already in progress",
            why="more would slow all of them down",
            fix="retry a little later",
        )


class Stopping(Unavailable):
    """The server is stopping."""

    def __init__(self) -> None:
        super().__init__("http.stopping", "this server is stopping", fix="retry: another server will answer")


class TooManyWatchers(Unavailable):
    """This process has no free live stream."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            "http.too_many_watchers", f"{limit:,} live streams are already open", fix="retry later, or read by page"
        )


class TooManyConnections(Unavailable):
    """This process has no descriptor to spare for another connection."""

    def __init__(self) -> None:
        super().__init__("http.too_many_connections", "too many connections are open", fix="retry later")


class NoRoute(NotFound):
    """There is no such path."""

    def __init__(self, path: str) -> None:
        super().__init__("http.no_route", f"there is nothing at {path}", fix="/api/v1/openapi.json lists all routes")


class UnknownDialect(InvalidInput):
    """The body names an unknown dialect, so the input is invalid."""

    def __init__(self, dialect: str, known: Iterable[str]) -> None:
        fix = f"use one of {', '.join(known)}"
        super().__init__("kernel.no_dialect", f"this engine has no dialect `{dialect}`", fix=fix)
