"""Answers from a run's code: queries, updates, and the values that it publishes."""

from __future__ import annotations

from typing import Any

from plait.api.noun import RUN
from plait.api.published import AskQuery, LastPublished, QueryAnswer, SendUpdate
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.run_action import MessageReceipt
from plait.api.shape import Scoped
from plait.engine import Handle

from .call import AnyCall, Call

_NO_ANSWERS = Fault(422, "kernel.no_answers", "Runs of this dialect answer nothing.")


async def query(call: Call[Scoped, AskQuery]) -> Answer:
    handle = await _run(call)
    return Answer(QueryAnswer(answer=await handle.query(call.params["name"], call.body.argument)))


async def update(call: Call[Scoped, SendUpdate]) -> Answer:
    handle, body = await _run(call), call.body
    key = body.id or call.host.engine.kernel.ids.key()
    updating = handle.update(call.params["name"], body.body, key, wait=body.wait_ms / 1000)
    try:
        answer = await updating
    except TimeoutError:
        return Answer(MessageReceipt(id=key), 202)
    return Answer(MessageReceipt(id=key, answered=True, answer=answer))


async def published(call: Call[Scoped, None]) -> Answer:
    nothing = object()
    found = await (await _run(call)).published(call.params["key"], nothing)
    return Answer(LastPublished(found=False) if found is nothing else LastPublished(found=True, value=found))


async def _run(call: AnyCall) -> Handle[Any]:
    return await call.host.engine.get(call.params["id"], call.namespace)


ROUTES = (
    Route(
        method="POST",
        path="/runs/{id}/queries/{name}",
        name="runs.query",
        role="viewer",
        summary="Ask a run's code something; changes nothing",
        handler=query,
        query=Scoped,
        body=AskQuery,
        body_optional=True,
        replies=(Reply(200, QueryAnswer, "What the code answers."),),
        faults=(_NO_ANSWERS, Fault(409, "CODE_QUERY_FAILED", "The code raised an error, or does not fit the run.")),
        noun=RUN,
        example={"argument": {"verbose": True}},
    ),
    Route(
        method="POST",
        path="/runs/{id}/updates/{name}",
        name="runs.update",
        role="operator",
        summary="Have a run's code handle an update, and get its answer",
        handler=update,
        waits=True,
        query=Scoped,
        body=SendUpdate,
        body_optional=True,
        replies=(
            Reply(200, MessageReceipt, "The answer of the run's code."),
            Reply(202, MessageReceipt, "The update is durable, and the code has not answered in time."),
        ),
        faults=(
            _NO_ANSWERS,
            Fault(409, "RUN_FINISHED", "The run has ended, is blocked, or its code failed."),
            Fault(422, "CODE_UPDATE_REJECTED", "The validator of the update rejected it; nothing was recorded."),
            Fault(429, "kernel.queue_full", "Too many messages are waiting for this run."),
        ),
        noun=RUN,
        example={"body": {"name": "book", "price": 12}},
    ),
    Route(
        method="GET",
        path="/runs/{id}/published/{key}",
        name="runs.published",
        role="viewer",
        summary="The last value that a run has published under a key",
        handler=published,
        query=Scoped,
        replies=(Reply(200, LastPublished, "The value, if there is one."),),
        faults=(_NO_ANSWERS,),
        noun=RUN,
    ),
)
