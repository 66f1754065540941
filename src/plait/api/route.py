"""A route as a value: everything about it is in one place.

The router, the access checks, the checks of query and body, the OpenAPI document and the tests over all routes are
made from these values. The server has its own routes; a dialect adds more (see `surface`). A handler gets one `Call`,
which carries the host it works on: the server itself, or an object of the dialect.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from .caller import Caller, RequiredRole
from .noun import Noun
from .shape import Query

if TYPE_CHECKING:  # an optional dependency that clients don't need
    from starlette.requests import Request

API = "/api/v1"

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

H = TypeVar("H")
Q = TypeVar("Q", bound=Query)
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Answer:
    """A handler's answer: a shape that becomes JSON (None: no body)."""

    shape: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cookies: tuple[str, ...] = ()
    """Complete `Set-Cookie` values."""
    caller: Caller | None = None
    """The caller for the audit log, if the route itself authenticates it."""
    namespace: str | None = None
    """The namespace for the audit log, if the body may name another one than the query."""


@dataclass(frozen=True, slots=True)
class Content:
    """A handler's answer that is not JSON."""

    body: bytes
    media_type: str
    status: int = 200


@dataclass(frozen=True, slots=True)
class Stream:
    """Server-sent events. The next frame is requested only when the socket has accepted the last one."""

    frames: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[H, Q, B]):
    """One checked request, with everything that a handler needs."""

    host: H
    request: Request
    caller: Caller
    namespace: str
    """The namespace of the request, after the access checks."""
    params: Mapping[str, str]
    query: Q
    body: B

    @property
    def wants_stream(self) -> bool:
        return "text/event-stream" in self.request.headers.get("accept", "") and self.request.method == "GET"


Handler = Callable[[Call[H, Q, B]], Awaitable[Answer | Content | Stream]]


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful answer of a route."""

    status: int
    shape: Any
    """A struct, None for no body, or a media type for content that is not JSON."""
    about: str


@dataclass(frozen=True, slots=True)
class Fault:
    """An error of this route in particular; the document adds those that all routes of its kind share."""

    status: int
    code: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[H, Q, B]):
    method: Method
    path: str
    """The path below `/api/v1`, or the whole path if `bare`."""
    name: str
    """`noun.verb`: the operation's id, and the action in the audit log."""
    role: RequiredRole
    summary: str
    handler: Handler[H, Q, B]
    query: type[Q]
    body: type[B] | None = None
    replies: tuple[Reply, ...]
    faults: tuple[Fault, ...] = ()
    noun: Noun | None = None
    """What the id in the path names."""
    streams: Any = None
    """The shape of one frame, if the route can stream."""
    bare: bool = False
    audited: bool = True
    """Whether a success is audited here. False: the handler's callee records it, or there is nothing to record."""
    while_away: bool = False
    """Whether callers whose key was verified before are served while the database is unavailable."""
    waits: bool = False
    """Whether the handler may wait for something; it is then stopped if the caller's key is revoked."""
    body_optional: bool = False
    example: Any = None
    """An example of a valid body."""
    also: tuple[Any, ...] = ()
    """Shapes to list in the OpenAPI document that other routes send as arbitrary JSON, such as a dialect's plan."""

    @property
    def full_path(self) -> str:
        return self.path if self.bare else API + self.path


AnyRoute = Route[Any, Any, Any]
AnyCall = Call[Any, Any, Any]
