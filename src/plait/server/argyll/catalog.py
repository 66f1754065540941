"""The engine as a whole: its catalog, its nodes, the health of its steps, and their events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plait.dialects.goals.catalogs.cluster import UNKNOWN
from plait.dialects.goals.catalogs.health import HealthReport
from plait.kernel.events import Recorded
from plait.registry.engine import Engine

from .events import CATALOG, CLUSTER, Told, catalog_event, cluster_event
from .route import NAMESPACE, Ask, MountRoute, Said
from .steps import shown, step_id_of
from .times import moment


async def catalog_state(engine: Engine) -> tuple[dict[str, Any], int]:
    """Returns the catalog and the number of its next event, both as of the same moment."""
    catalog = await engine.goals.catalogs.refresh(NAMESPACE)
    state = {
        "last_updated": moment(catalog.last_updated),
        "steps": {step_id: shown(step) for step_id, step in sorted(catalog.steps.items())},
        "attributes": {
            name: {"providers": ties.providers, "consumers": ties.consumers}
            for name, ties in sorted(catalog.graph.names.items())
        },
    }
    return state, engine.goals.catalogs.sequence(NAMESPACE)


async def cluster_state(engine: Engine) -> tuple[dict[str, Any], int]:
    """Returns the nodes and the number of their next event."""
    state = _cluster(await engine.catalog.health())
    return state, engine.goals.health.sequence(NAMESPACE)


def _cluster(report: HealthReport) -> dict[str, Any]:
    nodes = {node: {"health": steps} for node, steps in report.nodes.items()}
    return {"last_updated": moment(report.last_updated), "nodes": nodes}


def _complete(report: HealthReport) -> dict[str, Any]:
    """Fills in every step of the catalog for each node, which may know nothing of most of them."""
    unknown = dict.fromkeys(report.health, UNKNOWN)
    return {node: {"health": unknown | steps} for node, steps in report.nodes.items()}


async def engine_state(ask: Ask) -> Said:
    report = await ask.engine.catalog.health()
    state, _ = await catalog_state(ask.engine)
    last = max(state["last_updated"], moment(report.last_updated))
    return Said(state | {"last_updated": last, "health": _complete(report)})


async def health(ask: Ask) -> Said:
    report = await ask.engine.catalog.health()
    return Said(_cluster(report) | {"nodes": _complete(report), "health": report.health})


async def step_health(ask: Ask) -> Said:
    return Said(await ask.engine.catalog.health(step_id_of(ask)))


async def catalog(ask: Ask) -> Said:
    state, _ = await catalog_state(ask.engine)
    return Said(state)


async def cluster(ask: Ask) -> Said:
    return Said(_cluster(await ask.engine.catalog.health()))


async def catalog_events(ask: Ask) -> Said:
    return listed(map(catalog_event, await ask.engine.catalog.events()), CATALOG)


async def cluster_events(ask: Ask) -> Said:
    found: list[Recorded] = await ask.engine.catalog.health_events()
    return listed(map(cluster_event, found), CLUSTER)


def listed(told: Iterable[Told], aggregate: list[str]) -> Said:
    events = [
        {
            "sequence": each.sequence,
            "timestamp": moment(each.at),
            "type": each.type,
            "aggregate_id": aggregate,
            "data": each.data,
        }
        for each in told
    ]
    return Said({"events": events, "count": len(events)})


ROUTES = (
    MountRoute(method="GET", full_path="/engine", handler=engine_state),
    MountRoute(method="GET", full_path="/engine/", handler=engine_state),
    MountRoute(method="GET", full_path="/engine/health", handler=health),
    MountRoute(method="GET", full_path="/engine/health/{id}", handler=step_health),
    MountRoute(method="GET", full_path="/engine/catalog", handler=catalog),
    MountRoute(method="GET", full_path="/engine/catalog/events", handler=catalog_events),
    MountRoute(method="GET", full_path="/engine/cluster", handler=cluster),
    MountRoute(method="GET", full_path="/engine/cluster/events", handler=cluster_events),
)
