"""`plait doctor`: the state of a database and its engines, or of a server; the problems, and what to do."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from plait import __version__
from plait.engine.deep_check import DeepCheck
from plait.engine.run_check import check_run, repair_run
from plait.kernel.census import Owner
from plait.kernel.errors import PlaitError
from plait.kernel.ids import DEFAULT_NAMESPACE, SHARDS, Millis, Shard
from plait.kernel.store import RunFilter, RunRow
from plait.registry.engine import Engine

from . import exits, words
from .findings import MANY, Report, examine_letters, examine_pool, examine_runs
from .leases import alive, owners
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where
from .output import emit, facts, say
from .session import do, is_server, looking, refuse_server, sqlite_file
from .versions import parts

LOW_SPACE = 200_000_000
"""Free bytes below which a disk counts as nearly full."""
MOST = 100
"""Maximum number of findings of --deep to print."""
LATE = 60_000
"""Milliseconds that a timer or an input may wait before that counts as a problem."""
_OLDEST_SANE = 1_735_689_600_000  # 2025-01-01: before Plait


Deep = Annotated[bool, typer.Option("--deep", help="Read every run and its whole log as well; takes long.")]


OneRun = Annotated[
    str | None, typer.Option("--run", metavar="ID", help="Check why this run does not move.", show_default=False)
]
Repair = Annotated[bool, typer.Option("--repair", help="With --run: put lost tasks back on their queues.")]


def doctor(
    db: Place = DEFAULT_DB,
    key: Key = None,
    deep: Deep = False,
    run: OneRun = None,
    repair: Repair = False,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """Check the database and its engines, a server, or one run. Exit code 1 if there are problems."""
    report = Report(facts={"plait": __version__, **parts()})
    where = Where(db, key, namespace)
    try:
        do(_examine(where, report, deep=deep) if run is None else _examine_run(where, run, report, repair=repair))
    except PlaitError as error:
        report.problems.insert(0, error)
    if json:
        problems = [{"code": p.code, "title": p.what, "detail": p.why, "fix": p.fix} for p in report.problems]
        emit({"well": not problems, "facts": report.facts, "problems": problems})
    else:
        facts(report.facts.items())
        say()
        for problem in report.problems:
            say(Text.assemble(("✗ ", "red"), str(problem)))
        if not report.problems:
            say(Text.assemble(("✓ ", "green"), "no problems found"))
    raise typer.Exit(exits.FAILED if report.problems else exits.OK)


async def _examine(where: Where, report: Report, *, deep: bool) -> None:
    _clock(report)
    await _redis(os.environ.get("PLAIT_REDIS"), report)
    if is_server(where.url):
        if deep:
            report.wrong(
                "doctor.no_deep",
                "a server can't be examined with --deep",
                fix="name its database: plait doctor --deep --db …",
            )
        from .server_doctor import examine_server  # HTTP code is imported only where it is needed

        await examine_server(where, report)
    else:
        if deep:
            await _examine_deeply(where.url, report)
        await _examine_database(where.url, report)


async def _examine_run(where: Where, id: str, report: Report, *, repair: bool) -> None:
    refuse_server(where.url)
    async with looking(where.url) as engine:
        kernel, namespace = engine.kernel, where.namespace or DEFAULT_NAMESPACE
        row = await (await engine.get(id, namespace)).row()
        check = await check_run(kernel, row)
        if repair:
            report.facts["requeued"] = words.counted(await repair_run(kernel, row, check), "task")
            await _repair_mirror(engine, row, os.environ.get("PLAIT_REDIS"), report)
            check = await check_run(kernel, row)
    report.facts |= check.facts
    report.problems += check.problems


async def _repair_mirror(engine: Engine, row: RunRow, redis: str | None, report: Report) -> None:
    """Rebuilds what observers see on Redis. For an encrypted database, there is nothing."""
    if redis and not engine.encryption.on:
        from plait.engine.mirror_repair import rebuild_mirror  # Redis is an extra

        report.facts["mirror"] = f"{words.counted(await rebuild_mirror(engine.kernel, row, redis), 'key')} rebuilt"


async def _examine_deeply(db: str, report: Report) -> None:
    """Runs first, because its findings explain whatever else can't be read."""
    async with looking(db) as engine:
        check, others = DeepCheck(engine.kernel.store), 0
        async for problem in check.findings():
            if len(report.problems) < MOST:
                report.problems.append(problem)
            else:
                others += 1
    report.facts["examined"] = f"{words.counted(check.runs, 'run')}, {words.counted(check.events, 'event')}"
    if others:
        report.wrong("doctor.more", f"{words.counted(others, 'more finding')} of the same kind")


async def _examine_database(db: str, report: Report) -> None:
    _disk(db, report)
    async with looking(db) as engine:
        _permissions(db, report)  # the permissions of another program's file are not our concern
        report.facts |= await engine.kernel.store.facts()
        report.facts["encryption"] = await engine.encryption.describe()
        now = words.now()
        held = await owners(db)
        _owners(held, now, report)
        live = await engine.runs(RunFilter(status="running", limit=MANY))
        examine_runs(live, now, report)
        pooled = await _pools(engine, report)
        await _left_lying(engine, pooled, live, any(alive(owner, now) for owner in held), now, report)
        examine_letters(await engine.kernel.store.dead_letters(None, status="pending", limit=MANY), report)


