"""What the dialect adds to the HTTP API: the schema of its language."""

from __future__ import annotations

from typing import Any

from plait.api.route import Answer, Call, Reply, Route
from plait.api.shape import Query
from plait.dialects.refs.definition.schema import refs_schema


async def schema(call: Call[Any, Query, None]) -> Answer:
    return Answer(refs_schema())


routes = (
    Route(
        method="GET",
        path="/refs-schema",
        name="refs.schema",
        role="viewer",
        summary="The JSON Schema of workflows of steps",
        handler=schema,
        query=Query,
        replies=(Reply(200, dict[str, Any], "The schema."),),
    ),
)
