"""Runs: start, list and show them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import lru_cache
from typing import Any, cast

import msgspec

from plait.api.cursor import cursor_of, place_of
from plait.api.noun import RUN
from plait.api.route import Answer, Fault, Reply, Route, Stream
from plait.api.run import ListRuns, Run, RunChanges, RunDetail, RunPage, RunRef, ShowRun, StartRun
from plait.api.shape import Scoped, label_pair
from plait.engine import Handle
from plait.engine.live_lists import RunChanges as Changes
from plait.kernel.bundle import Reference
from plait.kernel.cause import cause_of
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis, RunId, caller_id, run_key
from plait.kernel.past import NO_PAST
from plait.kernel.run_queues import Queueing
from plait.kernel.store import RunFilter, RunRow, ShownStatus

from .call import Call
from .dispatch import namespace_of
from .errors import UnknownDialect
from .quotas import check_labels
from .site import Site
from .sse import frame


async def start(call: Call[Scoped, StartRun]) -> Answer:
    body, engine = call.body, call.host.engine
    namespace = call.namespace if body.namespace is None else namespace_of(call.caller, body.namespace)
    given = _asked_for(body)
    check_labels(body.labels)
    counted = await call.host.quotas.take(call.caller, namespace)
    handle: Handle[Any] = await engine.start(
        definition_of(call.host, body.dialect, given),
        body.input if body.tag is None else body.inputs,
        id=body.id,
        namespace=namespace,
        deadline=None if body.deadline_ms is None else body.deadline_ms / 1000,
        labels={**body.labels, **counted} or None,
        subject=body.subject,
        by=call.caller.name,
        **queueing_of(body),
    )
    if call.host.traces is not None:
        call.host.traces.requested(run_key(namespace, handle.id), str(given)[:400], call.request.headers)
    if handle.created:
        return Answer(RunRef(id=handle.id, namespace=namespace, status="running"), 201, namespace=namespace)
    return Answer(RunRef(id=handle.id, namespace=namespace, status=await handle.status()), namespace=namespace)


def queueing_of(body: StartRun) -> Queueing:
    """The queueing options that the body sets."""
    found: Queueing = {}
    if body.queue is not None:
        found["queue"] = body.queue
    if body.priority:
        found["priority"] = body.priority
    if body.partition is not None:
        found["partition"] = body.partition
    if body.dedup_id is not None:
        found["dedup_id"] = body.dedup_id
    if body.reject:
        found["reject"] = True
    if body.delay_ms:
        found["delay"] = body.delay_ms / 1000
    if body.debounce_ms is not None:
        found["debounce"] = body.debounce_ms / 1000
    return found


def _asked_for(body: StartRun) -> str | dict[str, Any]:
    """Returns what to start, from `definition` or `tag`; refuses a mix of both."""
    given = body.definition if body.tag is None else body.tag
    both = body.tag is not None and (body.definition is not None or body.input is not None)
    if given is None or both or (body.tag is None and body.inputs is not None):
        raise InvalidInput(
            "http.bad_body",
            "what to start is not clear",
            why="a start has `definition` and `input`, or `tag` and `inputs`",
            fix='send {"definition": "orders@main", "input": {…}} or {"tag": "orders@main", "inputs": {…}}',
        )
    return given


def definition_of(site: Site, dialect: str | None, given: str | dict[str, Any]) -> Any:
    """Returns a name, a reference to a name in the given dialect, or a definition that its dialect has read."""
    if dialect is None and isinstance(given, str):
        return given
    dialect, known = dialect or site.engine.default_dialect, site.bundles
    if dialect not in known:
        raise UnknownDialect(dialect, known)
    return Reference(dialect, given, given) if isinstance(given, str) else known[dialect].read(given)


async def list_runs(call: Call[ListRuns, None]) -> Answer | Stream:
    limit = call.query.limit
    if call.wants_stream:
        return Stream(_live(call.host.engine.follow_runs(_filter(call, limit))))
    rows = await call.host.engine.runs(_filter(call, limit + 1))
    page = rows[:limit]
    more = cursor_of(page[-1].created_at, page[-1].id) if len(rows) > limit else None
    return Answer(RunPage(runs=[run_of(row) for row in page], next=more))


async def show(call: Call[ShowRun, None]) -> Answer:
    handle = await call.host.engine.get(call.params["id"], call.namespace)
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


def run_of(row: RunRow) -> Run:
    past = row.past or NO_PAST
    return Run(
        id=caller_id(row.id),
        namespace=row.namespace,
        dialect=row.dialect,
        definition=row.definition,
        version=row.version,
        status=row.status,
        blocked=row.blocked,
        labels=row.labels,
        parent=None if row.parent is None else caller_id(row.parent),
        parent_node=row.parent_token,
        created_at=row.created_at,
        ended_at=row.ended_at,
        deadline=row.deadline,
        error=row.error,
        phase=row.phase,
        waiting=row.waiting if row.phase == "waiting" else None,
        cause=cause_of(row.error) if row.status == "failed" and row.error is not None else None,
        forked_from=None if past.source is None else caller_id(past.source),
        forked_at=past.shared or None,
        reopened=past.reopened,
        idle_ms=past.idle,
        partial=past.partial,
        agents=past.agents,
        erased_at=row.erased_at,
    )


async def _live(following: AsyncIterator[Changes]) -> AsyncIterator[bytes]:
    async with aclosing(cast("AsyncGenerator[Changes]", following)) as changes:
        async for change in changes:
            yield _frame(change)


@lru_cache(128)
def _frame(change: Changes) -> bytes:
    """Encodes a change once: all watchers of a filter get the same object."""
    gone = None if change.snapshot else [caller_id(id) for id in change.gone]
    shape = RunChanges(runs=[run_of(row) for row in change.runs], gone=gone)
    return frame(shape, event="snapshot" if change.snapshot else "changes")


def _filter(call: Call[ListRuns, None], limit: int) -> RunFilter:
    query = call.query
    return RunFilter(
        namespace=call.namespace,
        status=None if query.status is None else _statuses(query.status),
        dialect=query.dialect,
        definition=query.definition,
        parent=None if query.parent is None else run_key(call.namespace, query.parent),
        labels=dict(map(label_pair, query.label)) or None,
        text=query.q,
        since=None if query.since is None else Millis(query.since),
        until=None if query.until is None else Millis(query.until),
        after=None if query.cursor is None else _after(query.cursor),
        stalled=call.query.stalled,
        limit=limit,
    )


def _statuses(text: str) -> list[ShownStatus]:
    return msgspec.convert(text.split(","), list[ShownStatus])


def _after(cursor: str) -> tuple[Millis, RunId]:
    at, id = place_of(cursor)
    return at, RunId(id)


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
            Reply(201, RunRef, "The run is started and durable."),
            Reply(200, RunRef, "A run with this id, definition and input already exists."),
        ),
        faults=(
            Fault(404, "CODE_NOT_LOADED", "No definition of that name is loaded."),
            Fault(409, "kernel.run_exists", "The id belongs to a run with another definition or input."),
            Fault(410, "codec.erased", "The subject was erased."),
            Fault(422, "auth.label_is_reserved", "The server itself sets the label `api_key`."),
            Fault(429, "auth.start_rate", "The key may start no more runs now, or has too many under way."),
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
        replies=(Reply(200, RunPage, "A page of runs."),),
        faults=(Fault(422, "http.bad_cursor", "Invalid cursor."),),
        streams=RunChanges,
    ),
    Route(
        method="GET",
        path="/runs/{id}",
        name="runs.show",
        role="viewer",
        summary="Show a run, now or at an earlier event",
        handler=show,
        query=ShowRun,
        replies=(Reply(200, RunDetail, "The run."),),
        faults=(Fault(422, "kernel.bad_moment", "There is no event with that number."),),
        noun=RUN,
    ),
)
