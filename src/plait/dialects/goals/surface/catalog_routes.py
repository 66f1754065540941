"""The step catalog of a namespace over HTTP. Steps are saved through `POST /definitions`."""

from __future__ import annotations

from typing import Protocol, TypeVar

from plait.api import route
from plait.api.noun import Noun
from plait.api.route import Answer, Reply, Route
from plait.api.shape import Query, Scoped, label_pair
from plait.dialects.goals.catalogs.step_catalog import StepCatalog
from plait.dialects.goals.planning.plan import Plan
from plait.dialects.goals.running.details import GoalsDetails

from .shapes import CatalogDetail, ListSteps, RemovedStep, StepDetail

STEP = Noun("step", "goals.step_not_found", "step '{}' is not in the catalog", fix="register it first")


class HasCatalog(Protocol):
    """The engine, as far as the handlers need it."""

    @property
    def catalog(self) -> StepCatalog: ...


Q = TypeVar("Q", bound=Query)
B = TypeVar("B")

Call = route.Call[HasCatalog, Q, B]


async def list_steps(call: Call[ListSteps, None]) -> Answer:
    catalog = call.host.catalog.of(call.namespace)
    steps = await catalog.list(dict(map(label_pair, call.query.label)))
    names, report = await catalog.attributes(), await catalog.health()
    return Answer(
        CatalogDetail(
            steps=steps,
            attributes=names,
            health={step.id: report.health[step.id] for step in steps if step.id in report.health},
            last_updated=catalog.last_updated,
            sequence=catalog.sequence,
        )
    )


async def show_step(call: Call[Scoped, None]) -> Answer:
    catalog, id = call.host.catalog.of(call.namespace), call.params["id"]
    return Answer(StepDetail(step=await catalog.get(id), health=await catalog.health(id)))


async def unregister(call: Call[Scoped, None]) -> Answer:
    removal = await call.host.catalog.of(call.namespace).unregister(call.params["id"])
    return Answer(RemovedStep(orphans=removal.orphans, flows=removal.flows))


ROUTES = (
    Route(
        method="GET",
        path="/catalog",
        name="catalog.list",
        role="viewer",
        summary="The steps of the catalog, by id",
        handler=list_steps,
        query=ListSteps,
        replies=(Reply(200, CatalogDetail, "The catalog, or those of its steps that have the labels."),),
        also=(Plan, GoalsDetails),
    ),
    Route(
        method="GET",
        path="/catalog/{id}",
        name="catalog.show",
        role="viewer",
        summary="One step of the catalog and its health",
        handler=show_step,
        query=Scoped,
        replies=(Reply(200, StepDetail, "The step."),),
        noun=STEP,
    ),
    Route(
        method="DELETE",
        path="/catalog/{id}",
        name="catalog.unregister",
        role="editor",
        summary="Remove a step from the catalog",
        handler=unregister,
        query=Scoped,
        replies=(Reply(200, RemovedStep, "Removed; this is what other steps now lack."),),
        noun=STEP,
    ),
)
