"""Plans: what a run would do, before it starts."""

from __future__ import annotations

import msgspec

from plait.api.plan import PlanRun, RunPlan
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Scoped
from plait.kernel.errors import InvalidInput

from .call import Call
from .runs import definition_of


async def plan(call: Call[Scoped, PlanRun]) -> Answer:
    body, engine = call.body, call.host.engine
    if isinstance(body.definition, msgspec.UnsetType):
        return await _draft(call)
    if body.from_run is not None or body.options:
        raise InvalidInput("plan.two_sources", "`definition` was sent with `from_run` or `options`", fix="send one")
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


async def _draft(call: Call[Scoped, PlanRun]) -> Answer:
    """Answers with a run's draft: what the run would be as a definition."""
    body = call.body
    if body.from_run is None:
        raise InvalidInput("plan.no_source", "there is nothing to plan", fix="send a `definition`, or `from_run`")
    found = await call.host.engine.drafts.make(body.from_run, body.options, call.namespace, dialect=body.dialect)
    return Answer(
        RunPlan(
            dialect=found.dialect,
            definition=body.from_run,
            valid=not found.flaws,
            notes=[*found.warnings],
            plan=found.document,
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
        faults=(
            Fault(404, "CODE_NOT_LOADED", "No definition of that name is loaded."),
            Fault(404, "kernel.no_run", "There is no run to make a definition of."),
            Fault(409, "kernel.no_draft", "Runs of this dialect can't be turned into definitions."),
        ),
        audited=False,
        example={"definition": "order", "input": {"customer": "Ann"}},
    ),
)
