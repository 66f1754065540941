"""The whole application: the table of all routes, and front, API and UI put together."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from . import (
    approvals,
    audit_routes,
    catalog,
    dead_letters,
    definitions,
    events,
    health,
    keys,
    links,
    me,
    plan,
    run_actions,
    run_details,
    runs,
    session,
)
from .argyll.app import Mount
from .argyll.paths import is_mounted
from .dispatch import Dispatcher
from .front import Front
from .openapi import document
from .routes import API, AnyRoute, Call, Content, Query, Reply, Route
from .site import Site
from .ui import Ui


async def describe(call: Call[Query, None]) -> Content:
    return Content(_described(), "application/json")


@cache
def _described() -> bytes:
    return msgspec.json.encode(document(ROUTES))


_DESCRIPTION: Route[Query, Any] = Route(
    method="GET",
    path="/openapi.json",
    name="server.openapi",
    role="public",
    summary="This API, as an OpenAPI document",
    handler=describe,
    query=Query,
    replies=(Reply(200, dict[str, Any], "The document."),),
)

ROUTES: tuple[AnyRoute, ...] = (
    *runs.ROUTES,
    *events.ROUTES,
    *run_details.ROUTES,
    *run_actions.ROUTES,
    *definitions.ROUTES,
    *catalog.ROUTES,
    *plan.ROUTES,
    *approvals.ROUTES,
    *dead_letters.ROUTES,
    *links.ROUTES,
    *me.ROUTES,
    *session.ROUTES,
    *keys.ROUTES,
    *audit_routes.ROUTES,
    *health.ROUTES,
    _DESCRIPTION,
)


def make_app(site: Site, ui: ASGIApp | None = None) -> ASGIApp:
    api, pages, mount = Dispatcher(site, ROUTES), ui or Ui(), Mount(site)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if scope["type"] == "websocket" or is_mounted(path):
            await mount(scope, receive, send)
            return
        ours = path == API or path.startswith(API + "/") or api.knows(scope.get("raw_path") or path.encode())
        await (api if ours else pages)(scope, receive, send)

    return Front(site, app)
