"""What goes wrong between a socket and the engine. The engine's own errors have their status already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from plait.kernel.errors import Busy, NotFound, PlaitError, TooLarge, Unavailable

if TYPE_CHECKING:
    from .caller import Caller


class HttpError(PlaitError):
    """An error that only an HTTP caller can make."""

    headers: Mapping[str, str] = {}


class BadRequest(HttpError):
    """The request can't be read at all."""

    status: ClassVar[int] = 400


class Unauthorized(HttpError):
    """Nobody knows who calls."""

    status: ClassVar[int] = 401
    headers: Mapping[str, str] = {"www-authenticate": 'Bearer realm="plait"'}


class Forbidden(HttpError):
    """It is known who calls, and he may not do this."""

    status: ClassVar[int] = 403

    def __init__(self, code: str, what: str, *, why: str = "", fix: str = "", caller: Caller | None = None) -> None:
        super().__init__(code, what, why=why, fix=fix)
        self.caller = caller


class WrongNamespace(Forbidden):
    """The namespace stated is not the caller's."""

    def __init__(self, stated: str) -> None:
        super().__init__(
            "auth.wrong_namespace",
            f"namespace {stated!r} is not yours",
            why="a key or token is for one namespace",
            fix="leave `namespace` out, or use a key of that namespace",
        )


class NotAllowed(HttpError):
    """The path is known, the method is not."""

    status: ClassVar[int] = 405

    def __init__(self, method: str, allowed: Sequence[str]) -> None:
        names = ", ".join(allowed)
        super().__init__("http.method_not_allowed", f"{method} is not possible here", fix=f"use {names}")
        self.headers = {"allow": names}


class NotAcceptable(HttpError):
    """The caller takes none of the forms we can give."""

    status: ClassVar[int] = 406


class TooSlow(HttpError):
    """The body did not come in time."""

    status: ClassVar[int] = 408
    headers: Mapping[str, str] = {"connection": "close"}


class Gone(HttpError):
    """A link that was used already or has expired."""

    status: ClassVar[int] = 410


class BodyTooLarge(TooLarge):
    """The body is over the limit; the rest of it is not read."""

    headers: Mapping[str, str] = {"connection": "close"}

    def __init__(self, limit: int) -> None:
        super().__init__(
            "http.body_too_large",
            f"the body has more than {limit:,} bytes",
            fix="store large values elsewhere and pass a reference",
        )


class HeadTooLarge(HttpError):
    """The path and headers of a request are over the limit."""

    status: ClassVar[int] = 431

    def __init__(self, limit: int) -> None:
        super().__init__(
            "http.head_too_large", f"the head of the request has more than {limit:,} bytes", fix="send less in headers"
        )


class NotJson(HttpError):
    """The body is of a type we don't read."""

    status: ClassVar[int] = 415


class Overloaded(Busy):
    """More requests are under way than this process takes."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            "http.overloaded",
            f"{limit:,} requests are under way already",
            why="more would only make all of them slower",
            fix="send it again a little later",
        )


class Stopping(Unavailable):
    """The server is being stopped."""

    def __init__(self) -> None:
        super().__init__("http.stopping", "this server is being stopped", fix="send it again: another one answers")


class TooManyWatchers(Unavailable):
    """Every live stream this process may hold is taken."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            "http.too_many_watchers", f"{limit:,} live streams are open already", fix="try again later, or ask by page"
        )


class NoRoute(NotFound):
    """The path is none of ours."""

    def __init__(self, path: str) -> None:
        super().__init__("http.no_route", f"there is nothing at {path}", fix="/api/v1/openapi.json lists all routes")
