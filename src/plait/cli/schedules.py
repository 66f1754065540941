"""`plait schedules`: runs that are started repeatedly."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar, get_args

import typer

from plait.api.schedule import (
    BackfillOverlap,
    BackfillStarted,
    Fire,
    Overlap,
    Schedule,
    ScheduleSettings,
    Triggered,
)
from plait.kernel.errors import InvalidInput, PlaitError
from plait.schedules.settings import settings_of
from plait.schedules.timing import timing_of

from . import words
from .audited import note_change
from .connect import connect
from .contract import Session
from .database import DatabaseSession
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, group, read_inputs, read_json, read_pairs
from .output import document, emit, note, say
from .schedule_lines import list_lines, show_lines, time_lines, timing
from .session import do, is_server
from .spans import read_moment, read_span
from .target import Target, load_target, read_target

schedules = group()

T = TypeVar("T")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The schedule.", show_default=False)]
Cron = Annotated[
    str | None,
    typer.Option(metavar="FIELDS", help="Minute, hour, day, month, weekday: '30 9 * * MON-FRI'.", show_default=False),
]
Every = Annotated[str | None, typer.Option(metavar="SPAN", help="An interval: 15m, 2h, 1d, 30s.", show_default=False)]
Zone = Annotated[str, typer.Option("--tz", metavar="ZONE", help="The time zone of --cron: Europe/Berlin.")]
OverlapOption = Annotated[
    str, typer.Option(metavar="RULE", help="If a run has not ended: skip, queue, allow or cancel_previous.")
]

_NOT_HERE = "CODE_NOT_LOADED"
_PAGE = 500
_LAST = 10


@schedules.callback(invoke_without_command=True)
def default(
    ctx: typer.Context, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Schedules: start runs repeatedly. Without a command: list."""
    if ctx.invoked_subcommand is None:
        _list(Where(db, key, namespace), json=json)


@schedules.command("list")
def list_(namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False) -> None:
    """List them by name, with their next times and last outcomes."""
    _list(Where(db, key, namespace), json=json)


@schedules.command("set")
def set_(
    name: NameArgument,
    target: Annotated[
        str,
        typer.Argument(
            metavar="NAME[@VERSION]|MODULE:FUNCTION|DIALECT:DEFINITION|FILE",
            help="What it starts; as `plait run`.",
            show_default=False,
        ),
    ],
    cron: Cron = None,
    every: Every = None,
    tz: Zone = "UTC",
    input: Annotated[
        list[str] | None,
        typer.Option(metavar="JSON|@FILE|K=V", help="The input of each run.", show_default="none"),
    ] = None,
    overlap: OverlapOption = "skip",
    catchup: Annotated[str, typer.Option(metavar="SPAN", help="How late a missed time still starts a run.")] = "60s",
    label: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A label; repeatable.")] = None,
    deadline: Annotated[
        str | None, typer.Option(metavar="SPAN", help="A run fails if it takes longer.", show_default="none")
    ] = None,
    queue: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its runs wait there for a slot.", show_default="none")
    ] = None,
    priority: Annotated[int, typer.Option(help="On the queue: lower starts first.")] = 0,
    partition: Annotated[
        str | None, typer.Option(metavar="KEY", help="The key on partitioned queues.", show_default="none")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Refuse if the name exists.")] = False,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Refuse a definition or an input that can't be started.")
    ] = True,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Save a schedule, replacing any of that name; prints its next ten times.

    Code is named by module and function, and engines that have it loaded start it. What is left out has its default.
    """
    found = load_target(target) if (read := read_target(target)).local else read
    settings = settings_of(
        found.definition,
        _input(input or [], found),
        cron=cron,
        every=None if every is None else read_span(every, "--every") / 1000,
        tz=tz,
        overlap=_rule(overlap, Overlap),
        catchup=read_span(catchup, "--catchup") / 1000,
        labels=read_pairs(label or [], "--label"),
        deadline=None if deadline is None else read_span(deadline, "--deadline") / 1000,
        queue=queue,
        priority=priority,
        partition=partition,
    )
    where = Where(db, key, namespace)
    saved, unchecked = do(_save(where, name, settings, found, new=new, check=check))
    if unchecked:
        note(f"not checked: {target} is not loaded here; engines that have it start it", "yellow")
    if json:
        emit(saved)
    else:
        say(f"schedule {saved.name} starts {found.label} {_when(saved)}")
        time_lines(saved.next, saved.tz)


@schedules.command()
def show(
    name: NameArgument, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Show one: its settings, next times and last outcomes."""
    found, fires = do(_show(Where(db, key, namespace), name))
    if json:
        emit({"schedule": found, "fires": fires})
    else:
        show_lines(found, fires)


@schedules.command()
def preview(
    cron: Annotated[str | None, typer.Argument(metavar="[CRON]", help="Five fields.", show_default=False)] = None,
    every: Every = None,
    tz: Zone = "UTC",
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 10,
    json: Json = False,
) -> None:
    """Print the next times of a cron expression or an interval; saves nothing, and needs no database."""
    found = timing_of(cron, None if every is None else read_span(every, "--every"), tz).times(words.now(), count)
    if json:
        emit(found)
    else:
        time_lines(found, tz)


