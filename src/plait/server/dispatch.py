"""From a request to an answer: authenticate, read query and body, call the handler, record the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from plait.api.caller import ANONYMOUS, EVERYWHERE, NOBODY, Caller, RequiredRole
from plait.api.noun import Noun
from plait.api.problem import MEDIA_TYPE
from plait.api.route import Answer, AnyRoute, Call, Content, Stream
from plait.api.shape import Scoped
from plait.kernel.errors import PlaitError
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.observe.tally import OTHER

from . import problem, sse
from .access import Access, while_allowed
from .auth.errors import forbidden
from .body import Disconnected, read_body, send_body
from .endpoint import Endpoint
from .errors import BodyTooLarge, NoRoute, NotAcceptable, NotAllowed, Overloaded, WrongNamespace
from .headers import NO_STORE
from .pii import PiiFilter
from .query import read_query
from .router import Router
from .site import Site

OWN_CALLER = "plait.caller"
"""The scope's key for the caller of a request that this process makes itself. No request from a socket has it."""
_JSON = b"application/json"
_USUAL = (None, "", "*/*", "application/json")
"""Values of `Accept` that every route can answer."""
_ANSWERS = ("*/*", "application/*", "application/json", "application/problem+json")


@dataclass(slots=True)
class _Exchange:
    """What is known about a request so far; filled in step by step."""

    request: Request
    endpoint: Endpoint | None = None
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    caller: Caller | None = None
    namespace: str | None = None
    target: str | None = None
    handled: bool = False
    unread: bool = False
    """Whether part of the body has not been read."""


class Dispatcher:
    """Answers every request for one of its routes. It raises nothing: errors become answers."""

    def __init__(self, site: Site, endpoints: Iterable[Endpoint]) -> None:
        self._site = site
        self._router = Router(endpoints)
        self._pii = PiiFilter(site.engine)

    def knows(self, scope: Scope) -> bool:
        return self._router.match(scope["raw_path"]) is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        exchange = _Exchange(Request(scope, receive))
        self._site.in_flight += 1
        try:
            try:
                answer = await self._answer(exchange, receive)
            except Exception as error:
                answer = await self._refused(exchange, error)
            if not isinstance(answer, Stream):
                await _send(answer, scope["method"], send, receive if exchange.unread else None)
        except Disconnected:
            return
        finally:
            self._site.in_flight -= 1
        title = OTHER if exchange.endpoint is None else exchange.endpoint.title
        status = 200 if isinstance(answer, Stream) else answer.status
        self._site.metrics.http.observe(title, status, perf_counter() - began)
        if isinstance(answer, Stream):
            await self._stream(exchange, answer, receive, send)

    async def _answer(self, exchange: _Exchange, receive: Receive) -> Answer | Content | Stream:
        """Calls the route's handler and returns its answer. A change is audited before it is acknowledged."""
        site, request = self._site, exchange.request
        if site.in_flight > site.settings.max_in_flight:
            raise Overloaded(site.settings.max_in_flight)
        match = self._router.match(request.scope["raw_path"])
        if match is None:
            raise NoRoute(request.scope["path"][:200])
        method = request.method
        endpoint = exchange.endpoint = match.routes.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            if method != "OPTIONS":
                raise NotAllowed(method, match.methods)
            return Answer(None, 204, {"allow": ", ".join(match.methods)})
        route, exchange.params = endpoint.route, match.params
        exchange.target = next(iter(match.params.values()), None)
        if route.role == "public":
            exchange.caller = caller = NOBODY
        elif (own := request.scope.get(OWN_CALLER)) is not None:
            exchange.caller = caller = _allowed(own, route.role)
        elif site.settings.open:
            exchange.caller = caller = ANONYMOUS
        else:
            exchange.caller = caller = await site.auth.check(request, route.role, while_away=route.while_away)
        call = await self._read(exchange, endpoint, caller, receive)
        if route.waits and not site.settings.open:
            access = Access(site, request, caller, route.role)
            answer = await while_allowed(access, route.handler(call))
        else:
            answer = await route.handler(call)
        exchange.handled = True
        if endpoint.audited:
            done = answer if isinstance(answer, Answer) else Answer(None)
            target = exchange.target or getattr(done.shape, "id", None)
            namespace = done.namespace or call.namespace
            await site.auth.audit.record(done.caller or caller, route.name, target, "ok", namespace=namespace)
        return await self._pii.filtered(answer, route, caller, call.namespace, match.params.get("id"))

    async def _read(
        self, exchange: _Exchange, endpoint: Endpoint, caller: Caller, receive: Receive
    ) -> Call[Any, Any, Any]:
        """Reads and checks the query and body of the request."""
        route, request, settings = endpoint.route, exchange.request, self._site.settings
        accept = request.headers.get("accept")
        if accept not in _USUAL:
            _must_be_acceptable(route, accept)
        sent: bytes = request.scope["query_string"]
        query = endpoint.no_query if not sent and endpoint.no_query else read_query(sent, route.query)
        stated = query.namespace if isinstance(query, Scoped) else None
        if route.noun is None:
            namespace = namespace_of(caller, stated)
        else:
            namespace = _namespace_with(route.noun, list(exchange.params.values()), caller, stated)
        exchange.namespace = namespace
        body: Any = None
        if route.body is not None:
            with self._site.public_body() if route.role == "public" else nullcontext():
                body = await read_body(request.scope, receive, settings, route.body, optional=route.body_optional)
        return Call(
            host=endpoint.host,
            request=request,
            caller=caller,
            namespace=namespace,
            params=exchange.params,
            query=query,
            body=body,
        )

    async def _refused(self, exchange: _Exchange, error: Exception) -> Answer:
        """Turns an error into an answer. Every request that may change something is audited, including refused ones."""
        if isinstance(error, Disconnected):
            raise error
        exchange.unread = isinstance(error, BodyTooLarge)
        endpoint = exchange.endpoint
        try:
            if isinstance(error, PlaitError) and endpoint is not None and not exchange.handled:
                caller = getattr(error, "caller", None) or exchange.caller
                # An agent's refused reads are audited as well
                if caller is not None and (endpoint.method != "GET" or caller.role == "agent"):
                    await self._site.auth.audit.record(
                        caller, endpoint.route.name, exchange.target, "refused", error.code, exchange.namespace
                    )
        except Exception as unrecorded:
            error = unrecorded
        return _problem(error, exchange.request.scope)

    async def _stream(self, exchange: _Exchange, found: Stream, receive: Receive, send: Send) -> None:
        scope, endpoint = exchange.request.scope, exchange.endpoint
        assert endpoint is not None
        assert exchange.caller is not None
        access = Access(self._site, exchange.request, exchange.caller, endpoint.route.role)
        try:
            await sse.stream(self._site, found.frames, receive, send, access)
        except PlaitError as error:  # too many streams: nothing has been sent yet
            await _send(_problem(error, scope), scope["method"], send)