def _clock(report: Report) -> None:
    if words.now() < _OLDEST_SANE:
        report.wrong(
            "doctor.clock",
            f"this machine's clock says {words.clock(words.now())}",
            why="timers would fire far too late",
            fix="set the clock, or let a time service do it",
        )


async def _redis(url: str | None, report: Report) -> None:
    if not url:
        return
    from plait.workers.redis.link import Link  # it is an extra
    from plait.workers.redis.settings import settings_of

    try:
        settings = settings_of(url)
        link = Link(settings)
        report.facts["redis"] = f"no answer from {settings.shown}"
        report.facts["redis"] = f"{await link.ping()} at {settings.shown}"
        await link.close()
    except PlaitError as error:
        report.problems.append(error)


def _disk(db: str, report: Report) -> None:
    path = sqlite_file(db)
    if path is None or not path.absolute().parent.is_dir():
        return
    free = shutil.disk_usage(path.absolute().parent).free
    report.facts["disk"] = f"{words.size(free)} free"
    wal = Path(f"{path}-wal")
    if wal.exists():
        report.facts["journal"] = words.size(wal.stat().st_size)
    if free < LOW_SPACE:
        report.wrong(
            "doctor.disk",
            f"only {words.size(free)} are left on the disk of {path}",
            why="when it is full, nothing more can be recorded, and runs stop",
            fix="free some space; nothing that was recorded is lost",
        )


def _permissions(db: str, report: Report) -> None:
    path = sqlite_file(db)
    if os.name == "nt" or path is None or not path.is_file():
        return
    mode = path.stat().st_mode
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        report.wrong(
            "doctor.permissions",
            f"every user of this machine can read {path}",
            why=f"its permissions are {stat.filemode(mode)}; inputs and results of runs are in it",
            fix=f"chmod 600 {path}*",
        )


def _owners(held: list[Owner], now: Millis, report: Report) -> None:
    living = [owner for owner in held if alive(owner, now)]
    owned = sum(owner.shards for owner in living)
    names = ", ".join(f"{owner.name} ({owner.shards})" for owner in living)
    report.facts["engines"] = f"{words.counted(len(living), 'engine')}: {names}" if living else "none at work"
    report.facts["shards"] = f"{owned} of {SHARDS} owned"
    gone = [owner for owner in held if owner not in living]
    if gone:
        report.facts["left behind"] = f"shards of {', '.join(owner.name for owner in gone)}, free to be taken"
    if living and owned < SHARDS:
        report.wrong(
            "doctor.shards",
            f"{SHARDS - owned} of {SHARDS} shards have no owner",
            why="runs in them don't move; right after an engine came or went this is normal",
            fix="check again in ten seconds, then read the logs of the engines",
        )


async def _pools(engine: Engine, report: Report) -> list[Shard]:
    """Reports runs whose code not every engine has; returns their shards."""
    fleet = engine.kernel.store.fleet
    pools = [] if fleet is None else await fleet.pools()
    for pool in pools:
        examine_pool(pool.code, pool.runs, pool.engines, report)
    if draining := await engine.drains.list():
        report.facts["draining"] = ", ".join(draining)
    return [shard for pool in pools for shard in pool.shards]


def _without_engine(inputs: int, timers: int, under_way: int, report: Report) -> None:
    kinds = (
        (inputs, "input", "inputs"),
        (timers, "due timer", "due timers"),
        (under_way, "run under way", "runs under way"),
    )
    found = [words.counted(*kind) for kind in kinds if kind[0]]
    if found:
        report.wrong(
            "doctor.no_engine",
            "no engine works on this database, but there is work",
            why=f"waiting for one: {', '.join(found)}",
            fix="start your program, or `plait serve`",
        )


async def _left_lying(
    engine: Engine, pooled: list[Shard], live: list[RunRow], working: bool, now: Millis, report: Report
) -> None:
    """Reports inputs that no engine takes, timers that no engine fires, and runs that no engine continues."""
    shards = [*map(Shard, range(SHARDS)), *pooled]
    store = engine.kernel.store
    inbox, due = await store.inbox(shards, MANY), await store.due(shards, now, MANY)
    report.facts["waiting"] = f"{words.counted(len(inbox), 'input')}, {words.counted(len(due), 'timer')} due"
    if inbox:
        report.facts["oldest waiting"] = words.duration(Millis(max(0, now - inbox[0].at)))
    if due:
        report.facts["timer lag"] = words.duration(Millis(max(0, now - due[0].due)))
    if not working:
        _without_engine(len(inbox), len(due), sum(row.phase == "running" for row in live), report)
    late = [row.at for row in inbox if now - row.at > LATE] + [row.due for row in due if now - row.due > LATE]
    if working and late:
        report.wrong(
            "doctor.late",
            f"{words.counted(len(late), 'input or timer', 'inputs or timers')} late: {words.duration(now - min(late))}",
            why="the engine is overloaded, stuck, or does not own their shards",
            fix="look at its logs; a step that blocks the event loop is named there",
        )
