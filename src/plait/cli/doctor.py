"""`plait doctor`: the state of a database and of what works on it; what is wrong, and what to do."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import typer
from rich.text import Text

from plait import __version__
from plait.engine import Engine
from plait.kernel.errors import PlaitError
from plait.kernel.ids import SHARDS, Millis, Shard, caller_id
from plait.kernel.store import SUSPECT_AFTER, Owner, RunFilter, RunRow

from . import exits, words
from .leases import alive, owners
from .options import DEFAULT_DB, Db, Json
from .output import emit, facts, say
from .session import do, looking, sqlite_file
from .versions import parts

LOW_SPACE = 200_000_000
"""Bytes; below this a disk counts as nearly full."""
LATE = 60_000
"""ms that a timer or an input may wait before something is wrong."""
AHEAD = 60_000
"""ms that a stored time may lie in the future."""
_MANY = 10_000
_OLDEST_SANE = 1_735_689_600_000  # 2025-01-01: before Plait


@dataclass(slots=True)
class Report:
    facts: dict[str, str] = field(default_factory=dict[str, str])
    problems: list[PlaitError] = field(default_factory=list[PlaitError])

    def wrong(self, code: str, what: str, why: str = "", fix: str = "") -> None:
        self.problems.append(PlaitError(code, what, why=why, fix=fix))


def doctor(db: Db = DEFAULT_DB, json: Json = False) -> None:
    """Examine the database and what works on it. Exit code 1 if something is wrong."""
    report = Report(facts={"plait": __version__, **parts()})
    try:
        do(_examine(db, report))
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
            say(Text.assemble(("✓ ", "green"), "all is well"))
    raise typer.Exit(exits.FAILED if report.problems else exits.OK)


async def _examine(db: str, report: Report) -> None:
    _clock(report)
    _disk(db, report)
    async with looking(db) as engine:
        report.facts |= await engine.kernel.store.facts()
        now = words.now()
        held = await owners(db)
        _owners(held, now, report)
        live = await engine.runs(RunFilter(status="running", limit=_MANY))
        _runs(live, now, report)
        await _left_lying(engine, any(alive(owner, now) for owner in held), now, report)
        await _dead_letters(engine, report)


def _clock(report: Report) -> None:
    if words.now() < _OLDEST_SANE:
        report.wrong(
            "doctor.clock",
            f"this machine's clock says {words.clock(words.now())}",
            why="timers would fire far too late",
            fix="set the clock, or let a time service do it",
        )


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
            why="when it is full, nothing more can be recorded, and runs stand still",
            fix="free some space; nothing that was recorded is lost",
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
            f"{SHARDS - owned} of {SHARDS} shards belong to nobody",
            why="runs in them stand still; right after an engine came or went this is normal",
            fix="look again in ten seconds; then look at the logs of the engines",
        )


def _runs(live: list[RunRow], now: Millis, report: Report) -> None:
    many = "more than " if len(live) == _MANY else ""
    report.facts["live runs"] = f"{many}{len(live):,}"
    blocked = [row for row in live if row.blocked is not None]
    if blocked:
        report.wrong(
            "doctor.blocked",
            f"{words.counted(len(blocked), 'run is', 'runs are')} blocked: {_some(blocked)}",
            why="the code does not fit what they recorded, or is not loaded",
            fix=f"plait why {caller_id(blocked[0].id)}; plait check MODULE",
        )
    suspects = [row for row in live if row.recoveries >= SUSPECT_AFTER]
    if suspects:
        report.wrong(
            "doctor.suspect",
            f"{words.counted(len(suspects), 'run was', 'runs were')} under way when engines died: {_some(suspects)}",
            why="one of their steps may be what kills it",
            fix=f"plait show {caller_id(suspects[0].id)}; mend or cancel it",
        )
    full = [row for row in live if row.full]
    if full:
        report.wrong(
            "doctor.full",
            f"{words.counted(len(full), 'run takes', 'runs take')} no more messages: {_some(full)}",
            why="too many wait that it has not listened for",
            fix=f"plait why {caller_id(full[0].id)}",
        )
    ahead = max((row.created_at for row in live), default=now) - now
    if ahead > AHEAD:
        report.wrong(
            "doctor.clock",
            f"the newest run was made {words.duration(ahead)} in the future",
            why="this machine's clock was set back, or another's is ahead",
            fix="set the clocks; timers wait until they agree",
        )


async def _left_lying(engine: Engine, working: bool, now: Millis, report: Report) -> None:
    """Inputs that nobody takes, timers that nobody fires."""
    shards = [Shard(number) for number in range(SHARDS)]
    store = engine.kernel.store
    inbox, due = await store.inbox(shards, _MANY), await store.due(shards, now, _MANY)
    report.facts["waiting"] = f"{words.counted(len(inbox), 'input')}, {words.counted(len(due), 'timer')} due"
    if not working and (inbox or due):
        report.wrong(
            "doctor.no_engine",
            "no engine works on this database, but there is work",
            why=f"{words.counted(len(inbox), 'input')} and {words.counted(len(due), 'due timer')} wait for one",
            fix="start your program, or `plait run`",
        )
    late = [row.at for row in inbox if now - row.at > LATE] + [row.due for row in due if now - row.due > LATE]
    if working and late:
        report.wrong(
            "doctor.late",
            f"{words.counted(len(late), 'input or timer', 'inputs or timers')} late: {words.duration(now - min(late))}",
            why="the engine is overloaded, stuck, or does not own their shards",
            fix="look at its logs; a step that blocks the event loop is named there",
        )


async def _dead_letters(engine: Engine, report: Report) -> None:
    letters = [letter for letter in await engine.kernel.store.dead_letters(None) if letter.status == "pending"]
    report.facts["dead letters"] = str(len(letters))
    if letters:
        report.wrong(
            "doctor.dead_letters",
            f"{words.counted(len(letters), 'task')} used up all attempts",
            why=f"the last: {letters[-1].label} of run {caller_id(letters[-1].run_id)}: {letters[-1].error.message}",
            fix="plait dlq; then plait dlq retry ID, or plait dlq discard ID",
        )


def _some(rows: list[RunRow]) -> str:
    names = ", ".join(caller_id(row.id) for row in rows[:3])
    return names if len(rows) <= 3 else f"{names} …"
