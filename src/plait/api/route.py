"""A route as a value: everything there is to know about it is in one place.

The router, the access checks, the checks of query and body, the OpenAPI document and the tests over all routes are
made from these values. The server brings its own; a dialect brings more (see `surface`). A handler gets one `Call`,
which carries the host it works on: the server itself, or what the dialect needs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from .caller import Caller, RequiredRole
from .noun import Noun
from .shape import Query

if TYPE_CHECKING:  # an extra that clients don't need
    from starlette.requests import Request

API = "/api/v1"

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

H = TypeVar("H")
Q = TypeVar("Q", bound=Query)
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler returns: a shape that becomes JSON (None: no body)."""

    shape: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cookies: tuple[str, ...] = ()
    """Whole `Set-Cookie` values."""
    caller: Caller | None = None
    """For the audit log, when the route itself authenticates the caller."""
    namespace: str | None = None
    """For the audit log, when the body may name another one than the query."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a handler returns that is not JSON."""

    body: bytes
    media_type: str
    status: int = 200


@dataclass(frozen=True, slots=True)
class Stream:
    """Server-sent events. `frames` is asked for the next one only when the socket has taken the last."""

    frames: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[H, Q, B]):
    """One request, checked: all that a handler needs."""

    host: H
    request: Request
    caller: Caller
    namespace: str
    """The one the request is about, after the access checks."""
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
    """A struct, or None for no body, or a media type for what is not JSON."""
    about: str


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that is particular to a route; those that all routes of its kind share are added to the document."""

    status: int
    code: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[H, Q, B]):
    method: Method
    path: str
    """Below `/api/v1`, unless `bare`."""
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
    """False: what the handler calls records its own success, or there is nothing to record."""
    while_away: bool = False
    """Answered while the database is away, to callers whose key was verified before."""
    waits: bool = False
    """The handler may wait for something: it is stopped if the caller's key is revoked meanwhile."""
    body_optional: bool = False
    example: Any = None
    """A body that works."""
    also: tuple[Any, ...] = ()
    """Shapes that other routes carry as any JSON, such as a dialect's plan: listed in the OpenAPI document."""

    @property
    def full_path(self) -> str:
        return self.path if self.bare else API + self.path


AnyRoute = Route[Any, Any, Any]
AnyCall = Call[Any, Any, Any]
