"""Changes a run: cancel, retry, compensate, patch, send it a message, fork it."""

from __future__ import annotations

from typing import Any

from plait.api.noun import RUN
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.run import RunRef
from plait.api.run_action import (
    CancelRun,
    ForkRun,
    MessageReceipt,
    PatchedRun,
    PatchRun,
    RetryRun,
    RunState,
    SendMessage,
)
from plait.api.shape import Body, Scoped
from plait.engine import Handle

from .call import AnyCall, Call
from .quotas import KEY_LABEL

_ENDED = Fault(409, "RUN_FINISHED", "The run has ended, or is in the wrong state for this.")


async def cancel(call: Call[Scoped, CancelRun]) -> Answer:
    handle = await _run(call)
    await handle.cancel(call.body.reason, call.body.compensate)
    return await _state(handle)


async def retry(call: Call[Scoped, RetryRun]) -> Answer:
    handle = await _run(call)
    body = call.body
    deadline = None if body.deadline_ms is None else body.deadline_ms / 1000
    await handle.retry(body.from_, scope=body.scope or "", deadline=deadline)
    return await _state(handle)


async def compensate(call: Call[Scoped, Body]) -> Answer:
    handle = await _run(call)
    await handle.compensate()
    return await _state(handle)


async def patch(call: Call[Scoped, PatchRun]) -> Answer:
    handle = await _run(call)
    revision = await handle.patch(call.body.operations, by=call.caller.name, base=call.body.base_revision)
    return Answer(PatchedRun(id=handle.id, status=await handle.status(), revision=revision))


async def message(call: Call[Scoped, SendMessage]) -> Answer:
    handle, body = await _run(call), call.body
    if body.wait_ms is None:
        return Answer(MessageReceipt(id=await handle.message(body.name, body.body, body.id)))
    key = body.id or call.host.engine.kernel.ids.key()
    try:
        asking = handle.ask(body.name, body.body, key, wait=body.wait_ms / 1000)
        answer = await asking
    except TimeoutError:
        return Answer(MessageReceipt(id=key), 202)
    return Answer(MessageReceipt(id=key, answered=True, answer=answer))


async def fork(call: Call[Scoped, ForkRun]) -> Answer:
    handle = await _run(call)
    counted = await call.host.quotas.take(call.caller, call.namespace)
    # The fork counts for the key that makes it, not for the key that started the other run
    labels = {key: value for key, value in (await handle.readable()).labels.items() if key != KEY_LABEL} | counted
    made = await handle.fork(call.body.at, call.body.edits, call.body.id, labels=labels)
    return Answer(RunRef(id=made.id, namespace=made.namespace, status=await made.status()), 201)


async def _run(call: AnyCall) -> Handle[Any]:
    return await call.host.engine.get(call.params["id"], call.namespace)


async def _state(handle: Handle[Any]) -> Answer:
    return Answer(RunState(id=handle.id, status=await handle.status()))


_STATE = (Reply(200, RunState, "The request is durable."),)

ROUTES = (
    Route(
        method="POST",
        path="/runs/{id}/cancel",
        name="runs.cancel",
        role="operator",
        summary="Cancel a run",
        handler=cancel,
        query=Scoped,
        body=CancelRun,
        body_optional=True,
        replies=_STATE,
        noun=RUN,
        example={"reason": "ordered twice"},
    ),
    Route(
        method="POST",
        path="/runs/{id}/retry",
        name="runs.retry",
        role="operator",
        summary="Retry a failed or blocked run, or re-run part of one",
        handler=retry,
        query=Scoped,
        body=RetryRun,
        body_optional=True,
        replies=_STATE,
        faults=(_ENDED,),
        noun=RUN,
        example={"from": "charge"},
    ),
    Route(
        method="POST",
        path="/runs/{id}/compensate",
        name="runs.compensate",
        role="operator",
        summary="Run the compensations of an ended run",
        handler=compensate,
        query=Scoped,
        body=Body,
        body_optional=True,
        replies=_STATE,
        faults=(_ENDED,),
        noun=RUN,
        example={},
    ),
    Route(
        method="POST",
        path="/runs/{id}/patch",
        name="runs.patch",
        role="editor",
        summary="Change the definition of one run, if its dialect supports it",
        handler=patch,
        query=Scoped,
        body=PatchRun,
        replies=(Reply(200, PatchedRun, "The request is durable."),),
        faults=(_ENDED, Fault(412, "kernel.revision_stale", "The run has another revision than `base_revision`.")),
        noun=RUN,
        example={"operations": [{"op": "remove", "node": "ship"}]},
    ),
    Route(
        method="POST",
        path="/runs/{id}/messages",
        name="runs.message",
        role="operator",
        summary="Send a message to a run",
        handler=message,
        waits=True,
        query=Scoped,
        body=SendMessage,
        replies=(
            Reply(200, MessageReceipt, "The message is durable; with `wait_ms`, the run has answered it."),
            Reply(202, MessageReceipt, "The message is durable, and the run has not answered in time."),
        ),
        faults=(_ENDED, Fault(429, "kernel.queue_full", "Too many messages are waiting for this run.")),
        noun=RUN,
        example={"name": "yes", "body": {"by": "me"}},
    ),
    Route(
        method="POST",
        path="/runs/{id}/fork",
        name="runs.fork",
        role="operator",
        summary="Start a new run from the history of this one",
        handler=fork,
        query=Scoped,
        body=ForkRun,
        body_optional=True,
        replies=(Reply(201, RunRef, "The new run."),),
        faults=(Fault(409, "kernel.run_exists", "The id is taken."),),
        noun=RUN,
        example={"at": "charge"},
    ),
)
