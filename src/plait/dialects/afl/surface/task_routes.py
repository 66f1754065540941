"""AFL events over HTTP, for agents: the tasks of the queues that are named after facets.

An agent holds one event at a time by a lease, and may read and update the step of that event only. Any other attempt
is refused with 403, and recorded in the audit log.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from plait.api import claim_id, route
from plait.api.caller import Caller
from plait.api.claim_id import TASK, ClaimId
from plait.api.route import Answer, AnyRoute, Fault, Reply, Route
from plait.api.shape import Scoped
from plait.api.task import QueueTask
from plait.dialects.afl.running.results import STEP_UPDATE
from plait.dialects.afl.running.work import AGENT_QUEUE
from plait.kernel.errors import Conflict, ErrorInfo, Forbidden, PlaitError
from plait.kernel.ids import Millis, caller_id

from .agent_tasks import (
    AgentTask,
    AgentTasks,
    Applied,
    ClaimEvents,
    CompleteEvent,
    FailEvent,
    HeldEvent,
    Lease,
    UpdateStep,
)
from .records import ShownStep, shown_step

Call = route.Call[Any, Any, Any]


class StepQuery(Scoped, frozen=True, kw_only=True):
    lease_token: str


async def claim(call: Call) -> Answer:
    body, queues = call.body, call.host.queues

    def matches(queue: str) -> bool:
        facet = queue.removeprefix(AGENT_QUEUE)
        wanted = facet != queue and any(fnmatchcase(facet, pattern) for pattern in body.facets)
        return wanted and call.caller.may_do(facet)

    _must_do_some(call.caller, body.facets)
    found: list[QueueTask] = await queues.claim_matching(
        body.agent,
        matches,
        namespace=call.namespace,
        limit=body.max,
        lease_ms=body.lease_ms,
        wait_ms=body.wait_ms,
    )
    if found and await call.request.is_disconnected():
        await queues.give_back(found)
        found = []
    return Answer(AgentTasks(tasks=[await _shown(call, task) for task in found]))


async def _shown(call: Call, task: QueueTask) -> AgentTask:
    held = claim_id.read(task.id, call.namespace)
    interface = call.host.afl.of(call.namespace)
    return AgentTask(
        id=held.token,
        attempt=task.attempt,
        lease_token=task.id,
        lease_until=Millis(call.host.kernel.clock.now() + task.lease_ms),
        event_type=task.handler,
        run_id=task.run_id,
        step_id=task.node,
        payload=task.input["arguments"],
        prompt=await interface.prompt(task.run_id, task.node),
        idempotency_key=task.key,
        timeout_ms=task.timeout_ms,
    )


async def heartbeat(call: Call) -> Answer:
    held = await _held(call, call.body.lease_token)
    try:
        alive = await call.host.queues.heartbeat(call.body.lease_token, namespace=call.namespace)
    except Conflict as lost:
        raise _lease_lost(lost.why) from None
    if not alive:
        raise _lease_lost("nobody waits for this event any more")
    lease = await _lease(call, held)
    return Answer(Lease(lease_until=Millis(call.host.kernel.clock.now() + lease)))


async def step(call: Call) -> Answer:
    held = await _held(call, call.query.lease_token)
    await _must_hold(call, held)
    return Answer(shown_step(await _step(call, held)))


async def update(call: Call) -> Answer:
    held = await _held(call, call.body.lease_token)
    await _must_hold(call, held)
    found = await _step(call, held)
    await call.host.tell(held.run_id, STEP_UPDATE, {"step_id": found.id, "returns": call.body.returns})
    return Answer(Applied(applied=True))


async def complete(call: Call) -> Answer:
    held = await _held(call, call.body.lease_token)
    reporting = call.host.queues.complete(held.text(), call.body.result, namespace=call.namespace)
    return await _applied(call, held, reporting)


async def fail(call: Call) -> Answer:
    held, found = await _held(call, call.body.lease_token), call.body.error
    error = ErrorInfo("task.failed", found.message, type=found.type)
    reporting = call.host.queues.fail(held.text(), error, retryable=found.retryable, namespace=call.namespace)
    return await _applied(call, held, reporting)


async def _applied(call: Call, held: ClaimId, reporting: Any) -> Answer:
    """Late reports are accepted, too, and recorded as late."""
    rows = await call.host.queues.held(held.run_id, held.token)
    mine = any(row.claim == held.claim for row in rows)
    try:
        await reporting
    except Conflict as late:
        if late.code not in ("task.lease_lost", "task.settled"):
            raise
        return Answer(Applied(applied=False))
    return Answer(Applied(applied=mine))


# -- the boundary ------------------------------------------------------------------------------------------------------


async def _held(call: Call, lease_token: str) -> ClaimId:
    """Verifies the token: it must be for the event in the path, and that event for one of the key's facets."""
    held = claim_id.read(lease_token, call.namespace)
    if held.token != call.params["id"]:
        raise forbidden("this lease is for another event", "an agent may touch the step of its own event only")
    if call.caller.facets is not None:
        facet = (await _event(call, held)).event_type
        if not call.caller.may_do(facet):
            raise forbidden(f"this key is not for {facet}", "its facets are others")
    return held


