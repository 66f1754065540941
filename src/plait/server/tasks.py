"""Tasks on queues, for workers of any language. The protocol is in docs/guides/workers.md.

Successful requests are not audited: a worker sends thousands, and the logs of its runs show what it did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine
from typing import Any

from msgspec import UNSET, Raw

from plait.api.caller import Caller
from plait.api.route import Answer, AnyRoute, Fault, Reply, Route
from plait.api.shape import Scoped
from plait.api.task import (
    PROTOCOL,
    BeatTask,
    ClaimedTasks,
    ClaimTasks,
    CompleteTask,
    FailTask,
    KeepTaskEntry,
    QueueTask,
    ReleaseTask,
    ReportedTask,
    ReportedTasks,
    ReportTasks,
    SuspendTask,
    TaskBeat,
    TaskReport,
    TaskState,
)
from plait.kernel import values
from plait.kernel.errors import PlaitError, Unavailable

from .access import Access
from .auth.errors import bad_key
from .body import Disconnected
from .call import AnyCall, Call
from .errors import Forbidden

CLAIM_ID = "WyJydW4iLCJzdGVwIiwyLDEsImMiXQ"


async def claim(call: Call[Scoped, ClaimTasks]) -> Answer:
    body = call.body
    _must_serve(call.caller, body.queues)
    claiming = call.host.engine.queues.claim(
        body.worker,
        body.queues,
        namespace=call.namespace,
        limit=body.limit,
        lease_ms=body.lease_ms,
        wait_ms=body.wait_ms,
        kinds=body.kinds,
        handlers=body.handlers,
        protocol=body.protocol,
    )
    return Answer(ClaimedTasks(tasks=await _while_connected(call, claiming), protocol=PROTOCOL))


async def heartbeat(call: Call[Scoped, BeatTask]) -> Answer:
    body = call.body
    progress = _progress(body.progress)
    queues, mine = call.host.engine.queues, call.caller.queues
    alive = await queues.heartbeat(body.id, progress, lines=body.lines, namespace=call.namespace, queues=mine)
    return Answer(TaskBeat(id=body.id, cancelled=not alive))


async def complete(call: Call[Scoped, CompleteTask]) -> Answer:
    body = call.body
    queues = call.host.engine.queues
    await queues.complete(body.id, body.output, memo=body.memo, namespace=call.namespace, queues=call.caller.queues)
    return Answer(TaskState(id=body.id, status="completed"))


async def fail(call: Call[Scoped, FailTask]) -> Answer:
    body = call.body
    await call.host.engine.queues.fail(
        body.id,
        body.error.info(),
        retryable=body.retryable,
        progress=_progress(body.progress),
        namespace=call.namespace,
        queues=call.caller.queues,
    )
    return Answer(TaskState(id=body.id, status="failed"))


async def keep(call: Call[Scoped, KeepTaskEntry]) -> Answer:
    body = call.body
    await call.host.engine.queues.keep(
        body.id,
        body.index,
        body.entry,
        says=body.says,
        events=body.events,
        namespace=call.namespace,
        queues=call.caller.queues,
    )
    return Answer(TaskState(id=body.id, status="kept"))


async def suspend(call: Call[Scoped, SuspendTask]) -> Answer:
    body, queues = call.body, call.host.engine.queues
    await queues.suspend(body.id, body.wait, says=body.says, namespace=call.namespace, queues=call.caller.queues)
    return Answer(TaskState(id=body.id, status="suspended"))


async def report(call: Call[Scoped, ReportTasks]) -> Answer:
    queues, reports = call.host.engine.queues, call.body.results
    found = await queues.report(reports, namespace=call.namespace, queues=call.caller.queues)
    return Answer(ReportedTasks(results=[_reported(*pair) for pair in zip(reports, found, strict=True)]))


def _reported(report: TaskReport, refusal: PlaitError | None) -> ReportedTask:
    if isinstance(refusal, Unavailable):  # the outcome is unknown: the worker must send all of them again
        raise refusal
    if refusal is not None:
        detail = f"{refusal.what}: {refusal.why}" if refusal.why else refusal.what
        code, status = refusal.code, refusal.status
        return ReportedTask(id=report.id, status="refused", http_status=status, code=code, detail=detail)
    return ReportedTask(id=report.id, status="completed" if report.error is None else "failed")


async def release(call: Call[Scoped, ReleaseTask]) -> Answer:
    await call.host.engine.queues.release(call.body.id, namespace=call.namespace, queues=call.caller.queues)
    return Answer(TaskState(id=call.body.id, status="released"))


def _progress(given: Any) -> Raw | None:
    return None if given is UNSET else values.encode(given)


def _must_serve(caller: Caller, queues: Collection[str]) -> None:
    foreign = [queue for queue in queues if not caller.may_serve(queue)]
    if foreign:
        raise Forbidden(
            "task.foreign_queue",
            f"no access to queue {foreign[0]!r}",
            why=f"the key is for {', '.join(caller.queues or ())}",
            fix="use a key of that queue",
            caller=caller,
        )


async def _while_connected(call: AnyCall, claiming: Coroutine[Any, Any, list[QueueTask]]) -> list[QueueTask]:
    """Waits for tasks, unless the server stops. For a worker that disconnected, or whose key was revoked, nothing is
    claimed, or what was claimed is given back."""
    work = asyncio.ensure_future(claiming)
    gone = asyncio.ensure_future(_disconnected(call))
    lost = asyncio.ensure_future(Access(call.host, call.request, call.caller, "worker").lost())
    stopping = asyncio.ensure_future(call.host.stopping.wait())
    waiting = (work, gone, lost, stopping)
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not (gone.done() or lost.done()):
            return await work if work.done() else []
        if work.done():
            await call.host.engine.queues.give_back(await work)
        raise Disconnected if gone.done() else bad_key()
    finally:
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _disconnected(call: AnyCall) -> None:
    while (await call.request.receive())["type"] != "http.disconnect":
        pass


UNKNOWN = Fault(404, "task.unknown", "The id is malformed, or belongs to another namespace or queue.")
LOST = Fault(
    409, "task.lease_lost", "The lease ran out, and the task was given to another worker. A result is kept as late."
)
SETTLED = Fault(409, "task.settled", "The task was cancelled or has timed out. A result is kept as late.")


_BAD_ENTRY = Fault(422, "task.bad_entry", "The events or what is waited for can't be read, or the task is no agent's.")


def _report(verb: str, summary: str, handler: Any, body: Any, example: Any, *more: Fault) -> AnyRoute:
    shape = TaskBeat if body is BeatTask else TaskState
    return Route(
        method="POST",
        path=f"/tasks/{verb}",
        name=f"tasks.{verb}",
        role="worker",
        summary=summary,
        handler=handler,
        query=Scoped,
        body=body,
        replies=(Reply(200, shape, "The report is durable."),),
        faults=(UNKNOWN, LOST, *more),
        audited=False,
        example={"id": CLAIM_ID, **example},
    )


ROUTES = (
    Route(
        method="POST",
        path="/tasks/claim",
        name="tasks.claim",
        role="worker",
        summary="Claim tasks of queues; waits for the first",
        handler=claim,
        query=Scoped,
        body=ClaimTasks,
        replies=(Reply(200, ClaimedTasks, "The tasks; none if none came in time."),),
        faults=(
            Fault(403, "task.foreign_queue", "The key is for other queues."),
            Fault(422, "task.protocol_too_new", "The worker's version of the protocol is newer than the server's."),
            Fault(422, "task.unknown_kind", "No task can be of that kind."),
        ),
        audited=False,
        example={"worker": "gpu-1", "queues": ["gpu"]},
    ),
    _report("heartbeat", "Renew the lease of a task, with progress", heartbeat, BeatTask, {"progress": {"page": 3}}),
    _report("complete", "Report the result of a task", complete, CompleteTask, {"output": "page 7"}, SETTLED),
    _report("fail", "Report a failed attempt", fail, FailTask, {"error": {"message": "no paper"}}, SETTLED),
    Route(
        method="POST",
        path="/tasks/report",
        name="tasks.report",
        role="worker",
        summary="Report the results of several tasks",
        handler=report,
        query=Scoped,
        body=ReportTasks,
        replies=(Reply(200, ReportedTasks, "What became of each."),),
        audited=False,
        example={"results": [{"id": CLAIM_ID, "output": "page 7"}]},
    ),
    _report(
        "keep",
        "Add an entry to the journal of an attempt",
        keep,
        KeepTaskEntry,
        {"index": 0, "entry": {"page": 1}},
        SETTLED,
        Fault(409, "task.stale_entry", "The journal has another number of entries by now."),
        _BAD_ENTRY,
    ),
    _report(
        "suspend",
        "Let an attempt wait for people, another run or a time",
        suspend,
        SuspendTask,
        {"wait": {"for": "time", "due": 1_800_000_000_000}},
        SETTLED,
        _BAD_ENTRY,
        Fault(422, "task.foreign_child", "The agent may not start that workflow."),
    ),
    _report("release", "Give a task back, unfinished", release, ReleaseTask, {}, SETTLED),
)
