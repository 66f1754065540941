"""Routes for workers that run agents: each acts on the attempt that the caller has claimed."""

from __future__ import annotations

from typing import Any

from plait.api.agent_task import AgentTerms, AskTerms, MadePatch, MakePatch, ReserveCall, ReservedCall
from plait.api.route import Answer, AnyRoute, Fault, Reply, Route
from plait.api.shape import Scoped

from .call import Call
from .tasks import CLAIM_ID, LOST, SETTLED, UNKNOWN


async def terms(call: Call[Scoped, AskTerms]) -> Answer:
    attempts = call.host.engine.agents.attempts
    return Answer(await attempts.terms(call.body.id, namespace=call.namespace, queues=call.caller.queues))


async def reserve(call: Call[Scoped, ReserveCall]) -> Answer:
    body, attempts = call.body, call.host.engine.agents.attempts
    return Answer(
        await attempts.reserve(body.id, body.tokens, body.cost_usd, namespace=call.namespace, queues=call.caller.queues)
    )


async def patch(call: Call[Scoped, MakePatch]) -> Answer:
    body, attempts = call.body, call.host.engine.agents.attempts
    return Answer(
        await attempts.patch(body.id, denied=body.denied, namespace=call.namespace, queues=call.caller.queues)
    )


def _route(verb: str, summary: str, handler: Any, body: Any, reply: Reply, example: Any, *more: Fault) -> AnyRoute:
    return Route(
        method="POST",
        path=f"/tasks/{verb}",
        name=f"tasks.{verb}",
        role="worker",
        summary=summary,
        handler=handler,
        query=Scoped,
        body=body,
        replies=(reply,),
        faults=(UNKNOWN, LOST, SETTLED, *more),
        audited=False,
        example={"id": CLAIM_ID, **example},
    )


ROUTES = (
    _route(
        "terms",
        "What the agent of an attempt may use",
        terms,
        AskTerms,
        Reply(200, AgentTerms, "Its tools, as of now."),
        {},
    ),
    _route(
        "reserve",
        "Reserve a model call in the budgets of an attempt",
        reserve,
        ReserveCall,
        Reply(200, ReservedCall, "Whether the call may be made."),
        {"tokens": 5_000, "cost_usd": 0.01},
    ),
    _route(
        "patch",
        "Make the call of `patch_workflow` that the journal of an attempt has next",
        patch,
        MakePatch,
        Reply(200, MadePatch, "What the model is told."),
        {},
        Fault(409, "task.no_such_call", "The journal has another call next, or none."),
    ),
)
