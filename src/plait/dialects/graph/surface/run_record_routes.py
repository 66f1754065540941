"""The record of one run of a graph over HTTP: its definition and its outcome, by content hash."""

from __future__ import annotations

from typing import Any, Protocol

from plait.api import route
from plait.api.noun import RUN
from plait.api.picture import Picture
from plait.api.route import Answer, Reply, Route
from plait.api.shape import Scoped, Shape
from plait.definitions.hashing import content_hash
from plait.dialects.graph.definition.pins import unpinned
from plait.dialects.graph.graph import NAME
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.kernel.store import DeadLetter
from plait.kernel.view import RunStatus

from .run_graph_routes import FAULT, no_graph

_CAS = "cas://sha256:"
_PAGE = 500


class Reader(Protocol):
    """Reads a run."""

    id: str

    async def picture(self) -> Picture: ...

    async def events(self, after: int, limit: int) -> list[Recorded]: ...


class HasLetters(Protocol):
    async def list(
        self, namespace: str, *, run_id: str, after: tuple[Millis, str] | None, limit: int
    ) -> list[DeadLetter]: ...


class HasRuns(Protocol):
    """The engine, as far as the handlers need it."""

    dlq: HasLetters

    async def get(self, id: str, namespace: str) -> Reader: ...


class RunRecord(Shape, frozen=True, kw_only=True):
    run_id: str
    status: RunStatus
    artifact_id: str
    """The hash of the definition that it began with, as written."""
    tag_name: str = ""
    """The name that it was started by, if any."""
    ir_cas_ref: str
    """The hash of the compiled graph that it began with."""
    submitted_by: str = ""
    inputs_cas_ref: str
    outputs_cas_ref: str | None = None
    final_counter_value: int | None = None
    """The number of tokens left when it ended."""
    dlq_count: int
    """The number of dead letters that wait to be retried or discarded."""
    last_event_at: Millis
    tags: dict[str, str]
    """The run's labels."""


async def show(call: route.Call[HasRuns, Scoped, None]) -> Answer:
    handle = await call.host.get(call.params["id"], call.namespace)
    picture = await handle.picture()
    row, details = picture.row, picture.view.details
    if row.dialect != NAME or details is None:
        raise no_graph(handle.id)
    [first], [last] = await handle.events(0, 1), await handle.events(picture.seq - 1, 1)
    started = first.data["data"]
    return Answer(
        RunRecord(
            run_id=handle.id,
            status=row.status,
            artifact_id=f"sha256:{content_hash(unpinned(started['definition'])[0])}",
            tag_name=first.data.get("reference") or _saved_as(row.definition, row.version),
            ir_cas_ref=_CAS + started["ir_hash"],
            submitted_by=first.data.get("by", ""),
            inputs_cas_ref=_ref(picture.input),
            outputs_cas_ref=_ref(picture.output) if row.status == "completed" else None,
            final_counter_value=None if row.status == "running" else details["counter"],
            dlq_count=await _pending(call.host.dlq, call.namespace, handle.id),
            last_event_at=last.at,
            tags=row.labels,
        )
    )


async def _pending(dlq: HasLetters, namespace: str, run_id: str) -> int:
    """Its dead letters, counted page by page."""
    count, after = 0, None
    while True:
        page = await dlq.list(namespace, run_id=run_id, after=after, limit=_PAGE)
        count += len(page)
        if len(page) < _PAGE:
            return count
        after = page[-1].at, page[-1].id


def _saved_as(name: str, version: str | None) -> str:
    """The name of a saved graph; one that was given inline has none."""
    return f"{name}@{version}" if version is not None and version.startswith("v") else ""


def _ref(value: Any) -> str:
    return _CAS + content_hash(value, "null")


ROUTES = (
    Route(
        method="GET",
        path="/runs/{id}/record",
        name="runs.record",
        role="viewer",
        summary="The record of a run of a graph: where it came from, and how it ended",
        handler=show,
        query=Scoped,
        replies=(Reply(200, RunRecord, "Its record."),),
        faults=(FAULT,),
        noun=RUN,
    ),
)
