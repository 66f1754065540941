"""The mount as an application: finds the route, reads the body, answers in the shapes of Argyll."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from plait.api.audit import AuditOutcome
from plait.api.caller import Caller
from plait.kernel.errors import NotFound, PlaitError
from plait.observe.tally import OTHER
from plait.server import problem
from plait.server.body import Disconnected, read_bytes, send_body
from plait.server.errors import BodyTooLarge, NoRoute, NotAllowed, Overloaded
from plait.server.pii import PiiFilter
from plait.server.router import Match, Router
from plait.server.site import Site

from . import catalog, flows, plans, steps, webhooks
from .answers import encoded, headers_of, refusal
from .cors import Cors
from .live import live
from .paths import ENGINE, LIVE
from .route import NAMESPACE, Ask, MountRoute, Said

_ROUTES = (*catalog.ROUTES, *steps.ROUTES, *plans.ROUTES, *flows.ROUTES)


class Mount:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._on = site.settings.argyll != "off"
        self._cors = Cors(site.settings.argyll_origins)
        self._pii = PiiFilter(site.engine)
        self._router = Router((*webhooks.ROUTES, *(_ROUTES if self._on else ())))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            allowed = self._on and scope["path"] == LIVE
            hiding = None if self._site.settings.open else self._pii
            await live(self._site, hiding, scope, receive, send, allowed=allowed)
            return
        began = perf_counter()
        self._site.in_flight += 1
        try:
            status = await self._respond(scope, receive, send)
        except Disconnected:
            return
        finally:
            self._site.in_flight -= 1
        route: MountRoute | None = scope.get("route")
        name = OTHER if route is None else f"{route.method} {route.full_path}"
        self._site.metrics.http.observe(name, status, perf_counter() - began)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> int:
        origin = Headers(scope=scope).get("origin")
        more = self._cors.headers(origin)
        unread: Receive | None = None
        try:
            said = await self._said(scope, receive)
        except PlaitError as error:
            said, more = refusal(error), [*more, *headers_of(error)]
            unread = receive if isinstance(error, BodyTooLarge) else None
        except Disconnected:
            raise
        except Exception as error:
            said = refusal(problem.bug(error, scope["state"]["request_id"]))
        if scope["method"] == "OPTIONS" and said.status == 204:
            more = self._cors.preflight(origin)
        await _send(said, more, scope["method"], send, unread)
        return said.status

    async def _said(self, scope: Scope, receive: Receive) -> Said:
        site = self._site
        if site.in_flight > site.settings.max_in_flight:
            raise Overloaded(site.settings.max_in_flight)
        match = self._router.match(scope["raw_path"])
        if scope["method"] == "OPTIONS":
            return Said(None, 204)
        if match is None:
            raise self._nothing(scope["path"])
        route = scope["route"] = _route_of(match, scope["method"])
        with site.public_body():
            headers: dict[bytes, bytes] = dict(scope["headers"])
            limit = route.limit or site.settings.max_body
            body = (
                b"" if scope["method"] in ("GET", "HEAD") else await read_bytes(headers, receive, site.settings, limit)
            )
        ask = Ask(
            site=site,
            params=match.params,
            query=scope["query_string"],
            content_type=headers.get(b"content-type", b"").decode("latin-1"),
            body=body,
        )
        return await self._audited(route, ask, scope)

    def _nothing(self, path: str) -> PlaitError:
        if self._on or not path.startswith(ENGINE):
            return NoRoute(path[:200])
        return NotFound(
            "mount.off",
            "the Argyll API is not enabled on this server",
            why="its clients send no credentials, so it is off by default",
            fix="start it with `plait serve --argyll`, or use `plait dev`",
        )

    async def _audited(self, route: MountRoute, ask: Ask, scope: Scope) -> Said:
        """Audits a request that may change something, with its outcome. Its caller is unknown."""
        try:
            said = await route.handler(ask)
        except PlaitError as error:
            # In the namespace of these clients, whatever the request named, so nobody can fill the audit log of others
            await self._record(route, scope, NAMESPACE, ask.target, "refused", error.code)
            raise
        await self._record(route, scope, said.namespace, said.target, "ok", None)
        if self._site.settings.open:
            return said
        return replace(said, shape=await self._pii.for_strangers(said.shape, said.namespace))

    async def _record(
        self,
        route: MountRoute,
        scope: Scope,
        namespace: str,
        target: str | None,
        outcome: AuditOutcome,
        code: str | None,
    ) -> None:
        if not route.name:
            return
        address = scope["client"][0] if scope.get("client") else ""
        caller = Caller(route.who, "editor", namespace, "open", address=address)
        await self._site.auth.audit.record(caller, route.name, target, outcome, code, namespace)


def _route_of(match: Match[MountRoute], method: str) -> MountRoute:
    found = match.routes.get("GET" if method == "HEAD" else method)
    if found is None:
        raise NotAllowed(method, match.methods)
    return found


async def _send(
    said: Said, more: list[tuple[bytes, bytes]], method: str, send: Send, unread: Receive | None = None
) -> None:
    body, headers = encoded(said)
    if said.status != 204:
        headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": said.status, "headers": [*headers, *more]})
    await send_body(b"" if method == "HEAD" else body, unread, send)
