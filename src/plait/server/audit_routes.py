"""The audit trail, for administrators."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .auth import Page
from .routes import Answer, Call, Query, Reply, Route


class ReadTrail(Query, frozen=True, kw_only=True):
    cursor: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


async def read(call: Call[ReadTrail, None]) -> Answer:
    query = call.query
    return Answer(await call.site.auth.audit.page(call.caller.namespace, query.cursor, query.limit))


ROUTES = (
    Route(
        method="GET",
        path="/audit",
        name="audit.list",
        role="admin",
        summary="Who did what, newest first",
        handler=read,
        query=ReadTrail,
        replies=(Reply(200, Page, "A page of entries."),),
    ),
)
