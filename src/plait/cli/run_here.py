"""`plait run` on a database: this process is the engine."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from plait.definitions.nearest import DID_YOU_MEAN
from plait.engine import Handle
from plait.kernel.errors import Conflict, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, RunId, caller_id, run_key
from plait.kernel.store import RunRow
from plait.registry.engine import Engine

from .extensions import extension_of
from .output import note
from .records import name_of
from .run_request import Outcome, RunRequest, watched
from .session import working
from .target import Target

_NOT_LOADED = "CODE_NOT_LOADED"
"""The code of the error for a name that is neither loaded as code nor saved."""
_PARKED = {"message", "sleep", "approval", "child", "blocked"}
"""Reasons for which a run is parked on disk, where it has not replayed on the new code."""


async def run_here(request: RunRequest, target: Target) -> Outcome:
    async with working(request.where.url, target.definitions) as engine:
        known = await _known(engine, request)
        handle = await _start(engine, request, target, known)
        request.id, key = handle.id, run_key(handle.namespace, handle.id)
        if not request.json:
            note(f"run {handle.id} of {target.label} in {request.where.url}", "bright_black")
            if not engine.kernel.owns(key):
                note("another engine works on this database: the run continues there, with the code it has loaded")
        if known is not None and extension_of(known.dialect).replays:
            await _take_up(engine, handle, key)
        return await watched(request, handle, target.label)


async def _known(engine: Engine, request: RunRequest) -> RunRow | None:
    if request.id is None:
        return None
    return await engine.kernel.store.run(run_key(_namespace(request), request.id))


def _namespace(request: RunRequest) -> str:
    return request.where.namespace or DEFAULT_NAMESPACE


async def _start(engine: Engine, request: RunRequest, target: Target, known: RunRow | None) -> Handle[Any]:
    """Starts a run. A known run needs no input again; `engine.start` refuses an id with another definition or input."""
    if known is not None and not request.inputs and name_of(known) == target.label:
        return await engine.get(caller_id(known.id), known.namespace)
    try:
        return await engine.start(
            target.definition,
            request.given,
            id=request.id,
            namespace=_namespace(request),
            deadline=request.deadline,
            labels=request.labels,
            subject=request.subject,
            **request.queueing,
        )
    except NotFound as error:
        named = target.definition == request.target and not target.local
        if not named or error.code != _NOT_LOADED or error.fix.startswith(DID_YOU_MEAN):
            raise
        fix = "name the code that has it: plait run MODULE:FUNCTION"
        raise NotFound(error.code, error.what, why=error.why, fix=fix) from None


async def _take_up(engine: Engine, handle: Handle[Any], run: RunId) -> None:
    """Continues an existing run: first delivers inputs from the time without an engine, which may end or reopen it.
    Then replays it on the current code, which may fit better or worse than the code it started on."""
    store, shard = engine.kernel.store, await engine.kernel.shard_of(run)
    while engine.kernel.owns(run) and any(  # noqa: ASYNC110 -- the store gives nothing to wait for
        row.run_id == run for row in await store.inbox([shard], 1000)
    ):
        await asyncio.sleep(0.01)
    reasons = {reason.kind for reason in await handle.waiting()}
    if reasons and reasons <= _PARKED and engine.kernel.owns(run):
        with suppress(Conflict):  # nothing is wrong with it; a run that is not parked has replayed already
            await handle.retry()
