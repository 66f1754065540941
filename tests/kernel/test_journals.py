"""Journals of attempts: kept in the log, fenced, given back after a crash; and attempts that are suspended."""

import asyncio
from typing import Any

import pytest

from plait.kernel import values
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.inputs import Cancel, ChildFinished, Decided, KeepEntry, Loaded, Suspend, TimerFired
from plait.kernel.journal import AnyWait, ApprovalWait, ChildWait, Suspended, TimeWait
from plait.kernel.run import Run
from plait.kernel.snapshots import Base, SnapshotBody
from plait.kernel.task import current_attempt
from plait.kernel.unit_of_work import UnitOfWork
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock
from tests.kernel.builders import NOW, done, failed, fresh, give, start, tokens, types
from tests.kernel.rig import rig
from tests.kernel.toy import ToyMachine, nap, task

TOKEN = TaskToken("move:0")
WAIT = TaskToken("~suspended:move:0:1")
LATER = Millis(NOW + 60_000)


def entry(index: int, value: object = "found", attempt: int = 1, opening: int = 0) -> KeepEntry:
    return KeepEntry(TOKEN, attempt, index, values.encode(value), f"part {index + 1}", opening=opening)


def entries(run: Run) -> list[Any]:
    journal = run.state.tasks.journal(TOKEN)
    return [] if journal is None else [values.decode(each) for each in journal.entries]


def refusal(draft: UnitOfWork) -> str | None:
    assert draft.kept is not None
    found = draft.kept[-1].refusal
    return None if found is None else found.code


def folded(run: Run, *drafts: UnitOfWork) -> Run:
    """The same run, as another process reads it from the log."""
    again = fresh(ToyMachine(run.info))
    for draft in drafts:
        for event in draft.events:
            again.fold(event, draft.at)
    return again


def journaling() -> tuple[Run, list[UnitOfWork]]:
    run = fresh()
    return run, [
        give(run, start(task("a", attempts=2), nap(1))),
        give(run, entry(0, "one")),
        give(run, entry(1, "two")),
    ]


def waiting(wait: AnyWait) -> tuple[Run, list[UnitOfWork]]:
    run = fresh()
    drafts = [give(run, start(task("a"), nap(1))), give(run, entry(0, "one"))]
    return run, [*drafts, give(run, Suspend(TOKEN, 1, wait, "waits for ada"))]


def test_an_entry_is_an_event_of_its_own_and_the_machine_hears_nothing_of_it():
    run, drafts = journaling()
    assert types(drafts[1].events) == ["task.journaled"]
    assert entries(run) == ["one", "two"]


def test_after_a_load_the_same_attempt_goes_on_with_its_journal():
    run, drafts = journaling()
    again = folded(run, *drafts)
    draft = give(again, Loaded("recover"))
    assert [(each.attempt, each.journal.entries if each.journal else None) for each in draft.tasks] == [
        (1, [values.encode("one"), values.encode("two")])
    ]
    assert types(give(again, entry(2, "three")).events) == ["task.journaled"]


def test_a_snapshot_holds_the_journal():
    run, _ = journaling()
    base = Base(run.state.seq, NOW, run.state.dump(), run.machine.snapshot())  # pyright: ignore[reportArgumentType]
    machine = ToyMachine(run.info)
    machine.restore(base.machine)
    again = fresh(machine)
    again.restore(base, SnapshotBody(base.kernel, base.machine))
    assert entries(again) == ["one", "two"]
    give(run, entry(2))
    assert entries(again) == ["one", "two"]


def test_a_retry_begins_with_an_empty_journal_and_knows_the_last_error():
    run, drafts = journaling()
    scheduled = give(run, failed("move:0"))
    again = give(run, TimerFired(TaskToken("~retry:move:0")), now=NOW + 60_000)
    assert [(each.attempt, each.journal, each.error and each.error.message) for each in again.tasks] == [
        (2, None, "no luck")
    ]
    other = folded(run, *drafts, scheduled)
    assert entries(other) == []
    assert types(give(run, entry(0, "anew", attempt=2)).events) == ["task.journaled"]
    assert entries(run) == ["anew"]


def test_an_entry_of_an_older_attempt_or_of_a_place_that_is_taken_is_refused():
    run, _ = journaling()
    assert refusal(give(run, entry(1, "twice"))) == "task.stale_entry"
    assert refusal(give(run, entry(2, attempt=2))) == "task.settled"
    assert refusal(give(run, entry(3))) == "task.stale_entry"
    give(run, done("move:0"))
    assert refusal(give(run, entry(2))) == "task.settled"
    assert entries(run) == []


def test_a_large_entry_is_a_blob():
    run, _ = journaling()
    draft = give(run, entry(2, "x" * 200_000))
    write = draft.seal(run.limits.blob_threshold)
    assert len(write.blobs) == 1
    assert write.log is not None
    assert len(write.log.events) < 1_000


def test_a_task_that_is_settled_keeps_no_journal():
    run, drafts = journaling()
    drafts.append(give(run, done("move:0")))
    again = folded(run, *drafts)
    give(again, Loaded("wake"))
    assert again.state.tasks.journals() == []


# -- suspended ---------------------------------------------------------------------------------------------------------


def test_a_suspended_attempt_is_not_under_way_and_its_run_may_park():
    run, drafts = waiting(TimeWait(LATER))
    assert run.state.tasks.running == 0
    assert [(timer.token, timer.due) for timer in drafts[-1].write.timers] == [(WAIT, LATER)]
    assert refusal(give(run, entry(1))) == "task.settled"


