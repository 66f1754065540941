"""API keys, for administrators. An administrator of one namespace sees and creates keys of that namespace only."""

from __future__ import annotations

from plait.api.caller import EVERYWHERE
from plait.api.key import CreatedKey, Key, KeyList, NewKey
from plait.api.route import Answer, Reply, Route
from plait.api.shape import Query

from .call import Call
from .errors import WrongNamespace
from .nouns import KEY


async def list_keys(call: Call[Query, None]) -> Answer:
    return Answer(KeyList(keys=await call.host.auth.keys.list(call.caller.namespace)))


async def create(call: Call[Query, NewKey]) -> Answer:
    body, own = call.body, call.caller.namespace
    if own != EVERYWHERE and body.namespace not in (None, own):
        raise WrongNamespace(str(body.namespace))
    namespace = body.namespace or own
    key, text = await call.host.auth.keys.create(
        body.name,
        body.role,
        namespace,
        body.expires_in,
        body.queues,
        facets=body.facets,
        pii=body.pii,
        start_rate=body.start_rate,
        max_running=body.max_running,
    )
    fields = {name: getattr(key, name) for name in key.__struct_fields__}
    return Answer(CreatedKey(**fields, key=text), 201)


async def revoke(call: Call[Query, None]) -> Answer:
    return Answer(await call.host.auth.keys.revoke(call.params["id"], call.caller.namespace))


ROUTES = (
    Route(
        method="GET",
        path="/keys",
        name="keys.list",
        role="admin",
        summary="List API keys, newest first, without their secrets",
        handler=list_keys,
        query=Query,
        replies=(Reply(200, KeyList, "The keys."),),
    ),
    Route(
        method="POST",
        path="/keys",
        name="keys.create",
        role="admin",
        summary="Create an API key",
        handler=create,
        query=Query,
        body=NewKey,
        replies=(Reply(201, CreatedKey, "The key. It can't be shown again."),),
        example={"name": "ci", "role": "operator", "namespace": "default", "expires_in": 86400},
    ),
    Route(
        method="DELETE",
        path="/keys/{id}",
        name="keys.revoke",
        role="admin",
        summary="Revoke an API key and end its sessions",
        handler=revoke,
        query=Query,
        replies=(Reply(200, Key, "The revoked key."),),
        noun=KEY,
    ),
)
