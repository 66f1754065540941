"""What a run would do, before it is started."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from .routes import Answer, Body, Call, Fault, Reply, Route, Scoped
from .runs import definition_of, must_know
from .shapes import Shape


class PlanRun(Body, frozen=True, kw_only=True):
    definition: Annotated[str, Meta(min_length=1, max_length=400)] | dict[str, Any]
    dialect: Annotated[str, Meta(max_length=40)] = "code"
    input: Any = None


class Planned(Shape, frozen=True, kw_only=True):
    dialect: str
    definition: str
    version: str | None = None
    valid: bool
    """Whether it could be started so. A plan with gaps is shown with them; what can't be planned is refused."""
    input: Any = None
    """As the definition reads it."""
    notes: list[str]
    plan: Any = None
    """Which steps would run and which not, where that can be told before."""


async def plan(call: Call[Scoped, PlanRun]) -> Answer:
    body = call.body
    must_know(call.engine, body.dialect)
    definition = await definition_of(call.engine, body.dialect, body.definition, call.namespace)
    found = await call.engine.plan(definition, body.input, call.namespace)
    return Answer(
        Planned(
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
        summary="What would a run do? Starts nothing",
        handler=plan,
        query=Scoped,
        body=PlanRun,
        replies=(Reply(200, Planned, "It could be started so."),),
        faults=(Fault(404, "CODE_NOT_LOADED", "No definition of that name is loaded."),),
        audited=False,
        example={"definition": "order", "input": {"customer": "Ann"}},
    ),
)
