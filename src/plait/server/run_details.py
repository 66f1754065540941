"""A run in detail: its timeline, the logs of its tasks, how it differs from another run."""

from __future__ import annotations

from plait.api.agent import AgentRecords
from plait.api.diff import CompareRuns, Diff
from plait.api.log import ListLogs, LogLine, LogPage
from plait.api.noun import RUN
from plait.api.route import Answer, Reply, Route
from plait.api.shape import Scoped
from plait.api.timeline import Timeline

from .call import Call
from .pii import LOGS
from .runs import run_of


async def timeline(call: Call[Scoped, None]) -> Answer:
    engine = call.host.engine
    handle = await engine.get(call.params["id"], call.namespace)
    return Answer(Timeline(bars=await handle.timeline(), now=engine.kernel.clock.now()))


async def agents(call: Call[Scoped, None]) -> Answer:
    handle = await call.host.engine.get(call.params["id"], call.namespace)
    return Answer(await handle.agents())


async def logs(call: Call[ListLogs, None]) -> Answer:
    query = call.query
    handle = await call.host.engine.get(call.params["id"], call.namespace)
    found = await handle.logs(query.node, query.after, query.limit + 1)
    lines = [
        LogLine(id=line.id, at=line.at, node=line.node, attempt=line.attempt, level=line.level, text=line.text)
        for line in found[: query.limit]
    ]
    return Answer(LogPage(lines=lines, next=lines[-1].id if len(found) > query.limit else None))


async def diff(call: Call[CompareRuns, None]) -> Answer:
    engine = call.host.engine
    a = await engine.get(call.params["id"], call.namespace)
    b = await engine.get(call.query.with_, call.namespace)
    found = await engine.diff(a, b)
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
        noun=RUN,
    ),
    Route(
        method="GET",
        path="/runs/{id}/agents",
        name="runs.agents",
        role="viewer",
        summary="What agents did in a run, turn by turn",
        handler=agents,
        query=Scoped,
        replies=(Reply(200, AgentRecords, "A record for each attempt, in the order in which they began."),),
        noun=RUN,
    ),
    Route(
        method="GET",
        path="/runs/{id}/logs",
        name=LOGS,
        role="viewer",
        summary="What the tasks of a run logged",
        handler=logs,
        query=ListLogs,
        replies=(Reply(200, LogPage, "A page of lines, in order."),),
        noun=RUN,
    ),
    Route(
        method="GET",
        path="/runs/{id}/diff",
        name="runs.diff",
        role="viewer",
        summary="What differs between two runs",
        handler=diff,
        query=CompareRuns,
        replies=(Reply(200, Diff, "The changes from the run in the path to the other one."),),
        noun=RUN,
    ),
)
