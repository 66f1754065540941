"""Flows: start, list and show them."""

from __future__ import annotations

from typing import Any, cast

from plait.dialects.goals import limits
from plait.dialects.goals.errors import BadRequest, OverLimit
from plait.dialects.goals.steps.step import clean
from plait.engine import Handle
from plait.kernel.errors import NotFound, PlaitError
from plait.kernel.ids import caller_id, run_key
from plait.kernel.store import RunRow
from plait.registry.engine import Engine
from plait.server.quotas import check_labels

from .catalog import listed
from .events import FlowTeller, Told, flow_aggregate
from .flow_query import query
from .flow_rows import flow_rows, shown_row
from .ids import cleaned
from .plans import asked_of
from .route import NAMESPACE, Ask, MountRoute, Said
from .state import flow_state, listed_status


async def start(ask: Ask) -> Said:
    """The same id, goals and init again are the same flow."""
    body = await ask.object()
    flow_id = _flow_id(body.get("id"))
    handle: Handle[Any] = await ask.engine.start(
        *asked_of(body),
        id=flow_id,
        namespace=NAMESPACE,
        labels=_labels(body.get("labels")),
    )
    return Said({"flow_id": handle.id, "message": ""}, 201, handle.id)


def _flow_id(sent: object) -> str:
    found = cleaned(sent, "id")
    if len(found) > limits.ID_LENGTH:
        raise OverLimit("the flow's id", len(found), limits.ID_LENGTH, "characters", "use a shorter one")
    return found


def _labels(sent: object) -> dict[str, str] | None:
    if sent is None:
        return None
    if not isinstance(sent, dict) or not all(isinstance(each, str) for each in cast("dict[str, Any]", sent).values()):
        raise BadRequest("/labels", "labels must be an object of strings", 'send {"name": "text"}')
    found = cast("dict[str, str]", sent)
    if len(found) > limits.LABELS:
        raise OverLimit("the flow", len(found), limits.LABELS, "labels", "use fewer")
    check_labels(found)
    return found


async def list_flows(ask: Ask) -> Said:
    """Active first, newest first."""
    found = [shown_row(flow) for flow in await flow_rows(ask.engine)]
    return Said(sorted(found, key=lambda each: each["status"] != "active"))


async def query_flows(ask: Ask) -> Said:
    return Said(await query(ask.engine, await ask.object()))


async def show(ask: Ask) -> Said:
    state, _ = await flow_state(ask.engine, await flow_row(ask.engine, ask.params["id"]))
    return Said(state)


async def status(ask: Ask) -> Said:
    row = await flow_row(ask.engine, ask.params["id"])
    return Said({"id": caller_id(row.id), "status": await listed_status(ask.engine, row)})


async def events(ask: Ask) -> Said:
    flow_id = caller_id((await flow_row(ask.engine, ask.params["id"])).id)
    handle = await ask.engine.get(flow_id, NAMESPACE)
    teller = FlowTeller(flow_id)
    told: list[Told] = [each for event in await handle.events() for each in teller.tell(event)]
    return listed(told, flow_aggregate(flow_id))


async def flow_row(engine: Engine, flow_id: str) -> RunRow:
    """Finds a flow by its id, or by the id that a client sent, which was cleaned when the flow started."""
    found = await known_row(engine, flow_id) or await known_row(engine, clean(flow_id))
    if found is None:
        raise NotFound("mount.no_flow", f"there is no flow '{flow_id[:200]}'", fix="GET /engine/flow lists them")
    return found


async def known_row(engine: Engine, flow_id: str) -> RunRow | None:
    """Returns the flow's row; None for a run of another dialect, which is not a flow."""
    engine.kernel.must_live()
    try:
        row = await engine.kernel.store.run(run_key(NAMESPACE, flow_id))
    except PlaitError as error:
        if error.code != "kernel.bad_run_id":
            raise
        return None
    return row if row is not None and row.dialect == engine.goals.name else None


ROUTES = (
    MountRoute(method="GET", full_path="/engine/flow", handler=list_flows),
    MountRoute(method="POST", full_path="/engine/flow", handler=start, name="mount.start"),
    MountRoute(method="POST", full_path="/engine/flow/query", handler=query_flows),
    MountRoute(method="GET", full_path="/engine/flow/{id}", handler=show),
    MountRoute(method="GET", full_path="/engine/flow/{id}/status", handler=status),
    MountRoute(method="GET", full_path="/engine/flow/{id}/events", handler=events),
)
