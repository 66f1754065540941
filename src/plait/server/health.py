"""For those who run the server: is it alive, is it ready, how is it doing."""

from __future__ import annotations

import asyncio
from typing import Literal

import plait
from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.ids import RunId
from plait.observe.metrics import CONTENT_TYPE

from .caller import EVERYWHERE
from .errors import Stopping, WrongNamespace
from .routes import Answer, Call, Content, Query, Reply, Route
from .shapes import Shape

_PATIENCE = 2.0
"""Seconds the store may take before the server does not count as ready."""


_ARGYLL = {"x-argyll-raft-state": "leader", "access-control-allow-origin": "*"}
"""For its clients, which look for the one node that takes changes, from pages of any site."""


class Health(Shape, frozen=True, kw_only=True):
    """Also what Argyll's clients ask for."""

    service: Literal["plait"]
    status: Literal["healthy"]
    details: str
    version: str


class Ready(Shape, frozen=True, kw_only=True):
    status: Literal["ready"]


async def health(call: Call[Query, None]) -> Answer:
    version = plait.__version__
    found = Health(service="plait", status="healthy", details=f"Plait {version}", version=version)
    return Answer(found, headers=_ARGYLL)


async def ready(call: Call[Query, None]) -> Answer:
    """Asks the store for something that is not there: it must answer, and what it answers does not matter."""
    if call.site.stopping.is_set():
        raise Stopping
    call.engine.kernel.must_live()
    try:
        async with asyncio.timeout(_PATIENCE):
            await call.engine.kernel.store.run(RunId("~ready"))
    except TimeoutError:
        raise Unavailable("server.not_ready", f"the database did not answer within {_PATIENCE:g} s") from None
    except PlaitError as error:
        raise Unavailable("server.not_ready", "the database does not answer", why=error.what) from None
    return Answer(Ready(status="ready"))


async def metrics(call: Call[Query, None]) -> Content:
    """Numbers of all namespaces: not for a caller of one."""
    if call.caller.namespace != EVERYWHERE:
        raise WrongNamespace(EVERYWHERE)
    return Content(await call.site.metrics.render(call.engine), CONTENT_TYPE)


ROUTES = (
    Route(
        method="GET",
        path="/metrics",
        name="server.metrics",
        role="viewer",
        summary="How it is doing, for Prometheus",
        handler=metrics,
        query=Query,
        replies=(Reply(200, "text/plain", "Metrics in Prometheus' text format."),),
        bare=True,
    ),
    Route(
        method="GET",
        path="/health",
        name="server.health",
        role="public",
        summary="Is the process alive?",
        handler=health,
        query=Query,
        replies=(Reply(200, Health, "It is."),),
        bare=True,
    ),
    Route(
        method="GET",
        path="/ready",
        name="server.ready",
        role="public",
        summary="Can it do its work? 503 while the database is away or the server is being stopped",
        handler=ready,
        query=Query,
        replies=(Reply(200, Ready, "It can."),),
        bare=True,
    ),
)
