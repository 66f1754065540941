"""Diagnosis of a run that does not move: sums of its counter, queues, leases, joins, dead letters.

It only reads, and reports each problem with its fix. `repair` restores what follows from the log, a task's row on a
queue; a counter is never written: it is derived from the log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from plait.kernel.errors import PlaitError
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.inputs import Resume
from plait.kernel.kernel import Kernel
from plait.kernel.loader import recorded
from plait.kernel.measured import TokenCounter
from plait.kernel.run import Run
from plait.kernel.store import RunRow

from .ask import ask
from .run_details import waiting_of

_PAGE = 1_000


@dataclass(slots=True)
class RunCheck:
    facts: dict[str, str] = field(default_factory=dict[str, str])
    problems: list[PlaitError] = field(default_factory=list[PlaitError])
    lost: list[TaskToken] = field(default_factory=list[TaskToken])
    """Tasks that should be on a queue, and are not."""

    def wrong(self, code: str, what: str, why: str = "", fix: str = "") -> None:
        self.problems.append(PlaitError(code, what, why=why, fix=fix))


async def check_run(kernel: Kernel, row: RunRow) -> RunCheck:
    check = RunCheck()
    check.facts["run"] = f"{caller_id(row.id)}: {row.status}, {row.phase}"
    run = await kernel.peek(row)
    await _sums(kernel, run, check)
    if row.status == "running":
        await _owner(kernel, row, check)
        await _inputs(kernel, row, check)
        await _queue(kernel, run, check)
        await _reasons(kernel, row, check)
    await _letters(kernel, row, check)
    return check


async def repair_run(kernel: Kernel, row: RunRow, check: RunCheck) -> int:
    """Puts tasks back on their queues; returns how many."""
    for token in check.lost:
        await ask(kernel, row.id, Resume("requeue", token=token))
    return len(check.lost)


async def _sums(kernel: Kernel, run: Run, check: RunCheck) -> None:
    """Sums up the log, event by event, and compares the result with the machine's."""
    total, told, after, events = 0, 0, 0, 0
    while page := await recorded(kernel.store, run.id, after, _PAGE):
        for event in page:
            if event.type == "run.started":
                total = told = _initial(event.data.get("data"))
            elif "delta" in event.data:
                total, told = total + int(event.data["delta"]), int(event.data["counter_after"])
        after, events = page[-1].seq, events + len(page)
    check.facts["events"] = f"{events:,}"
    if not isinstance(run.machine, TokenCounter):
        return
    counter, off = run.machine.tokens()
    check.facts["counter"] = f"{counter} in memory, {told} by the last event, {total} by the sum of all"
    if off or len({counter, told, total}) > 1:
        check.wrong(
            "doctor.counter",
            f"the counter of run {caller_id(run.id)} is off by {off or counter - total}",
            why="a counter is the number of tokens in flight: this is a bug of Plait, or a damaged log",
            fix="plait doctor --deep; then report it with `plait events --json`; fork the run from before it",
        )


def _initial(started: Any) -> int:
    return int(cast("dict[str, Any]", started).get("counter_after", 0)) if isinstance(started, dict) else 0


async def _owner(kernel: Kernel, row: RunRow, check: RunCheck) -> None:
    now = kernel.clock.now()
    alive = [owner for owner in await kernel.store.owners() if owner.expires > now]
    check.facts["shard"] = f"{row.shard}; {len(alive)} engines hold {sum(owner.shards for owner in alive)} shards"
    if not alive:
        check.wrong("doctor.no_engine", "no engine is at work on this database", fix="start one: plait serve")


async def _inputs(kernel: Kernel, row: RunRow, check: RunCheck) -> None:
    waiting = [each for each in await kernel.store.inbox([row.shard], 10_000) if each.run_id == row.id]
    check.facts["inputs"] = f"{len(waiting)} not taken"


async def _queue(kernel: Kernel, run: Run, check: RunCheck) -> None:
    held = await kernel.store.queues.held(run.id)
    claimed = [each for each in held if each.worker is not None]
    check.facts["queue"] = f"{len(held)} tasks, {len(claimed)} claimed"
    rows = {each.task.token for each in held}
    tokens = dict.fromkeys([*run.state.tasks, *run.state.tasks.unopened])
    check.lost = [token for token in tokens if run.state.tasks.is_queued(token) and token not in rows]
    for token in check.lost:
        check.wrong(
            "doctor.lost_task",
            f"task `{token}` of run {caller_id(run.id)} should be on a queue, and is not",
            why="its row was deleted by hand, or the database was restored in part",
            fix=f"plait doctor --run {caller_id(run.id)} --repair puts it back",
        )


async def _reasons(kernel: Kernel, row: RunRow, check: RunCheck) -> None:
    for number, reason in enumerate(await waiting_of(kernel, row), 1):
        check.facts[f"waits {number}"] = reason.text
        if reason.kind == "stalled":
            check.wrong(
                "doctor.stalled",
                f"run {caller_id(row.id)} stands still, and nothing will move it",
                why="no event for five minutes, and no person, timer, child, retry or task to wait for",
                fix="cancel it, or fork it from before the step that it lacks",
            )


async def _letters(kernel: Kernel, row: RunRow, check: RunCheck) -> None:
    pending = await kernel.store.dead_letters(row.namespace, row.id, "pending")
    check.facts["dead letters"] = str(len(pending))
    for letter in pending:
        check.wrong(
            "doctor.dead_letter",
            f"{letter.label} failed for good: {letter.error.message}",
            fix=f"plait dlq retry {letter.id}, or plait dlq discard {letter.id}",
        )
