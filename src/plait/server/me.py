"""Who the caller is, and what he may see."""

from __future__ import annotations

import plait
from plait.kernel.ids import DEFAULT_NAMESPACE

from .caller import EVERYWHERE, Caller, Mode, Role
from .routes import Answer, Call, Query, Reply, Route
from .shapes import Shape
from .site import Site


class Me(Shape, frozen=True, kw_only=True):
    name: str
    role: Role
    namespace: str
    """The one namespace of the caller, or `*`."""
    mode: Mode
    version: str
    """Of the server."""
    namespaces: list[str]
    """Those he can see anything in."""
    dialects: list[str]
    """What this server can run."""


async def me_of(site: Site, caller: Caller) -> Me:
    everywhere = caller.namespace == EVERYWHERE
    seen = {DEFAULT_NAMESPACE, *await site.engine.namespaces()} if everywhere else {caller.namespace}
    return Me(
        name=caller.name,
        role=caller.role,
        namespace=caller.namespace,
        mode=caller.mode,
        version=plait.__version__,
        namespaces=sorted(seen),
        dialects=site.engine.dialects,
    )


async def me(call: Call[Query, None]) -> Answer:
    return Answer(await me_of(call.site, call.caller))


ROUTES = (
    Route(
        method="GET",
        path="/me",
        name="me.show",
        role="any",
        summary="Who am I?",
        handler=me,
        query=Query,
        replies=(Reply(200, Me, "The caller."),),
    ),
)
