"""Browser sessions: show a key, get a cookie."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .me import Me, me_of
from .routes import Answer, Body, Call, Fault, Query, Reply, Route


class SignIn(Body, frozen=True, kw_only=True):
    key: Annotated[str, Meta(min_length=1, max_length=1000)]


async def sign_in(call: Call[Query, SignIn]) -> Answer:
    login = await call.site.auth.login(call.request, call.body.key)
    return Answer(await me_of(call.site, login.caller), cookies=login.cookies, caller=login.caller)


async def sign_out(call: Call[Query, None]) -> Answer:
    return Answer(None, 204, cookies=await call.site.auth.logout(call.request))


ROUTES = (
    Route(
        method="POST",
        path="/session",
        name="session.sign_in",
        role="public",
        summary="Sign a browser in with a key",
        handler=sign_in,
        query=Query,
        body=SignIn,
        replies=(Reply(200, Me, "Signed in; the cookies are set."),),
        faults=(
            Fault(401, "auth.bad_key", "The key is not good."),
            Fault(403, "auth.cross_site", "It does not come from Plait's own pages."),
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
        replies=(Reply(204, None, "Signed out; the cookies are dropped."),),
    ),
)
