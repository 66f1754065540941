"""A route with the host that its handler works on: the site, or the host of a dialect's surface."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from plait.api.route import AnyRoute
from plait.api.shape import Query


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What is the same for all requests of a route, computed once."""

    route: AnyRoute
    host: object
    method: str
    full_path: str
    title: str
    """The route's name in the metrics."""
    audited: bool
    """Whether a successful request is recorded in the audit log."""
    no_query: Query | None
    """The parsed query of a request without parameters; None if some are required."""


def endpoint_of(route: AnyRoute, host: object) -> Endpoint:
    try:
        no_query = msgspec.convert({}, route.query)
    except msgspec.ValidationError:
        no_query = None
    title = f"{route.method} {route.full_path}"
    audited = route.audited and route.method != "GET"
    return Endpoint(route, host, route.method, route.full_path, title, audited, no_query)
