"""Looking at a run more closely: when what happened, what its tasks said, how it differs from another."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from plait.engine.diff import Change, NodeChange
from plait.engine.timeline import Bar
from plait.kernel.ids import Millis
from plait.kernel.store import LineLevel

from .routes import Answer, Call, Reply, Route, Scoped
from .runs import RunIdText
from .shapes import Run, Shape, run_of


class Timeline(Shape, frozen=True, kw_only=True):
    bars: list[Bar]
    now: Millis
    """The server's clock, for bars that have not ended."""


class ReadLogs(Scoped, frozen=True, kw_only=True):
    node: Annotated[str, Meta(min_length=1, max_length=1000)] | None = None
    after: Annotated[int, Meta(ge=0, le=2**53)] = 0
    limit: Annotated[int, Meta(ge=1, le=5000)] = 500


class LogLine(Shape, frozen=True, kw_only=True):
    id: int
    at: Millis
    node: str
    attempt: int
    level: LineLevel
    text: str


class Logs(Shape, frozen=True, kw_only=True):
    lines: list[LogLine]
    next: int | None = None
    """The number to ask for those after, when there are more."""


class Compare(Scoped, frozen=True, kw_only=True):
    with_: RunIdText = msgspec.field(name="with")


class Diff(Shape, frozen=True, kw_only=True):
    a: Run
    b: Run
    input: list[Change]
    output: list[Change]
    nodes: list[NodeChange]


async def timeline(call: Call[Scoped, None]) -> Answer:
    handle = await call.engine.get(call.params["id"], call.namespace)
    return Answer(Timeline(bars=await handle.timeline(), now=call.engine.kernel.clock.now()))


async def logs(call: Call[ReadLogs, None]) -> Answer:
    query = call.query
    handle = await call.engine.get(call.params["id"], call.namespace)
    found = await handle.logs(query.node, query.after, query.limit + 1)
    lines = [
        LogLine(id=line.id, at=line.at, node=line.node, attempt=line.attempt, level=line.level, text=line.text)
        for line in found[: query.limit]
    ]
    return Answer(Logs(lines=lines, next=lines[-1].id if len(found) > query.limit else None))


async def diff(call: Call[Compare, None]) -> Answer:
    a = await call.engine.get(call.params["id"], call.namespace)
    b = await call.engine.get(call.query.with_, call.namespace)
    found = await call.engine.diff(a, b)
    return Answer(Diff(a=run_of(found.a), b=run_of(found.b), input=found.input, output=found.output, nodes=found.nodes))


ROUTES = (
    Route(
        method="GET",
        path="/runs/{id}/timeline",
        name="runs.timeline",
        role="viewer",
        summary="When each node ran, with its attempts and waits",
        handler=timeline,
        query=Scoped,
        replies=(Reply(200, Timeline, "A bar for each node."),),
        noun="run",
    ),
    Route(
        method="GET",
        path="/runs/{id}/logs",
        name="runs.logs",
        role="viewer",
        summary="What the tasks of a run said",
        handler=logs,
        query=ReadLogs,
        replies=(Reply(200, Logs, "A page of lines, in order."),),
        noun="run",
    ),
    Route(
        method="GET",
        path="/runs/{id}/diff",
        name="runs.diff",
        role="viewer",
        summary="What differs between two runs",
        handler=diff,
        query=Compare,
        replies=(Reply(200, Diff, "From the run in the path to the other one."),),
        noun="run",
    ),
)
