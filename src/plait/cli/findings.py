"""The findings of `plait doctor`: facts and problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from plait.kernel.errors import PlaitError
from plait.kernel.ids import Millis, caller_id
from plait.kernel.store import SUSPECT_AFTER, DeadLetter, RunRow

from . import words

MANY = 10_000
"""Maximum number of runs, approvals or dead letters to examine."""
AHEAD = 60_000
"""Milliseconds that a stored time may be in the future."""


@dataclass(slots=True)
class Report:
    facts: dict[str, str] = field(default_factory=dict[str, str])
    problems: list[PlaitError] = field(default_factory=list[PlaitError])

    def wrong(self, code: str, what: str, why: str = "", fix: str = "") -> None:
        self.problems.append(PlaitError(code, what, why=why, fix=fix))


def examine_runs(live: Sequence[RunRow], now: Millis, report: Report) -> None:
    report.facts["live runs"] = as_many(live)
    blocked = [row for row in live if row.blocked is not None]
    if blocked:
        report.wrong(
            "doctor.blocked",
            f"{words.counted(len(blocked), 'run is', 'runs are')} blocked: {_some(blocked)}",
            why="their code does not fit what they recorded or is not loaded, or they are damaged",
            fix=f"plait why {caller_id(blocked[0].id)}",
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


def as_many(found: Sequence[object]) -> str:
    """The number of them, of which no more than `MANY` were looked at."""
    return f"{'at least ' if len(found) == MANY else ''}{len(found):,}"


def examine_letters(letters: Sequence[DeadLetter], report: Report) -> None:
    report.facts["dead letters"] = as_many(letters)
    if letters:
        first, more = letters[0], "at least " if len(letters) == MANY else ""
        report.wrong(
            "doctor.dead_letters",
            f"{more}{words.counted(len(letters), 'task')} used up all attempts",
            why=f"the oldest: {first.label} of run {caller_id(first.run_id)}: {first.error.message}",
            fix="plait dlq; then plait dlq retry ID, or plait dlq discard ID",
        )


def _some(rows: Sequence[RunRow]) -> str:
    names = ", ".join(caller_id(row.id) for row in rows[:3])
    return names if len(rows) <= 3 else f"{names} …"


def examine_pool(code: str, runs: int, engines: int, report: Report) -> None:
    """Runs that went to engines with their code."""
    waiting = words.counted(runs, "run")
    report.facts[f"code {code}"] = f"{waiting}, on {words.counted(engines, 'engine')}"
    if runs and not engines:
        report.wrong(
            "doctor.no_code", f"{waiting} can't move: no engine here has `{code}`", fix="start an engine that loads it"
        )
