"""The engines on the server's database, for operators."""

from __future__ import annotations

from plait.api.caller import EVERYWHERE
from plait.api.fleet import FleetOverview
from plait.api.route import Answer, Reply, Route
from plait.api.shape import Query
from plait.engine.fleet_overview import fleet_overview

from .call import Call
from .errors import WrongNamespace


async def show(call: Call[Query, None]) -> Answer:
    """It covers all namespaces: not for a caller who can see only one."""
    if call.caller.namespace != EVERYWHERE:
        raise WrongNamespace(EVERYWHERE)
    engine = call.host.engine
    return Answer(await fleet_overview(engine.kernel, engine.drains))


ROUTES = (
    Route(
        method="GET",
        path="/fleet",
        name="fleet.show",
        role="viewer",
        summary="The engines, their shards, and how far behind they are",
        handler=show,
        query=Query,
        replies=(Reply(200, FleetOverview, "What works on the database."),),
    ),
)