@schedules.command()
def pause(
    name: NameArgument, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Pause it: times in between are not made up for."""
    where = Where(db, key, namespace)
    found = do(_changed(where, "pause", name, lambda s: s.engine.schedules.pause(name, s.namespace)))
    _told(found, f"schedule {name} is paused", json=json)


@schedules.command()
def resume(
    name: NameArgument, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Resume it, from now on."""
    where = Where(db, key, namespace)
    found = do(_changed(where, "resume", name, lambda s: s.engine.schedules.resume(name, s.namespace)))
    _told(found, f"schedule {name} goes on: {words.clock(found.next[0])}", json=json)


@schedules.command()
def trigger(
    name: NameArgument,
    overlap: Annotated[
        str | None, typer.Option(metavar="RULE", help="Instead of its own rule.", show_default="the schedule's")
    ] = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Start a run now, also while it is paused."""
    rule = None if overlap is None else _rule(overlap, Overlap)
    where = Where(db, key, namespace)

    def ask(session: Session) -> Awaitable[Triggered]:
        return session.engine.schedules.trigger(name, session.namespace, overlap=rule)

    found = do(_changed(where, "trigger", name, ask))
    waits = "starts when the run before has ended" if found.outcome == "waiting" else "is being started"
    _told(found, f"run {found.run_id} {waits}", json=json)


@schedules.command()
def backfill(
    name: NameArgument,
    since: Annotated[str, typer.Option(metavar="TIME", help="The first time: 2026-11-01, or with …T05:00Z.")],
    until: Annotated[str, typer.Option(metavar="TIME", help="The last, included.")],
    overlap: Annotated[
        str, typer.Option(metavar="RULE", help="queue: one run after the other; allow: in parallel.")
    ] = "queue",
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Start runs for past times. Times that have a run don't get another."""
    first, last = read_moment(since, "--since"), read_moment(until, "--until")
    rule = _rule(overlap, BackfillOverlap)
    where = Where(db, key, namespace)

    def ask(session: Session) -> Awaitable[BackfillStarted]:
        return session.engine.schedules.backfill(name, first, last, session.namespace, overlap=rule)

    found = do(_changed(where, "backfill", name, ask))
    span = f"from {words.clock(found.first)} to {words.clock(found.last)}"
    _told(found, f"{words.counted(found.count, 'time')} {span}", json=json)


@schedules.command()
def delete(
    name: NameArgument, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Delete it; its runs continue."""
    where = Where(db, key, namespace)
    do(_changed(where, "delete", name, lambda s: s.engine.schedules.delete(name, s.namespace)))
    _told(document(name=name), f"schedule {name} is deleted", json=json)


def _list(where: Where, *, json: bool) -> None:
    found = do(_all(where))
    if json:
        emit(found)
    elif found:
        list_lines(found)
    else:
        say("no schedules")


def _told(found: object, text: str, *, json: bool) -> None:
    if json:
        emit(found)
    else:
        say(text)


def _when(schedule: Schedule) -> str:
    return f"{timing(schedule)}{', once it is resumed' if schedule.paused else ''}"


def _input(given: list[str], target: Target) -> Any:
    if target.named_inputs:
        return read_inputs(given)
    if len(given) > 1:
        raise InvalidInput("cli.two_inputs", "the input is given twice", fix="leave one of them out")
    return read_json(given[0], "the input") if given else None


def _rule(text: str, rules: Any) -> Any:
    """Parses one of the values of a `Literal`."""
    known = get_args(rules)
    if text not in known:
        raise InvalidInput("cli.bad_rule", f"--overlap {text!r} is not one of its rules", fix=f"use {', '.join(known)}")
    return text


async def _all(where: Where) -> list[Schedule]:
    async with connect(where) as session:
        found: list[Schedule] = []
        while page := await session.engine.schedules.list(
            session.namespace, after=found[-1].name if found else None, limit=_PAGE
        ):
            found += page
        return found


async def _show(where: Where, name: str) -> tuple[Schedule, list[Fire]]:
    async with connect(where) as session:
        found = await session.engine.schedules.get(name, session.namespace)
        return found, await session.engine.schedules.fires(name, session.namespace, limit=_LAST)


async def _save(
    where: Where, name: str, settings: ScheduleSettings, target: Target, *, new: bool, check: bool
) -> tuple[Schedule, bool]:
    """Saves a schedule; also returns whether it was saved although it could not be checked here."""
    definitions = () if is_server(where.url) else target.definitions
    async with connect(where, definitions, create=target.local or target.in_file) as session:
        kept, namespace = session.engine.schedules, session.namespace
        unchecked = False
        try:
            saved = await kept.save(name, settings, namespace, new=new, check=check)
        except PlaitError as error:
            if error.code != _NOT_HERE or not isinstance(session, DatabaseSession):
                raise
            saved, unchecked = await kept.save(name, settings, namespace, new=new, check=False), True
        await _note(session, "save", name)
        return saved, unchecked


async def _changed(where: Where, verb: str, name: str, change: Callable[[Session], Awaitable[T]]) -> T:
    async with connect(where) as session:
        found = await change(session)
        await _note(session, verb, name)
        return found


async def _note(session: Session, verb: str, name: str) -> None:
    """Records the change in the audit log of a database; a server does that itself."""
    if isinstance(session, DatabaseSession):
        await note_change(session.engine, f"schedules.{verb}", name, session.namespace)