def namespace_of(caller: Caller, stated: str | None) -> str:
    """Returns the namespace a request is about; raises `WrongNamespace` if it is not the caller's."""
    if caller.namespace == EVERYWHERE:
        return stated or DEFAULT_NAMESPACE
    if stated is not None and stated != caller.namespace:
        raise WrongNamespace(stated)
    return caller.namespace


def _must_be_acceptable(route: AnyRoute, accept: str) -> None:
    if route.bare:
        return
    kinds = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    fine = (*_ANSWERS, "text/event-stream", "text/*") if route.streams is not None else _ANSWERS
    if not any(kind in fine for kind in kinds):
        raise NotAcceptable("http.not_acceptable", f"can't respond with {accept[:80]!r}", fix="accept application/json")


def _namespace_with(noun: Noun, ids: list[str], caller: Caller, stated: str | None) -> str:
    """Like `namespace_of`, for a path with ids: an id in another namespace is answered like one that does not exist."""
    if not all(noun.usable(id) for id in ids):
        raise noun.missing(ids[0])
    try:
        return namespace_of(caller, stated)
    except WrongNamespace:
        if ids:
            raise noun.missing(ids[0]) from None
        raise


def _problem(error: Exception, scope: Scope) -> Answer:
    id = scope["state"]["request_id"]
    if not isinstance(error, PlaitError):
        error = problem.bug(error, id)
    shape = problem.problem_of(error, id)
    return Answer(shape, error.status, problem.headers_of(error) | {"content-type": MEDIA_TYPE})


async def _send(answer: Answer | Content, method: str, send: Send, unread: Receive | None = None) -> None:
    if isinstance(answer, Content):
        body, headers = answer.body, [(b"content-type", answer.media_type.encode())]
    else:
        body = b"" if answer.shape is None else msgspec.json.encode(answer.shape)
        headers = [(name.encode(), value.encode("latin-1", "replace")) for name, value in answer.headers.items()]
        headers += [(b"set-cookie", cookie.encode()) for cookie in answer.cookies]
        if body and "content-type" not in answer.headers:
            headers.append((b"content-type", _JSON))
    if answer.status != 204:
        headers.append((b"content-length", b"%d" % len(body)))
    headers.append(NO_STORE)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send_body(b"" if method == "HEAD" else body, unread, send)


def _allowed(caller: Caller, needed: RequiredRole) -> Caller:
    if not caller.may(needed):
        raise forbidden(caller, needed)
    return caller
