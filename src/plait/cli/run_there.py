"""`plait run` on a server, which has the code and does the work."""

from __future__ import annotations

from plait.client import Client, RemoteRun
from plait.kernel.errors import InvalidInput, NotFound
from plait.kernel.ids import caller_id
from plait.kernel.store import RunRow

from .output import note
from .records import name_of
from .run_request import Outcome, RunRequest, watched
from .server import ServerSession, served
from .target import Target

_PAUSE = 0.5
"""Seconds between polls, each of which is a request."""


async def run_there(request: RunRequest, target: Target) -> Outcome:
    if target.local:
        raise _not_a_name(request.target)
    async with served(request.where) as session:
        run = await _start(session, request, target)
        request.id = run.id
        if not request.json:
            note(f"run {run.id} of {target.label} on {session.engine.url}", "bright_black")
        return await watched(request, run, target.label, _PAUSE)


def _not_a_name(target: str) -> InvalidInput:
    return InvalidInput(
        "cli.bad_target",
        f"{target!r} names code on this machine",
        why="a server runs the workflows that it has loaded",
        fix=f"give the name of one, for example `{target.rpartition(':')[2]}`; `plait definitions` lists them",
    )


async def _start(session: ServerSession, request: RunRequest, target: Target) -> RemoteRun:
    client, namespace = session.engine, session.namespace
    known = await _known(client, request.id, namespace)
    if known is not None and not request.inputs and target.label in (known.definition, name_of(known)):
        return await client.get(caller_id(known.id), namespace)
    return await client.start(
        target.definition,
        request.given,
        id=request.id,
        namespace=namespace,
        deadline=request.deadline,
        labels=request.labels,
        subject=request.subject,
        **request.queueing,
    )


async def _known(client: Client, id: str | None, namespace: str) -> RunRow | None:
    if id is None:
        return None
    try:
        return await (await client.get(id, namespace)).row()
    except NotFound:
        return None