async def _must_hold(call: Call, held: ClaimId) -> None:
    try:
        alive = await call.host.queues.heartbeat(held.text(), namespace=call.namespace)
    except Conflict as lost:
        raise _lease_lost(lost.why) from None
    if not alive:
        raise _lease_lost("nobody waits for this event any more")


async def _event(call: Call, held: ClaimId) -> Any:
    return await call.host.afl.of(call.namespace).event(caller_id(held.run_id), held.token)


async def _step(call: Call, held: ClaimId) -> Any:
    event = await _event(call, held)
    return await call.host.afl.of(call.namespace).step(caller_id(held.run_id), event.step_id)


async def _lease(call: Call, held: ClaimId) -> int:
    rows = await call.host.queues.held(held.run_id, held.token)
    return int(rows[0].lease or 30_000) if rows else 30_000


def _must_do_some(caller: Caller, facets: Sequence[str]) -> None:
    foreign = [each for each in facets if "*" not in each and "?" not in each and not caller.may_do(each)]
    if foreign:
        raise forbidden(f"this key is not for {foreign[0]}", f"it is for {', '.join(caller.facets or ())}")


def forbidden(what: str, why: str) -> PlaitError:
    return Forbidden("AFL_FORBIDDEN", what, why=why, fix="use the event and the lease of your own claim")


def _lease_lost(why: str) -> PlaitError:
    return Conflict("AFL_LEASE_LOST", "the lease of this event is lost", why=why, fix="stop working on it")


_FORBIDDEN = Fault(403, "AFL_FORBIDDEN", "The event or facet is not the agent's.")
_UNKNOWN = Fault(404, "task.unknown", "The lease token is malformed, or of another namespace.")
_LOST = Fault(409, "AFL_LEASE_LOST", "The lease ran out, or the event was answered.")


def _route(method: Any, path: str, name: str, summary: str, handler: Any, shape: Any, **more: Any) -> AnyRoute:
    faults = more.pop("faults", (_FORBIDDEN, _UNKNOWN))
    return Route(
        method=method,
        path=f"/afl/tasks{path}",
        name=f"afl.tasks.{name}",
        role="agent",
        summary=summary,
        handler=handler,
        query=more.pop("query", Scoped),
        replies=(Reply(200, shape, "Done."),),
        faults=faults,
        audited=False,
        noun=TASK if "{" in path else None,
        **more,
    )


ROUTES = (
    _route(
        "POST",
        "/claim",
        "claim",
        "Claim AFL events; waits for the first",
        claim,
        AgentTasks,
        body=ClaimEvents,
        waits=True,
        faults=(_FORBIDDEN,),
        example={"agent": "geo-1", "facets": ["geo.*"]},
    ),
    _route(
        "POST",
        "/{id}/heartbeat",
        "heartbeat",
        "Renew the lease of an event",
        heartbeat,
        Lease,
        body=HeldEvent,
        faults=(_FORBIDDEN, _UNKNOWN, _LOST),
        example={"lease_token": "WyJy"},
    ),
    _route(
        "GET",
        "/{id}/step",
        "step",
        "The step of an event that the agent holds",
        step,
        ShownStep,
        query=StepQuery,
        faults=(_FORBIDDEN, _UNKNOWN, _LOST),
    ),
    _route(
        "PATCH",
        "/{id}/step",
        "update",
        "Store partial returns of the step",
        update,
        Applied,
        body=UpdateStep,
        faults=(_FORBIDDEN, _UNKNOWN, _LOST),
        example={"lease_token": "WyJy", "returns": {"count": 3}},
    ),
    _route(
        "POST",
        "/{id}/complete",
        "complete",
        "Report the result of an event",
        complete,
        Applied,
        body=CompleteEvent,
        example={"lease_token": "WyJy", "result": {"count": 3}},
    ),
    _route(
        "POST",
        "/{id}/fail",
        "fail",
        "Report a failed attempt",
        fail,
        Applied,
        body=FailEvent,
        example={"lease_token": "WyJy", "error": {"message": "no map"}},
    ),
)
