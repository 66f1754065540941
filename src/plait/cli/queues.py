"""`plait queues`: limits of queues, what waits on them, and who holds their slots."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from plait.kernel.admission import QueueSettings, duration
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import caller_id
from plait.kernel.queued import SeenWorker
from plait.kernel.run_queues import QueueState, SlotHolder

from . import words
from .connect import connect
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, group
from .output import document, emit, facts, say, table
from .session import do

queues = group()

_RATE = re.compile(r"(\d{1,9})(?:/(\d{0,6})(ms|s|m|h|d))?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}

Name = Annotated[
    str, typer.Argument(metavar="QUEUE", help="Its name; '*': all queues of the namespace.", show_default=False)
]
Concurrency = Annotated[
    int | None, typer.Option(metavar="N", help="How many at once, over all processes.", show_default="no limit")
]
PerWorker = Annotated[
    int | None, typer.Option(metavar="N", help="How many tasks one worker has at once.", show_default="no limit")
]
Rate = Annotated[
    str | None,
    typer.Option(metavar="N/TIME", help="How many may start: 50/s, 100/5m.", show_default="no limit"),
]
Partitioned = Annotated[bool, typer.Option("--partitioned", help="The limits apply per key.")]
MaxWaiting = Annotated[
    int | None, typer.Option(metavar="N", help="Refuse runs beyond this number.", show_default="no limit")
]


@queues.callback(invoke_without_command=True)
def default(
    ctx: typer.Context, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Queues: what waits, who holds the slots, and limits. Without a command: list."""
    if ctx.invoked_subcommand is None:
        _list(Where(db, key, namespace), json=json)


@queues.command("list")
def list_(namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False) -> None:
    """List queues with limits, waiting or running work."""
    _list(Where(db, key, namespace), json=json)


@queues.command()
def show(name: Name, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False) -> None:
    """Show one, its workers, and who holds its slots."""
    state, holders, workers = do(_get(Where(db, key, namespace), name))
    if json:
        seen = [document(worker=each.worker, seen_at=each.seen_at) for each in workers]
        emit({**_document(state), "slots": [_holder(holder) for holder in holders], "workers": seen})
        return
    now = words.now()
    asked = ", ".join(f"{each.worker} ({words.ago(each.seen_at, now)})" for each in workers)
    limits, waiting = _limits(state.settings), _waiting(state)
    facts([("queue", state.name), ("limits", limits), ("waiting", waiting), ("workers", asked or "none seen lately")])
    if not holders:
        say("no slot is held")
        return
    rows = [
        (caller_id(each.run_id), each.label, each.worker or "", each.partition, words.ago(each.since, now))
        for each in holders
    ]
    table(("RUN", "WHAT", "WORKER", "KEY", "SINCE"), rows, fold=("RUN",), cut=("WHAT",))


@queues.command("set")
def set_(
    name: Name,
    concurrency: Concurrency = None,
    per_worker: PerWorker = None,
    rate: Rate = None,
    partitioned: Partitioned = False,
    max_waiting: MaxWaiting = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Replace the limits of a queue. Without options, it has none.

    They hold in every process, for whatever starts from now on. Runs and tasks are counted separately. With
    --partitioned, a run needs a key, --partition, and the limits apply per key.
    """
    count, period = _rate(rate)
    limits = {
        "concurrency": concurrency,
        "per_worker": per_worker,
        "rate": count,
        "period": period,
        "partitioned": partitioned,
        "max_waiting": max_waiting,
    }
    _say(do(_change(Where(db, key, namespace), "set", name, limits)), json=json)


@queues.command()
def pause(name: Name, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False) -> None:
    """Pause a queue: nothing new starts; what has started continues."""
    _say(do(_change(Where(db, key, namespace), "pause", name, {})), json=json)


@queues.command()
def resume(
    name: Name, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Resume a queue: waiting work starts."""
    _say(do(_change(Where(db, key, namespace), "resume", name, {})), json=json)


def _list(where: Where, *, json: bool) -> None:
    found = do(_all(where))
    if json:
        emit([_document(state) for state in found])
    elif found:
        rows = [
            (state.name, _limits(state.settings), _waiting(state), f"{state.running_runs + state.running_tasks}")
            for state in found
        ]
        table(("QUEUE", "LIMITS", "WAITING", "RUNNING"), rows, fold=("QUEUE",), cut=("LIMITS",))
    else:
        say("no queues")


def _say(state: QueueState, *, json: bool) -> None:
    if json:
        emit(_document(state))
    else:
        say(f"{state.name}: {_limits(state.settings)}")


async def _all(where: Where) -> list[QueueState]:
    async with connect(where) as session:
        return await session.engine.queues.list(namespace=session.namespace)


async def _get(where: Where, name: str) -> tuple[QueueState, list[SlotHolder], list[SeenWorker]]:
    async with connect(where) as session:
        queues, namespace = session.engine.queues, session.namespace
        state, holders = await queues.show(name, namespace=namespace), await queues.holders(name, namespace=namespace)
        return state, holders, await queues.workers(name, namespace=namespace)


async def _change(where: Where, action: str, name: str, limits: dict[str, Any]) -> QueueState:
    async with connect(where) as session:
        queues, namespace = session.engine.queues, session.namespace
        change = {"set": queues.set, "pause": queues.pause, "resume": queues.resume}[action]
        await change(name, namespace=namespace, **limits)
        return await queues.show(name, namespace=namespace)


def _rate(text: str | None) -> tuple[int | None, float]:
    if text is None:
        return None, 1.0
    found = _RATE.fullmatch(text.strip())
    if found is None:
        raise InvalidInput("cli.bad_rate", f"--rate {text!r} is no rate", fix="write 50/s, 100/5m or 1000/d")
    return int(found[1]), float(found[2] or 1) * _UNITS[found[3] or "s"]


def _limits(settings: QueueSettings | None) -> str:
    if settings is None:
        return "none"
    parts = [
        "paused" if settings.paused else "",
        f"{settings.concurrency} at once" if settings.concurrency is not None else "",
        f"{settings.per_worker} a worker" if settings.per_worker is not None else "",
        f"{settings.rate} in {duration(settings.period)}" if settings.rate is not None else "",
        f"at most {settings.max_waiting} waiting" if settings.max_waiting is not None else "",
        "for each key" if settings.partitioned else "",
    ]
    return ", ".join(part for part in parts if part) or "none"


def _waiting(state: QueueState) -> str:
    found = [
        (state.waiting_runs, "run"),
        (state.waiting_tasks, "task"),
        (state.delayed_runs, "delayed run"),
    ]
    return ", ".join(words.counted(count, what) for count, what in found if count) or "nothing"


def _document(state: QueueState) -> dict[str, Any]:
    settings = state.settings or QueueSettings()
    return document(
        name=state.name,
        namespace=state.namespace,
        concurrency=settings.concurrency,
        per_worker=settings.per_worker,
        rate=settings.rate,
        period_ms=settings.period,
        partitioned=settings.partitioned,
        max_waiting=settings.max_waiting,
        paused=settings.paused,
        waiting_runs=state.waiting_runs,
        delayed_runs=state.delayed_runs,
        running_runs=state.running_runs,
        waiting_tasks=state.waiting_tasks,
        running_tasks=state.running_tasks,
    )


def _holder(holder: SlotHolder) -> dict[str, Any]:
    return document(
        kind=holder.kind,
        run=caller_id(holder.run_id),
        label=holder.label,
        since=holder.since,
        partition=holder.partition,
        worker=holder.worker,
    )
