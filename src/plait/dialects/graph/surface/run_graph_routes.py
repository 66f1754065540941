"""The graph of one run over HTTP: its initial form, and the changes since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeVar

from plait.api import route
from plait.api.noun import RUN
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Query, Scoped, Shape
from plait.definitions import json_diff, json_patch
from plait.dialects.graph.definition.pins import unpinned
from plait.dialects.graph.graph import NAME
from plait.dialects.graph.running.details import GraphDetails
from plait.kernel.errors import Conflict
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.kernel.view import RunView

FAULT = Fault(409, "graph.no_graph", "The run is of another dialect.")
_KINDS: Mapping[str, Literal["patch", "migration", "fork"]] = {
    "patch.applied": "patch",
    "run.migrated": "migration",
    "graph.forked": "fork",
}


class Reader(Protocol):
    """Reads a run."""

    id: str

    async def view(self) -> RunView: ...

    async def events(self, after: int, limit: int) -> list[Recorded]: ...


class HasRuns(Protocol):
    """The engine, as far as the handler needs it."""

    async def get(self, id: str, namespace: str) -> Reader: ...


Q = TypeVar("Q", bound=Query)

Call = route.Call[HasRuns, Q, None]


class GraphChange(Shape, frozen=True, kw_only=True):
    seq: int
    """The number of the event."""
    at: Millis
    kind: Literal["patch", "migration", "fork"]
    operations: list[dict[str, Any]]
    """RFC 6902: what makes the graph before into the one after."""
    by: str = ""
    description: str = ""


class RunGraph(Shape, frozen=True, kw_only=True):
    revision: int
    """The value for `base_revision` of a patch."""
    base: Any
    """The definition that the run began with."""
    definition: Any
    """The current definition."""
    changes: list[GraphChange]


async def show(call: Call[Scoped]) -> Answer:
    handle = await call.host.get(call.params["id"], call.namespace)
    view = await handle.view()
    if view.dialect != NAME or view.details is None:
        raise no_graph(handle.id)
    base = _plain((await handle.events(0, 1))[0].data["data"]["definition"])
    now, changes = base, list[GraphChange]()
    for seq in view.details["patches"]:
        event = (await handle.events(seq - 1, 1))[0]
        before, now = now, _changed(now, event)
        changes.append(_change(event, json_diff.diff(before, now)))
    return Answer(RunGraph(revision=view.details["revision"], base=base, definition=now, changes=changes))


def no_graph(run_id: str) -> Conflict:
    return Conflict("graph.no_graph", f"run {run_id} has no graph", why="it is of another dialect, or never began")


def _changed(definition: Any, event: Recorded) -> Any:
    if event.type == "run.migrated":
        return _plain(event.data["definition"])
    return json_patch.apply(definition, event.data["operations"])


def _change(event: Recorded, made: list[dict[str, Any]]) -> GraphChange:
    data = event.data
    return GraphChange(
        seq=event.seq,
        at=event.at,
        kind=_KINDS[event.type],
        operations=data.get("operations", made),
        by=data.get("by", ""),
        description=data.get("description", ""),
    )


def _plain(definition: Any) -> Any:
    """The definition as written, without its pins."""
    return unpinned(definition)[0]


ROUTES = (
    Route(
        method="GET",
        path="/runs/{id}/graph",
        name="runs.graph",
        role="viewer",
        summary="The graph of a run: the original, and each change",
        handler=show,
        query=Scoped,
        replies=(Reply(200, RunGraph, "The graph before and after its changes."),),
        faults=(FAULT,),
        also=(GraphDetails,),
        noun=RUN,
    ),
)
