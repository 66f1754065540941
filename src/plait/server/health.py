"""For operators: whether the server is alive, whether it is ready, and its metrics."""

from __future__ import annotations

import plait
from plait.api.caller import EVERYWHERE
from plait.api.health import Health, Ready
from plait.api.route import Answer, Content, Reply, Route
from plait.api.shape import Query
from plait.observe.metrics import CONTENT_TYPE

from .argyll.cors import Cors
from .call import Call
from .errors import Stopping, WrongNamespace

_ARGYLL = {"x-argyll-raft-state": "leader"}
"""A field that Argyll's clients read to find the node that accepts changes."""


async def health(call: Call[Query, None]) -> Answer:
    version = plait.__version__
    found = Health(service="plait", status="healthy", details={"version": version}, version=version)
    cors = Cors(call.host.settings.argyll_origins).headers(call.request.headers.get("origin"))
    return Answer(found, headers=_ARGYLL | {name.decode(): value.decode("latin-1") for name, value in cors})


async def ready(call: Call[Query, None]) -> Answer:
    if call.host.stopping.is_set():
        raise Stopping
    await call.host.readiness.check()
    return Answer(Ready(status="ready"))


async def metrics(call: Call[Query, None]) -> Content:
    """They cover all namespaces: not for a caller who can see only one."""
    if call.caller.namespace != EVERYWHERE:
        raise WrongNamespace(EVERYWHERE)
    return Content(await call.host.metrics.render(call.host.engine), CONTENT_TYPE)


ROUTES = (
    Route(
        method="GET",
        path="/metrics",
        name="server.metrics",
        role="viewer",
        summary="Metrics for Prometheus",
        handler=metrics,
        query=Query,
        replies=(Reply(200, "text/plain", "Metrics in Prometheus' text format."),),
        bare=True,
        while_away=True,
    ),
    Route(
        method="GET",
        path="/health",
        name="server.health",
        role="public",
        summary="Liveness: the process is running",
        handler=health,
        query=Query,
        replies=(Reply(200, Health, "The process is running."),),
        bare=True,
    ),
    Route(
        method="GET",
        path="/ready",
        name="server.ready",
        role="public",
        summary="Readiness: 503 while the database takes no writes or the server is stopping",
        handler=ready,
        query=Query,
        replies=(Reply(200, Ready, "The server is ready."),),
        bare=True,
    ),
)
