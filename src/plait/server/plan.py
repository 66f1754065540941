"""What a run would do, before it is started."""

from __future__ import annotations

from plait.api.plan import PlanRun, RunPlan
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Scoped

from .call import Call
from .runs import definition_of


async def plan(call: Call[Scoped, PlanRun]) -> Answer:
    body, engine = call.body, call.host.engine
    definition = definition_of(call.host, body.dialect, body.definition)
    found = await engine.plan(definition, body.input, call.namespace)
    return Answer(
        RunPlan(
            dialect=found.dialect,
            definition=found.definition,
            version=found.version,
            valid=found.startable,
            input=found.input,
            notes=found.notes,
            plan=found.body,
        )
    )


ROUTES = (
    Route(
        method="POST",
        path="/plan",
        name="plan.make",
        role="viewer",
        summary="What a run would do, without starting it",
        handler=plan,
        query=Scoped,
        body=PlanRun,
        replies=(Reply(200, RunPlan, "The plan."),),
        faults=(Fault(404, "CODE_NOT_LOADED", "No definition of that name is loaded."),),
        audited=False,
        example={"definition": "order", "input": {"customer": "Ann"}},
    ),
)
