"""A route as a value: everything that is to be known of it stands in one place.

The router, the guard, the checks of query and body, the OpenAPI document and the tests over all routes are made
from these values; nothing else says what a route takes or gives.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar

import msgspec
from starlette.requests import Request

from .caller import Caller, Needs

if TYPE_CHECKING:
    from plait.engine import Engine

    from .site import Site

API = "/api/v1"
NO_STORE = (b"cache-control", b"no-store")
"""What the API says is true at that moment only."""

Method = Literal["GET", "POST", "PUT", "DELETE"]
Noun = Literal["run", "definition", "step", "approval", "dead_letter", "key", "link", "hook"]

NamespaceName = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}\Z", max_length=63)]


class Query(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No parameters; base of those that have some."""


class Scoped(Query, frozen=True, kw_only=True):
    """What every route about things of a namespace takes."""

    namespace: NamespaceName | None = None


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing; base of bodies that hold something."""


Q = TypeVar("Q", bound=Query)
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler gives: a shape that becomes JSON (None: no body)."""

    shape: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cookies: tuple[str, ...] = ()
    """Whole `Set-Cookie` values."""
    caller: Caller | None = None
    """For the audit, when the route itself finds out who it is."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a handler gives that is not JSON."""

    body: bytes
    media_type: str
    status: int = 200


@dataclass(frozen=True, slots=True)
class Stream:
    """Server-sent events. `frames` is asked for the next one only when the socket has taken the last."""

    frames: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[Q, B]):
    """One request, checked: all that a handler needs."""

    site: Site
    request: Request
    caller: Caller
    namespace: str
    """The one the request is about, after the guard had its say."""
    params: Mapping[str, str]
    query: Q
    body: B

    @property
    def engine(self) -> Engine:
        return self.site.engine

    @property
    def wants_stream(self) -> bool:
        return "text/event-stream" in self.request.headers.get("accept", "") and self.request.method == "GET"


Handler = Callable[[Call[Q, B]], Awaitable[Answer | Content | Stream]]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer a route may give when all is well."""

    status: int
    shape: Any
    """A struct, or None for no body, or a media type for what is not JSON."""
    about: str


@dataclass(frozen=True, slots=True)
class Fault:
    """An error of its own that a route may give; those that every route of its kind may give are added by itself."""

    status: int
    code: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[Q, B]):
    method: Method
    path: str
    """Below `/api/v1`, unless `bare`."""
    name: str
    """`noun.verb`: the operation's id, and the action in the audit."""
    role: Needs
    summary: str
    handler: Handler[Q, B]
    query: type[Q]
    body: type[B] | None = None
    replies: tuple[Reply, ...]
    faults: tuple[Fault, ...] = ()
    noun: Noun | None = None
    """What the id in the path names; one that can't be seen is answered as one that does not exist."""
    streams: Any = None
    """The shape of one frame, if the route can stream."""
    also: tuple[Any, ...] = ()
    """Shapes that other routes carry as any JSON, such as a dialect's plan: listed in the OpenAPI document."""
    bare: bool = False
    audited: bool = True
    """False: what the handler calls keeps the entry of its success, or there is nothing to keep."""
    body_optional: bool = False
    example: Any = None
    """A body that works."""

    @property
    def full_path(self) -> str:
        return self.path if self.bare else API + self.path

    @property
    def changes(self) -> bool:
        return self.method != "GET"


AnyRoute = Route[Any, Any]
AnyCall = Call[Any, Any]
