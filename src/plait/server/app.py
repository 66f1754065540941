"""The whole application: the table of all routes, and the assembly of middleware, API, mount and UI."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
from starlette.types import ASGIApp

from plait.api.route import AnyRoute, Content, Reply, Route
from plait.api.shape import Query
from plait.api.surface import Surface

from . import (
    agent_tasks,
    agent_tools,
    approvals,
    audit_routes,
    callbacks,
    conditions,
    dead_letters,
    definitions,
    erasures,
    events,
    fleet,
    health,
    keys,
    links,
    plan,
    queues,
    run_actions,
    run_answers,
    run_details,
    runs,
    schedules,
    session,
    tasks,
    tools,
)
from .argyll.app import Mount
from .call import Call
from .dispatch import Dispatcher
from .endpoint import Endpoint, endpoint_of
from .mcp.own_tools import own_tools
from .middleware import Middleware
from .openapi import document
from .save_definition import save_route
from .site import Site
from .surfaces import surfaces_of
from .ui import Ui


def own_routes(surfaces: Iterable[Surface]) -> tuple[AnyRoute, ...]:
    """Returns the server's own routes for an engine whose dialects have these surfaces."""
    surfaces = tuple(surfaces)
    return (
        *runs.ROUTES,
        *events.ROUTES,
        *run_details.ROUTES,
        *run_actions.ROUTES,
        *run_answers.ROUTES,
        *definitions.ROUTES,
        save_route(surfaces),
        *plan.ROUTES,
        *conditions.ROUTES,
        *approvals.ROUTES,
        *dead_letters.ROUTES,
        *queues.ROUTES,
        *schedules.ROUTES,
        *tasks.ROUTES,
        *agent_tasks.ROUTES,
        *tools.ROUTES,
        *agent_tools.ROUTES,
        *links.ROUTES,
        *callbacks.ROUTES,
        *session.ROUTES,
        *keys.ROUTES,
        *erasures.ROUTES,
        *audit_routes.ROUTES,
        *fleet.ROUTES,
        *health.ROUTES,
        _document_route(surfaces),
    )


def all_routes(surfaces: Iterable[Surface]) -> tuple[AnyRoute, ...]:
    """Returns the server's routes and those of the dialects."""
    surfaces = tuple(surfaces)
    return (*own_routes(surfaces), *(route for surface in surfaces for route in surface.routes))


def make_app(site: Site, ui: ASGIApp | None = None) -> ASGIApp:
    app = bare_app(site, ui)
    site.engine.executors.mcp.add_own(own_tools(site, app))
    return app


def bare_app(site: Site, ui: ASGIApp | None = None) -> ASGIApp:
    """An application whose own tools are not offered to the engine's steps."""
    return Middleware(site, Dispatcher(site, _endpoints(site)), Mount(site), ui or Ui())


def _endpoints(site: Site) -> list[Endpoint]:
    surfaces = surfaces_of(site.engine)
    own = [endpoint_of(route, site) for route in own_routes(surfaces)]
    return own + [endpoint_of(route, surface.host) for surface in surfaces for route in surface.routes]


def _document_route(surfaces: tuple[Surface, ...]) -> AnyRoute:
    @cache
    def encoded() -> bytes:
        return msgspec.json.encode(document(all_routes(surfaces)))

    async def describe(call: Call[Query, None]) -> Content:
        return Content(encoded(), "application/json")

    return Route(
        method="GET",
        path="/openapi.json",
        name="server.openapi",
        role="public",
        summary="This API as an OpenAPI document",
        handler=describe,
        query=Query,
        replies=(Reply(200, dict[str, Any], "The document."),),
    )
