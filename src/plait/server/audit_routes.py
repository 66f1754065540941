"""The audit log, for administrators."""

from __future__ import annotations

from plait.api.audit import AuditPage, ListAudit
from plait.api.route import Answer, Reply, Route

from .call import Call


async def read(call: Call[ListAudit, None]) -> Answer:
    query = call.query
    return Answer(await call.host.auth.audit.page(call.caller.namespace, query.cursor, query.limit))


ROUTES = (
    Route(
        method="GET",
        path="/audit",
        name="audit.list",
        role="admin",
        summary="The audit log, newest first",
        handler=read,
        query=ListAudit,
        replies=(Reply(200, AuditPage, "A page of entries."),),
    ),
)