def test_when_its_time_has_come_the_same_attempt_goes_on_with_the_answer_in_its_journal():
    run, _ = waiting(TimeWait(LATER))
    draft = give(run, TimerFired(WAIT), now=LATER)
    assert [(each.attempt, len(each.journal.entries) if each.journal else 0) for each in draft.tasks] == [(1, 2)]
    assert entries(run) == ["one", {"at": LATER}]
    assert tokens(give(run, TimerFired(WAIT), now=LATER)) == [], "a timer that fires twice"


def test_a_decision_of_people_is_the_answer_and_a_second_one_is_refused():
    run, drafts = waiting(ApprovalWait("Pay 900?", due=LATER))
    assert [each.token for each in drafts[-1].write.approvals] == [WAIT]
    draft = give(run, Decided(WAIT, "approve", "ada", "fine"))
    assert tokens(draft) == ["move:0"]
    assert entries(run)[1] == {"decision": "approve", "by": "ada", "comment": "fine", "data": None}
    late = give(run, Decided(WAIT, "reject", "bob"), key="late")
    assert (late.events, late.write.approvals) == ([], ())
    assert b"approval_decided" in (late.write.taken[0].reply or b"")


def test_an_approval_that_nobody_decides_in_time_is_answered_by_the_clock():
    run, _ = waiting(ApprovalWait("Pay 900?", due=LATER))
    give(run, TimerFired(WAIT), now=LATER)
    assert entries(run)[1] == {"decision": "timeout"}


def test_a_child_that_has_ended_is_the_answer():
    run, drafts = waiting(ChildWait([], "toy"))
    assert [each.run_id for each in drafts[-1].unresolved or ()] == ["run:move:0:1"]
    give(run, ChildFinished(WAIT, RunId("run:move:0:1"), "completed", values.encode(7)))
    assert entries(run)[1] == {"status": "completed", "run_id": "run:move:0:1", "output": 7, "error": None}


def test_what_a_suspended_attempt_waits_for_is_dropped_with_its_run():
    run, _ = waiting(ChildWait([], "toy"))
    draft = give(run, Cancel("enough", compensate=True))
    assert [(row.run_id, b'"cancel"' in row.body) for row in draft.write.inbox] == [("run:move:0:1", True)]
    run, _ = waiting(ApprovalWait("Pay?"))
    assert [each.status for each in give(run, Cancel()).write.approvals] == ["withdrawn"]


def test_after_a_load_a_suspended_attempt_still_waits():
    run, drafts = waiting(ApprovalWait("Pay 900?"))
    again = folded(run, *drafts)
    assert (tokens(give(again, Loaded("recover"))), again.state.tasks.running) == ([], 0)
    assert tokens(give(again, Decided(WAIT, "approve", "ada"))) == ["move:0"]


def test_a_fork_asks_for_what_its_suspended_attempts_wait_for_anew():
    run, drafts = waiting(TimeWait(LATER))
    again = folded(run, *drafts)
    draft = give(again, Loaded("fork"))
    assert [timer.token for timer in draft.write.timers] == [WAIT]
    run, drafts = waiting(ApprovalWait("Pay 900?"))
    assert [each.token for each in give(folded(run, *drafts), Loaded("fork")).write.approvals] == [WAIT]


# -- on a kernel -------------------------------------------------------------------------------------------------------


class Ledger:
    """A task of three parts, each of which is an effect in the world; then it asks another run."""

    def __init__(self) -> None:
        self.effects: list[str] = []

    async def work(self) -> Any:
        attempt = current_attempt.get()
        assert attempt is not None
        for part in range(len(attempt.journal), 3):
            self.effects.append(f"part {part}")
            await attempt.keep(values.encode(part), says=f"part {part + 1} of 3")
        if len(attempt.journal) == 3:
            return Suspended(ChildWait({"program": [{"kind": "task", "name": "b"}]}, "toy"), "another run")
        return [values.decode(each) for each in attempt.journal][-1]["output"]["outputs"]


async def crashed_at(commit: int) -> tuple[list[str], Any]:
    ledger, clock = Ledger(), VirtualClock()
    store = MemoryStore(clock=clock)
    async with rig(store, clock=clock, calls={"a": ledger.work}, ttl=Millis(1_000)) as first:
        wanted = asyncio.ensure_future(first.start(task("a"), id="run"))
        for _ in range(commit):
            await asyncio.sleep(0)
        await first.kernel.crash()
        await asyncio.gather(wanted, return_exceptions=True)
    await clock.advance(5)
    async with rig(store, clock=clock, calls={"a": ledger.work}, owner="second") as second:
        if await store.run(RunId("run")) is None:
            await second.start(task("a"), id="run")
        output = await second.output(RunId("run"))
    await store.dispose()
    return ledger.effects, output


@pytest.mark.parametrize("moment", range(0, 60, 3))
async def test_wherever_a_process_dies_no_part_with_an_entry_is_done_again(moment: int):
    effects, output = await crashed_at(moment)
    assert output["outputs"] == [["b"]]
    doubled = len(effects) - len(set(effects))
    assert doubled <= 1, "only the part whose entry was not on disk"
    assert list(dict.fromkeys(effects)) == ["part 0", "part 1", "part 2"]


async def test_a_run_with_a_suspended_attempt_costs_no_memory_while_it_waits():
    async def work() -> Any:
        attempt = current_attempt.get()
        assert attempt is not None
        return "rested" if attempt.journal else Suspended(TimeWait(Millis(on.clock.now() + 60_000)), "a minute")

    async with rig(calls={"a": work}, cache_size=0) as on:
        run_id = await on.start(task("a"))
        await on.settle()
        assert on.kernel.run_cache.all() == []
        assert (await on.output(run_id))["outputs"] == ["rested"]
        assert "task.suspended" in await on.types(run_id)
