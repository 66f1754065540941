"""The step catalog of a namespace: what goals are planned with. Steps are put in through `POST /definitions`."""

from __future__ import annotations

import msgspec

from plait.dialects.goals.catalogs.cluster import StepHealth
from plait.dialects.goals.planning.plan import Links, Plan
from plait.dialects.goals.steps.step import Step
from plait.kernel.ids import Millis

from .routes import Answer, Call, Reply, Route, Scoped
from .runs import Label, pair_of
from .shapes import Shape


class ListSteps(Scoped, frozen=True, kw_only=True):
    label: list[Label] = msgspec.field(default_factory=list[str])
    """`key:value`; a step must have all of them."""


class Catalog(msgspec.Struct, frozen=True, kw_only=True):
    steps: list[Step]
    """By id."""
    attributes: dict[str, Links]
    """Every name that steps share, with those that give it and those that take it."""
    health: dict[str, StepHealth]
    last_updated: Millis
    """0: never."""
    sequence: int
    """The number of its last event."""


class CatalogStep(Shape, frozen=True, kw_only=True):
    step: Step
    health: StepHealth


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """What is amiss without the step. Runs under way keep it."""

    orphans: dict[str, list[str]]
    """Names that nobody gives any more, each with the steps that take it."""
    flows: list[str]
    """Flow steps whose goal it was: they can't be planned any more."""


async def list_steps(call: Call[ListSteps, None]) -> Answer:
    catalog = call.engine.catalog.of(call.namespace)
    steps = await catalog.list(dict(map(pair_of, call.query.label)))
    names, report = await catalog.attributes(), await catalog.health()
    return Answer(
        Catalog(
            steps=steps,
            attributes=names,
            health={step.id: report.health[step.id] for step in steps if step.id in report.health},
            last_updated=catalog.last_updated,
            sequence=catalog.sequence,
        )
    )


async def show(call: Call[Scoped, None]) -> Answer:
    catalog, id = call.engine.catalog.of(call.namespace), call.params["id"]
    return Answer(CatalogStep(step=await catalog.get(id), health=await catalog.health(id)))


async def unregister(call: Call[Scoped, None]) -> Answer:
    removal = await call.engine.catalog.of(call.namespace).unregister(call.params["id"])
    return Answer(Removed(orphans=removal.orphans, flows=removal.flows))


ROUTES = (
    Route(
        method="GET",
        path="/catalog",
        name="catalog.list",
        role="viewer",
        summary="The steps that goals are planned with",
        handler=list_steps,
        query=ListSteps,
        replies=(Reply(200, Catalog, "The catalog, or those of its steps that have the labels."),),
        also=(Plan,),
    ),
    Route(
        method="GET",
        path="/catalog/{id}",
        name="catalog.show",
        role="viewer",
        summary="One step, and how it is",
        handler=show,
        query=Scoped,
        replies=(Reply(200, CatalogStep, "The step."),),
        noun="step",
    ),
    Route(
        method="DELETE",
        path="/catalog/{id}",
        name="catalog.unregister",
        role="editor",
        summary="Take a step out of the catalog",
        handler=unregister,
        query=Scoped,
        replies=(Reply(200, Removed, "It is gone; this is what others now lack."),),
        noun="step",
    ),
)
