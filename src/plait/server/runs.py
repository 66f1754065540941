"""Runs: start one, list them, look at one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import lru_cache
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta

from plait.engine import Handle
from plait.engine.live_lists import RunChanges
from plait.kernel import values
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis, RunId, caller_id, run_key
from plait.kernel.store import RunFilter, RunRow, ShownStatus
from plait.registry import Engine

from .routes import Answer, Body, Call, Fault, NamespaceName, Reply, Route, Scoped, Stream
from .shapes import Run, RunDetail, RunRef, Shape, run_of
from .sse import frame

Text = Annotated[str, Meta(max_length=1000)]
RunIdText = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^/\x00-\x1f\x7f]+\Z")]
Label = Annotated[str, Meta(max_length=1200, pattern=r"^[^:]+:")]
Moment = Annotated[int, Meta(ge=0, le=2**53)]
_STATUS = "(running|blocked|completed|failed|cancelled)"
_LONGEST_MS = 100 * 366 * 86_400_000


class StartRun(Body, frozen=True, kw_only=True):
    """What to start. The same id, definition and input again give the same run."""

    definition: Annotated[str, Meta(min_length=1, max_length=400)] | dict[str, Any]
    """`name`, `name@version` or `name@tag`; or the definition itself, where its dialect can be written as JSON."""
    dialect: Annotated[str, Meta(max_length=40)] = "code"
    input: Any = None
    id: RunIdText | None = None
    namespace: NamespaceName | None = None
    deadline_ms: Annotated[int, Meta(ge=1, le=_LONGEST_MS)] | None = None
    """A span from now, after which the run fails."""
    labels: Annotated[dict[Annotated[str, Meta(min_length=1, max_length=200)], Text], Meta(max_length=64)] = (
        msgspec.field(default_factory=dict[str, str])
    )


async def start(call: Call[Scoped, StartRun]) -> Answer:
    body, engine = call.body, call.engine
    must_know(engine, body.dialect)
    namespace = call.namespace if body.namespace is None else call.caller.namespace_of(body.namespace)
    handle: Handle[Any] = await engine.start(
        await definition_of(engine, body.dialect, body.definition, namespace),
        body.input,
        id=body.id,
        namespace=namespace,
        deadline=None if body.deadline_ms is None else body.deadline_ms / 1000,
        labels=body.labels or None,
    )
    if call.site.traces is not None:
        call.site.traces.requested(run_key(namespace, handle.id), str(body.definition)[:400], call.request.headers)
    if handle.created:
        return Answer(RunRef(id=handle.id, namespace=namespace, status="running"), 201)
    return Answer(RunRef(id=handle.id, namespace=namespace, status=await handle.status()))


async def definition_of(engine: Engine, dialect: str, given: str | dict[str, Any], namespace: str) -> Any:
    """What the engine starts: a name whose tag, if it has one, is now a version; or what its dialect reads."""
    found = await engine.definitions.resolve(given, namespace) if isinstance(given, str) else given
    return engine.read(dialect, found)


def must_know(engine: Engine, dialect: str) -> None:
    """A dialect in a body is part of what was sent: an unknown one makes it unusable."""
    if dialect not in engine.bundles:
        known = ", ".join(engine.bundles)
        raise InvalidInput("kernel.no_dialect", f"this engine has no dialect `{dialect}`", fix=f"use one of {known}")


class ListRuns(Scoped, frozen=True, kw_only=True):
    q: Text | None = None
    status: Annotated[str, Meta(pattern=rf"^{_STATUS}(,{_STATUS})*\Z")] | None = None
    """Any of them, divided by commas."""
    dialect: Text | None = None
    definition: Text | None = None
    label: list[Label] = msgspec.field(default_factory=list[str])
    parent: RunIdText | None = None
    since: Moment | None = None
    until: Moment | None = None
    cursor: Text | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class Runs(Shape, frozen=True, kw_only=True):
    runs: list[Run]
    next: str | None = None
    """The cursor of the next page, if there is one."""


class RunsChanged(Shape, frozen=True, kw_only=True):
    """A frame of the live list: at first all runs of the page (`snapshot`), then what is new or other (`changes`)."""

    runs: list[Run]
    gone: list[str] | None = None
    """Runs that are no longer on the page."""


async def list_runs(call: Call[ListRuns, None]) -> Answer | Stream:
    limit = call.query.limit
    if call.wants_stream:
        return Stream(_live(call.engine.follow_runs(_filter(call, limit))))
    rows = await call.engine.runs(_filter(call, limit + 1))
    page = rows[:limit]
    return Answer(Runs(runs=[run_of(row) for row in page], next=_cursor(page[-1]) if len(rows) > limit else None))


async def _live(following: AsyncIterator[RunChanges]) -> AsyncIterator[bytes]:
    async with aclosing(cast("AsyncGenerator[RunChanges]", following)) as turns:
        async for turn in turns:
            yield _turn(turn)


@lru_cache(128)
def _turn(turn: RunChanges) -> bytes:
    """All watchers of a filter get the same object: it is encoded once."""
    gone = None if turn.snapshot else [caller_id(id) for id in turn.gone]
    shape = RunsChanged(runs=[run_of(row) for row in turn.runs], gone=gone)
    return frame(shape, event="snapshot" if turn.snapshot else "changes")


def _filter(call: Call[ListRuns, None], limit: int) -> RunFilter:
    query = call.query
    return RunFilter(
        namespace=call.namespace,
        status=None if query.status is None else _statuses(query.status),
        dialect=query.dialect,
        definition=query.definition,
        parent=None if query.parent is None else run_key(call.namespace, query.parent),
        labels=dict(map(pair_of, query.label)) or None,
        text=query.q,
        since=None if query.since is None else Millis(query.since),
        until=None if query.until is None else Millis(query.until),
        after=None if query.cursor is None else _after(query.cursor),
        limit=limit,
    )


def _statuses(text: str) -> list[ShownStatus]:
    return msgspec.convert(text.split(","), list[ShownStatus])


def pair_of(text: str) -> tuple[str, str]:
    """A label in a query: `key:value`."""
    key, _, value = text.partition(":")
    return key, value


def _cursor(row: RunRow) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode((row.created_at, row.id))).decode().rstrip("=")


def _after(cursor: str) -> tuple[Millis, RunId]:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        at, id = msgspec.json.decode(raw, type=tuple[int, str])
        return Millis(at), RunId(values.text("the cursor", id))
    except (binascii.Error, ValueError, InvalidInput):
        raise InvalidInput(
            "http.bad_cursor", "the cursor is none of ours", fix="use `next` of the page before, as it is"
        ) from None


class Look(Scoped, frozen=True, kw_only=True):
    at: Annotated[int, Meta(ge=1, le=2**53)] | None = None


async def show(call: Call[Look, None]) -> Answer:
    handle = await call.engine.get(call.params["id"], call.namespace)
    found = await handle.picture(call.query.at)
    detail = RunDetail(
        run=run_of(found.row),
        input=found.input,
        output=found.output,
        view=found.view,
        waiting=found.waiting,
        seq=found.seq,
        at=found.at,
        actions=found.actions if call.caller.may("operator") else [],
    )
    return Answer(detail)


ROUTES = (
    Route(
        method="POST",
        path="/runs",
        name="runs.start",
        role="operator",
        summary="Start a run",
        handler=start,
        query=Scoped,
        body=StartRun,
        replies=(
            Reply(201, RunRef, "It is started, and durable."),
            Reply(200, RunRef, "It was started before, with the same definition and input."),
        ),
        faults=(
            Fault(404, "CODE_NOT_LOADED", "No definition of that name is loaded."),
            Fault(409, "kernel.run_exists", "The id belongs to a run of another definition or input."),
        ),
        example={"definition": "order", "input": {"customer": "Ann"}, "id": "order-1", "labels": {"shop": "north"}},
    ),
    Route(
        method="GET",
        path="/runs",
        name="runs.list",
        role="viewer",
        summary="List runs, newest first",
        handler=list_runs,
        query=ListRuns,
        replies=(Reply(200, Runs, "A page of runs."),),
        faults=(Fault(422, "http.bad_cursor", "The cursor is none of ours."),),
        streams=RunsChanged,
    ),
    Route(
        method="GET",
        path="/runs/{id}",
        name="runs.show",
        role="viewer",
        summary="Look at a run, as it is or as it was",
        handler=show,
        query=Look,
        replies=(Reply(200, RunDetail, "The run."),),
        faults=(Fault(422, "kernel.bad_moment", "There is no event of that number."),),
        noun="run",
    ),
)
