"""`plait run` on a server: it has the code, and does the work."""

from __future__ import annotations

from plait.client import Client, RemoteRun
from plait.dialects.goals.definition import Goals
from plait.dialects.goals.running.children import definition_label
from plait.kernel.errors import InvalidInput, NotFound
from plait.kernel.ids import caller_id
from plait.kernel.store import RunRow

from .output import note
from .records import name_of
from .run_request import Order, Outcome, watched
from .server import ServerSession, served

_PAUSE = 0.5
"""Seconds between looks: each is a request."""


async def run_there(order: Order, goals: Goals | None) -> Outcome:
    if goals is None:
        _must_be_a_name(order.target)
    async with served(order.where) as session:
        label = definition_label(goals.goals) if goals is not None else order.target
        run = await _start(session, order, goals or order.target, label)
        order.id = run.id
        if not order.json:
            note(f"run {run.id} of {label} on {session.engine.url}", "bright_black")
        return await watched(order, run, label, _PAUSE)


def _must_be_a_name(target: str) -> None:
    if ":" in target:
        name = target.rpartition(":")[2]
        raise InvalidInput(
            "cli.bad_target",
            f"{target!r} names code on this machine",
            why="a server runs the workflows that it has loaded",
            fix=f"give the name of one, for one `{name}`; `plait definitions` lists them",
        )


async def _start(session: ServerSession, order: Order, definition: str | Goals, label: str) -> RemoteRun:
    client, namespace = session.engine, session.namespace
    known = await _known(client, order.id, namespace)
    if known is not None and not order.inputs and label in (known.definition, name_of(known)):
        return await client.get(caller_id(known.id), namespace)
    return await client.start(
        definition,
        order.given,
        id=order.id,
        namespace=namespace,
        deadline=order.deadline,
        labels=order.labels,
    )


async def _known(client: Client, id: str | None, namespace: str) -> RunRow | None:
    if id is None:
        return None
    try:
        return await (await client.get(id, namespace)).row()
    except NotFound:
        return None
