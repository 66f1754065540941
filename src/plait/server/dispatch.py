"""From a request to an answer: authenticate, read query and body, call the handler, record the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from plait.api.audit import AuditOutcome
from plait.api.caller import NOBODY, Caller
from plait.api.problem import MEDIA_TYPE
from plait.api.route import Answer, AnyRoute, Call, Content, Stream
from plait.api.shape import Query, Scoped
from plait.kernel.errors import PlaitError, TooLarge
from plait.observe.http_meter import OTHER

from . import problem, sse
from .body import Disconnected, discard, read_body
from .endpoint import Endpoint
from .errors import NoRoute, NotAcceptable, NotAllowed, Overloaded, WrongNamespace
from .guard import namespace_of
from .headers import NO_STORE
from .query import read_query
from .router import Match, Router, raw_path
from .site import Site

_JSON = b"application/json"
_ANSWERS = ("*/*", "application/*", "application/json", "application/problem+json")


@dataclass(slots=True)
class _Exchange:
    """What is known of a request so far; it fills up on the way."""

    endpoint: Endpoint
    params: Mapping[str, str]
    request: Request
    caller: Caller | None = None
    namespace: str | None = None
    target: str | None = None

    @property
    def route(self) -> AnyRoute:
        return self.endpoint.route


class Dispatcher:
    """Answers every request for one of its routes. It raises nothing: an error is an answer, too."""

    def __init__(self, site: Site, endpoints: Iterable[Endpoint]) -> None:
        self._site = site
        self._router = Router(endpoints)

    def knows(self, raw_path: bytes) -> bool:
        return self._router.match(raw_path) is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        self._site.in_flight += 1
        try:
            answer = await self._answer_or_problem(scope, receive)
            if not isinstance(answer, Stream):
                await _send(answer, scope["method"], send, receive if answer.status == TooLarge.status else None)
        except Disconnected:
            return
        finally:
            self._site.in_flight -= 1
        self._count(scope, 200 if isinstance(answer, Stream) else answer.status, perf_counter() - began)
        if isinstance(answer, Stream):
            await self._stream(scope, answer, receive, send)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route: AnyRoute | None = scope.get("route")
        name = OTHER if route is None else f"{route.method} {route.full_path}"
        self._site.metrics.http.observe(name, status, seconds)

    async def _stream(self, scope: Scope, found: Stream, receive: Receive, send: Send) -> None:
        async def still_allowed() -> None:
            await self._site.guard.check(Request(scope), scope["route"].role)

        try:
            await sse.stream(self._site, found.frames, receive, send, still_allowed)
        except PlaitError as error:  # too many streams: nothing was sent yet
            await _send(_problem(error, scope), scope["method"], send)

    async def _answer_or_problem(self, scope: Scope, receive: Receive) -> Answer | Content | Stream:
        try:
            if self._site.in_flight > self._site.settings.max_in_flight:
                raise Overloaded(self._site.settings.max_in_flight)
            match = self._router.match(raw_path(scope))
            if match is None:
                raise NoRoute(scope["path"][:200])
            endpoint = _endpoint_of(match, scope["method"])
            if endpoint is None:
                return Answer(None, 204, {"allow": ", ".join(match.methods)})
            scope["route"] = endpoint.route
            target = next(iter(match.params.values()), None)
            exchange = _Exchange(endpoint, match.params, Request(scope, receive), target=target)
            return await self._audited(exchange, receive)
        except Disconnected:
            raise
        except PlaitError as error:
            return _problem(error, scope)
        except Exception as error:
            return _problem(problem.bug(error, _request_id(scope)), scope)

    async def _audited(self, exchange: _Exchange, receive: Receive) -> Answer | Content | Stream:
        """Every request that may change something is recorded with its outcome, refusals too."""
        try:
            answer = await self._handled(exchange, receive)
        except PlaitError as error:
            await self._record(exchange, getattr(error, "caller", None) or exchange.caller, "refused", error.code)
            raise
        done = answer if isinstance(answer, Answer) else Answer(None)
        exchange.target = exchange.target or getattr(done.shape, "id", None)
        await self._record(exchange, done.caller or exchange.caller, "ok", None)
        return answer

    async def _record(
        self, exchange: _Exchange, caller: Caller | None, outcome: AuditOutcome, code: str | None
    ) -> None:
        route = exchange.route
        if route.method == "GET" or caller is None or (outcome == "ok" and not route.audited):
            return
        await self._site.auth.audit.record(caller, route.name, exchange.target, outcome, code, exchange.namespace)

    async def _handled(self, exchange: _Exchange, receive: Receive) -> Answer | Content | Stream:
        site, route, request = self._site, exchange.route, exchange.request
        exchange.caller = caller = NOBODY if route.role == "public" else await site.guard.check(request, route.role)
        _must_be_acceptable(route, request)
        query = read_query(request.scope["query_string"], route.query)
        exchange.namespace = namespace = _namespace(route, exchange.params, caller, query)
        body: Any = None
        if route.body is not None:
            with site.public_body() if route.role == "public" else nullcontext():
                body = await read_body(request.scope, receive, site.settings, route.body, optional=route.body_optional)
        return await route.handler(
            Call(
                host=exchange.endpoint.host,
                request=request,
                caller=caller,
                namespace=namespace,
                params=exchange.params,
                query=query,
                body=body,
            )
        )


def _request_id(scope: Scope) -> str:
    return scope["state"]["request_id"]


def _endpoint_of(match: Match[Endpoint], method: str) -> Endpoint | None:
    """None for OPTIONS, which is answered by the list of methods."""
    found = match.routes.get("GET" if method == "HEAD" else method)
    if found is None and method != "OPTIONS":
        raise NotAllowed(method, match.methods)
    return found


def _must_be_acceptable(route: AnyRoute, request: Request) -> None:
    accept = request.headers.get("accept")
    if not accept or route.bare:
        return
    kinds = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    fine = (*_ANSWERS, "text/event-stream", "text/*") if route.streams is not None else _ANSWERS
    if not any(kind in fine for kind in kinds):
        raise NotAcceptable("http.not_acceptable", f"can't respond with {accept[:80]!r}", fix="accept application/json")


def _namespace(route: AnyRoute, params: Mapping[str, str], caller: Caller, query: Query) -> str:
    """The namespace the request is about. An id in another namespace is answered like one that does not exist."""
    stated = query.namespace if isinstance(query, Scoped) else None
    ids = list(params.values())
    if route.noun is not None and not all(route.noun.usable(id) for id in ids):
        raise route.noun.missing(ids[0])
    try:
        return namespace_of(caller, stated)
    except WrongNamespace:
        if route.noun is not None and ids:
            raise route.noun.missing(ids[0]) from None
        raise


def _problem(error: PlaitError, scope: Scope) -> Content | Answer:
    shape = problem.problem_of(error, _request_id(scope))
    return Answer(shape, error.status, problem.headers_of(error) | {"content-type": MEDIA_TYPE})


async def _send(answer: Answer | Content, method: str, send: Send, linger: Receive | None = None) -> None:
    if isinstance(answer, Content):
        body, headers = answer.body, [(b"content-type", answer.media_type.encode())]
    else:
        body, headers = _json(answer)
    if answer.status != 204:
        headers.append((b"content-length", b"%d" % len(body)))
    headers.append(NO_STORE)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if linger is not None:
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await discard(linger)
        body = b""
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})


def _json(answer: Answer) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    headers = [(name.encode(), value.encode("latin-1", "replace")) for name, value in answer.headers.items()]
    headers += [(b"set-cookie", cookie.encode()) for cookie in answer.cookies]
    if answer.shape is None:
        return b"", headers
    if "content-type" not in answer.headers:
        headers.append((b"content-type", _JSON))
    return msgspec.json.encode(answer.shape), headers
