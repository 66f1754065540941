"""Queues: show them, set their limits, pause and resume them."""

from __future__ import annotations

from typing import Literal

from plait.api.queue import Queue, QueueDetail, QueueLimits, QueueList, QueueSlot, QueueWorker, SetQueue
from plait.api.route import Answer, AnyRoute, Fault, Reply, Route
from plait.api.shape import Body, Scoped
from plait.kernel.admission import QueueSettings
from plait.kernel.ids import caller_id
from plait.kernel.run_queues import QueueState, SlotHolder

from .call import Call
from .nouns import QUEUE

_BAD_NAME = Fault(422, "queue.bad_name", "No queue can have this name.")


async def list_queues(call: Call[Scoped, None]) -> Answer:
    found = await call.host.engine.queues.list(namespace=call.namespace)
    return Answer(QueueList(queues=[queue_of(state) for state in found]))


async def show(call: Call[Scoped, None]) -> Answer:
    name, queues = call.params["name"], call.host.engine.queues
    state = await queues.show(name, namespace=call.namespace)
    holders = await queues.holders(name, namespace=call.namespace)
    workers = await queues.workers(name, namespace=call.namespace)
    return Answer(
        QueueDetail(
            queue=queue_of(state),
            slots=[_slot(holder) for holder in holders],
            workers=[QueueWorker(worker=each.worker, seen_at=each.seen_at) for each in workers],
        )
    )


async def set_limits(call: Call[Scoped, SetQueue]) -> Answer:
    body, name = call.body, call.params["name"]
    await call.host.engine.queues.set(
        name,
        namespace=call.namespace,
        concurrency=body.concurrency,
        per_worker=body.per_worker,
        rate=body.rate,
        period=body.period_ms / 1000,
        partitioned=body.partitioned,
        max_waiting=body.max_waiting,
    )
    return await _shown(call, name)


async def pause(call: Call[Scoped, Body]) -> Answer:
    await call.host.engine.queues.pause(call.params["name"], namespace=call.namespace)
    return await _shown(call, call.params["name"])


async def resume(call: Call[Scoped, Body]) -> Answer:
    await call.host.engine.queues.resume(call.params["name"], namespace=call.namespace)
    return await _shown(call, call.params["name"])


async def _shown(call: Call[Scoped, SetQueue] | Call[Scoped, Body], name: str) -> Answer:
    return Answer(queue_of(await call.host.engine.queues.show(name, namespace=call.namespace)))


def queue_of(state: QueueState) -> Queue:
    return Queue(
        name=state.name,
        namespace=state.namespace,
        limits=None if state.settings is None else _limits(state.settings),
        waiting_runs=state.waiting_runs,
        delayed_runs=state.delayed_runs,
        running_runs=state.running_runs,
        waiting_tasks=state.waiting_tasks,
        running_tasks=state.running_tasks,
    )


def _limits(settings: QueueSettings) -> QueueLimits:
    return QueueLimits(
        concurrency=settings.concurrency,
        per_worker=settings.per_worker,
        rate=settings.rate,
        period_ms=None if settings.rate is None else settings.period,
        partitioned=settings.partitioned,
        max_waiting=settings.max_waiting,
        paused=settings.paused,
    )


def _slot(holder: SlotHolder) -> QueueSlot:
    return QueueSlot(
        kind=holder.kind,
        run_id=caller_id(holder.run_id),
        label=holder.label,
        since=holder.since,
        partition=holder.partition,
        worker=holder.worker,
    )


def _action(verb: Literal["pause", "resume"], summary: str) -> AnyRoute:
    return Route(
        method="POST",
        path=f"/queues/{{name}}/{verb}",
        name=f"queues.{verb}",
        role="operator",
        summary=summary,
        handler=pause if verb == "pause" else resume,
        query=Scoped,
        body=Body,
        body_optional=True,
        replies=(Reply(200, Queue, "The queue."),),
        faults=(_BAD_NAME,),
        noun=QUEUE,
        example={},
    )


ROUTES = (
    Route(
        method="GET",
        path="/queues",
        name="queues.list",
        role="viewer",
        summary="Queues with limits, waiting or running work",
        handler=list_queues,
        query=Scoped,
        replies=(Reply(200, QueueList, "The queues, by name."),),
    ),
    Route(
        method="GET",
        path="/queues/{name}",
        name="queues.show",
        role="viewer",
        summary="A queue, and who holds its slots",
        handler=show,
        query=Scoped,
        replies=(Reply(200, QueueDetail, "The queue."),),
        faults=(_BAD_NAME,),
        noun=QUEUE,
    ),
    Route(
        method="PUT",
        path="/queues/{name}",
        name="queues.set",
        role="operator",
        summary="Set the limits of a queue; `*` is all queues of the namespace together",
        handler=set_limits,
        query=Scoped,
        body=SetQueue,
        replies=(Reply(200, Queue, "The queue with its new limits, which hold from now on."),),
        faults=(_BAD_NAME,),
        noun=QUEUE,
        example={"concurrency": 5, "rate": 50},
    ),
    _action("pause", "Pause a queue: nothing new starts"),
    _action("resume", "Resume a queue: waiting work starts"),
)
