"""The caller's identity, and browser sessions, which exchange a key for a cookie."""

from __future__ import annotations

import plait
from plait.api.caller import EVERYWHERE, Caller
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.session import Me, SignIn
from plait.api.shape import Query
from plait.kernel.ids import DEFAULT_NAMESPACE

from .call import Call
from .site import Site


async def me(call: Call[Query, None]) -> Answer:
    return Answer(await _me(call.host, call.caller))


async def sign_in(call: Call[Query, SignIn]) -> Answer:
    login = await call.host.auth.login(call.request, call.body.key)
    return Answer(await _me(call.host, login.caller), cookies=login.cookies, caller=login.caller)


async def sign_out(call: Call[Query, None]) -> Answer:
    return Answer(None, 204, cookies=await call.host.auth.logout(call.request))


async def _me(site: Site, caller: Caller) -> Me:
    everywhere = caller.namespace == EVERYWHERE
    seen = {DEFAULT_NAMESPACE, *await site.engine.namespaces()} if everywhere else {caller.namespace}
    return Me(
        name=caller.name,
        role=caller.role,
        namespace=caller.namespace,
        mode=caller.mode,
        version=plait.__version__,
        namespaces=sorted(seen),
        dialects=list(site.bundles),
    )


ROUTES = (
    Route(
        method="GET",
        path="/me",
        name="me.show",
        role="any",
        summary="The caller's name, role and namespaces",
        handler=me,
        query=Query,
        replies=(Reply(200, Me, "The caller."),),
    ),
    Route(
        method="POST",
        path="/session",
        name="session.sign_in",
        role="public",
        summary="Sign a browser in with an API key",
        handler=sign_in,
        query=Query,
        body=SignIn,
        replies=(Reply(200, Me, "Signed in; the cookies are set."),),
        faults=(
            Fault(401, "auth.bad_key", "Invalid API key."),
            Fault(403, "auth.cross_site", "The request does not come from Plait's own pages."),
        ),
        example={"key": "plait_…"},
    ),
    Route(
        method="DELETE",
        path="/session",
        name="session.sign_out",
        role="any",
        summary="Sign a browser out",
        handler=sign_out,
        query=Query,
        replies=(Reply(204, None, "Signed out; the cookies are deleted."),),
    ),
)
