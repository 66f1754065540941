"""API keys, for administrators. One of a single namespace sees and makes the keys of that namespace only."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .auth import Key
from .caller import EVERYWHERE, Role
from .errors import WrongNamespace
from .routes import Answer, Body, Call, Query, Reply, Route
from .shapes import Shape

_TEN_YEARS = 10 * 365 * 86_400


class Keys(Shape, frozen=True, kw_only=True):
    keys: list[Key]


class NewKey(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=100)]
    role: Role
    namespace: Annotated[str, Meta(pattern=r"^([a-z0-9][a-z0-9_-]{0,62}|\*)\Z")] | None = None
    """`*` for all; by default that of the caller."""
    expires_in: Annotated[int, Meta(ge=1, le=_TEN_YEARS)] | None = None
    """Seconds."""


class MadeKey(Key, frozen=True, kw_only=True):
    key: str
    """The key itself. Nobody can show it again."""


async def list_keys(call: Call[Query, None]) -> Answer:
    return Answer(Keys(keys=await call.site.auth.keys.list(call.caller.namespace)))


async def create(call: Call[Query, NewKey]) -> Answer:
    body, own = call.body, call.caller.namespace
    if own != EVERYWHERE and body.namespace not in (None, own):
        raise WrongNamespace(str(body.namespace))
    key, text = await call.site.auth.keys.create(body.name, body.role, body.namespace or own, body.expires_in)
    fields = {name: getattr(key, name) for name in key.__struct_fields__}
    return Answer(MadeKey(**fields, key=text), 201)


async def revoke(call: Call[Query, None]) -> Answer:
    return Answer(await call.site.auth.keys.revoke(call.params["id"], call.caller.namespace))


ROUTES = (
    Route(
        method="GET",
        path="/keys",
        name="keys.list",
        role="admin",
        summary="List keys, newest first; the keys themselves are not shown",
        handler=list_keys,
        query=Query,
        replies=(Reply(200, Keys, "The keys."),),
    ),
    Route(
        method="POST",
        path="/keys",
        name="keys.create",
        role="admin",
        summary="Make a key",
        handler=create,
        query=Query,
        body=NewKey,
        replies=(Reply(201, MadeKey, "The key; it is shown this once."),),
        example={"name": "ci", "role": "operator", "namespace": "default", "expires_in": 86400},
    ),
    Route(
        method="DELETE",
        path="/keys/{id}",
        name="keys.revoke",
        role="admin",
        summary="Revoke a key, and end its sessions",
        handler=revoke,
        query=Query,
        replies=(Reply(200, Key, "It is good for nothing any more."),),
        noun="key",
    ),
)
