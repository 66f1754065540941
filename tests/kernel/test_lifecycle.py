"""How runs end, undo their work first, and are taken up again."""

from typing import Any

import pytest

from plait.kernel import values
from plait.kernel.decide import DEADLINE, Run
from plait.kernel.effects import Decision, Finish
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import RollbackStep, RunCancelled, RunCompleted
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.inputs import Cancel, ChildFinished, Loaded, Message, Resume, TimerFired
from plait.kernel.store import Settled
from plait.kernel.unit_of_work import UnitOfWork
from tests.kernel.builders import NOW, add, advance, done, failed, fresh, give, info, start, started, tokens, types
from tests.kernel.toy import ToyMachine, child, count, fail, nap, task


def undoing(*more: Any, machine: type[ToyMachine] = ToyMachine) -> Run:
    """A run that has paid and shipped, both of which can be undone, and then goes on."""
    run = fresh(machine(info()))
    advance(run, start(task("pay", undo="refund"), task("ship", undo="fetch"), *more))
    advance(run, done("move:0", "paid"))
    advance(run, done("move:1", "shipped"))
    return run


def inbox(draft: UnitOfWork) -> list[tuple[str, Any]]:
    return [(row.run_id, values.decode(row.body)) for row in draft.write.inbox]


# -- cancelling ------------------------------------------------------------------------------------------------------


def test_a_cancelled_run_stops_its_tasks_and_timers_and_says_why():
    run = started(task("a"))
    draft = give(run, Cancel("enough"))
    assert types(draft.events) == ["run.cancelled"]
    assert draft.events[-1] == RunCancelled("enough")
    assert draft.revoked == ["move:0"]
    assert draft.ended


def test_a_run_that_has_timers_leaves_none_behind():
    assert give(started(nap(1_000)), Cancel()).write.clear_all


def test_cancelling_twice_is_cancelling_once():
    run = started(count(1))
    give(run, Cancel("first"))
    assert give(run, Cancel("second")).empty
    assert run.state.final == RunCancelled("first")


def test_an_ended_run_stays_as_it_is():
    run = started()
    assert give(run, Cancel()).empty
    assert run.state.status == "completed"


def test_a_child_tells_its_parent_how_it_ended():
    run = started(task("a"), run_id="kid", parent=RunId("mum"), parent_token=TaskToken("move:3"))
    [(target, body)] = inbox(advance(run, done("move:0", "ok")))
    assert target == "mum"
    assert body["kind"] == "child_finished"
    assert (body["token"], body["run_id"], body["status"]) == ("move:3", "kid", "completed")
    assert body["output"]["outputs"] == ["ok"]


@pytest.mark.parametrize(
    ("input", "status", "code"),
    [(Cancel("enough"), "cancelled", "kernel.cancelled"), (failed("move:0", text="no"), "failed", "task.failed")],
)
def test_a_child_that_did_not_complete_says_that_too(input: Any, status: str, code: str):
    run = started(task("a"), run_id="kid", parent=RunId("mum"), parent_token=TaskToken("move:3"))
    [(_, body)] = inbox(give(run, input))
    assert (body["status"], body["error"]["code"]) == (status, code)


def test_a_child_that_ends_a_second_time_is_heard_again():
    run = started(task("a"), run_id="kid", parent=RunId("mum"), parent_token=TaskToken("move:3"))
    first = give(run, failed("move:0")).write.inbox
    give(run, Resume("retry"))
    second = advance(run, done("move:0")).write.inbox
    assert first[0].key != second[0].key


def test_a_parents_end_reaches_its_children():
    run = started(child(count(1)))
    [(target, body)] = inbox(give(run, Cancel()))
    assert (target, body["kind"]) == ("run.0", "cancel")


def test_a_cancel_by_a_parent_does_not_end_a_run_that_is_not_its_child():
    """Its id was taken by someone else's run; the parent was cancelled before it heard of that."""
    parent = started(child(count(1), id="taken"))
    [row] = give(parent, Cancel()).write.inbox
    stranger = started(count(1), run_id="taken")
    give(stranger, values.decode(row.body, Cancel))
    assert stranger.state.status == "running"
    kid = started(count(1), run_id="taken", parent=RunId("run"), parent_token=TaskToken("move:0"))
    give(kid, values.decode(row.body, Cancel))
    assert kid.state.status == "cancelled"


# -- the deadline ----------------------------------------------------------------------------------------------------


def test_a_run_whose_deadline_passes_fails():
    run = fresh()
    advance(run, start(task("a"), deadline=Millis(NOW + 5)))
    draft = give(run, TimerFired(DEADLINE), now=NOW + 5)
    assert run.state.status == "failed"
    assert draft.write.patch is not None
    assert draft.write.patch.error == ErrorInfo("DEADLINE_EXCEEDED", "the run's deadline passed", kind="deadline")
    assert draft.revoked == ["move:0"]


def test_a_deadline_after_the_end_changes_nothing_but_its_timer():
    run = fresh()
    advance(run, start(deadline=Millis(NOW + 5)))
    draft = give(run, TimerFired(DEADLINE), now=NOW + 5)
    assert (draft.events, draft.write.cleared) == ([], [DEADLINE])


# -- undoing ---------------------------------------------------------------------------------------------------------


def test_a_failed_run_undoes_its_work_newest_first_and_then_fails():
    run = undoing(count(1), fail("sold out"))
    draft = advance(run, add(1))
    assert types(draft.events) == ["move.begun", "rollback.started"]
    assert tokens(draft) == ["undo:1"]
    draft = give(run, done("undo:1"))
    assert types(draft.events) == ["rollback.step"]
    assert tokens(draft) == ["undo:0"]
    draft = give(run, done("undo:0"))
    assert types(draft.events) == ["rollback.step", "rollback.ended", "run.failed"]
    assert draft.write.patch is not None
    assert draft.write.patch.error is not None
    assert draft.write.patch.error.message == "sold out"


def test_a_run_with_nothing_to_undo_fails_at_once():
    draft = give(started(task("a")), failed("move:0", retryable=False))
    assert types(draft.events) == ["run.failed"]


def test_a_plain_cancel_undoes_nothing():
    assert types(give(undoing(count(1)), Cancel()).events) == ["run.cancelled"]


def test_a_cancel_that_compensates_ends_as_cancelled():
    run = undoing(count(1))
    give(run, Cancel("enough", compensate=True))
    give(run, done("undo:1"))
    draft = give(run, done("undo:0"))
    assert draft.events[-1] == RunCancelled("enough")


def test_a_deadline_undoes_the_work_first():
    run = undoing(count(1))
    assert tokens(give(run, TimerFired(DEADLINE))) == ["undo:1"]


def test_an_ended_run_can_be_compensated_and_ends_again_as_it_had():
    run = undoing()
    assert run.state.status == "completed"
    draft = give(run, Resume("compensate"))
    assert types(draft.events) == ["run.reopened", "rollback.started"]
    assert draft.write.patch is not None
    assert draft.write.patch.status == "running"
    give(run, done("undo:1"))
    draft = give(run, done("undo:0"))
    assert isinstance(draft.events[-1], RunCompleted)
    assert draft.write.patch is not None
    assert values.decode(draft.write.patch.output or b"")["outputs"] == ["paid", "shipped"]


def test_what_was_undone_is_not_undone_again():
    run = undoing()
    for input in (Resume("compensate"), done("undo:1"), done("undo:0")):
        give(run, input)
    draft = give(run, Resume("compensate"))
    assert tokens(draft) == []
    assert run.state.status == "completed"


def test_a_running_run_is_not_compensated_behind_its_back():
    draft = give(undoing(count(1)), Resume("compensate"), key="k")
    assert b"kernel.still_running" in ((draft.write.taken or [])[0].reply or b"")


def stuck() -> Run:
    run = undoing(count(1))
    give(run, Cancel("enough", compensate=True))
    give(run, failed("undo:1"))
    return run


def test_a_compensator_that_fails_stops_the_rollback_as_a_dead_letter():
    run = undoing(count(1))
    give(run, Cancel("enough", compensate=True))
    draft = give(run, failed("undo:1"))
    assert types(draft.events) == ["task.dead_lettered", "rollback.step", "rollback.ended", "run.cancelled"]
    assert [letter.id for letter in draft.write.dead_letters] == ["run:undo:1"]
    assert (run.state.status, tokens(draft)) == ("cancelled", [])


def test_a_dialect_may_let_the_other_compensators_run_after_one_that_failed():
    class Persistent(ToyMachine):
        stops_at_failed_compensation = False

    run = undoing(count(1), machine=Persistent)
    give(run, Cancel("enough", compensate=True))
    draft = give(run, failed("undo:1"))
    assert types(draft.events) == ["task.dead_lettered", "rollback.step"]
    assert tokens(draft) == ["undo:0"]
    draft = give(run, done("undo:0"))
    assert types(draft.events) == ["rollback.step", "rollback.ended", "run.cancelled"]
    assert run.state.final == RunCancelled("enough")


@pytest.mark.parametrize("resume", [Resume("retry"), Resume("settle", token=TaskToken("undo:1"), verdict="retry")])
def test_a_rollback_that_stopped_goes_on_when_a_person_says_so(resume: Resume):
    run = stuck()
    draft = give(run, resume)
    assert types(draft.events) == ["run.reopened", "rollback.started", "rollback.step"]
    assert draft.events[-1] == RollbackStep(TaskToken("undo:1"), "retried")
    assert tokens(draft) == ["undo:1"]
    assert tokens(give(run, done("undo:1"))) == ["undo:0"]
    give(run, done("undo:0"))
    assert run.state.final == RunCancelled("enough")


def test_a_dead_letter_that_is_retried_by_retrying_the_run_is_settled():
    assert give(stuck(), Resume("retry")).write.settled == [Settled("run:undo:1", "retried")]


def test_a_discarded_compensator_is_passed_over():
    run = stuck()
    draft = give(run, Resume("settle", token=TaskToken("undo:1"), verdict="discard"))
    assert tokens(draft) == ["undo:0"]
    assert draft.write.settled == [Settled("run:undo:1", "discarded")]
    give(run, done("undo:0"))
    assert run.state.final == RunCancelled("enough")


def test_a_rollback_is_taken_up_again_after_a_crash():
    run = undoing(count(1))
    give(run, Cancel("enough", compensate=True))
    give(run, done("undo:1"))
    run.state.tasks.close(TaskToken("undo:0"))  # the process that ran it is gone
    assert tokens(give(run, Loaded("wake"))) == ["undo:0"]


def test_a_rollback_that_stopped_stays_so_after_a_crash():
    assert tokens(give(stuck(), Loaded("recover"))) == []


def test_a_rollback_that_an_older_release_left_stuck_ends_when_it_is_loaded():
    run = undoing(count(1))
    give(run, Cancel("enough", compensate=True))
    assert run.state.rollback is not None
    run.state.rollback.failed.append(TaskToken("undo:1"))
    run.state.tasks.close(TaskToken("undo:1"))
    draft = give(run, Loaded("recover"))
    assert types(draft.events) == ["rollback.ended", "run.cancelled"]


@pytest.mark.parametrize(
    "input",
    [
        add(1),
        TimerFired(TaskToken("move:2")),
        ChildFinished(TaskToken("move:2"), RunId("kid"), "completed"),
        Cancel("again"),
        Resume("retry"),
    ],
    ids=lambda input: type(input).__name__,
)
def test_while_a_run_undoes_its_work_nothing_makes_it_work_again(input: Any):
    asked: list[Any] = []

    class Machine(ToyMachine):
        def decide(self, input: Any, now: Millis) -> Decision:
            asked.append(input)
            return super().decide(input, now)

    run = fresh(Machine(fresh().info))
    advance(run, start(task("pay", undo="refund"), count(1), task("never")))
    advance(run, done("move:0"))
    give(run, Cancel("enough", compensate=True))
    asked.clear()
    draft = give(run, input)
    assert asked == []
    assert tokens(draft) == []
    assert run.state.rolling_back


def test_a_task_the_machine_forgot_to_revoke_does_not_pass_for_a_compensator():
    class Forgetful(ToyMachine):
        def decide(self, input: Any, now: Millis) -> Decision:
            decision = super().decide(input, now)
            if isinstance(input, Message):
                decision.effects.append(Finish("failed", error=ErrorInfo("toy.failed", "no")))
            return decision

        def pending(self, now: Millis, *, recovered: bool) -> list[Any]:
            return []

    run = fresh(Forgetful(fresh().info))
    advance(run, start(task("pay", undo="refund"), task("slow")))
    advance(run, done("move:0"))
    draft = give(run, add(1))
    assert draft.revoked == ["move:1"]
    draft = give(run, done("move:1"))
    assert types(draft.events) == ["task.late"]
    assert run.state.rolling_back


# -- going on --------------------------------------------------------------------------------------------------------


def test_a_failed_run_that_is_retried_reopens_and_settles_its_dead_letter():
    run = started(task("a"))
    give(run, failed("move:0"))
    draft = give(run, Resume("retry"))
    assert types(draft.events) == ["run.reopened", "again"]
    assert draft.write.settled == [Settled("run:move:0", "retried")]
    assert draft.tasks[0].attempt == 1
    assert draft.write.patch is not None
    assert (draft.write.patch.status, draft.write.patch.error, draft.write.patch.ended_at) == ("running", None, None)


def test_a_dead_letter_is_settled_by_its_token_and_a_verdict():
    run = started(task("a"))
    give(run, failed("move:0"))
    draft = give(run, Resume("settle"), key="k")
    assert b"kernel.bad_resume" in ((draft.write.taken or [])[0].reply or b"")


def test_a_dead_letter_that_is_discarded_leaves_the_run_as_it_is():
    run = started(task("a"))
    give(run, failed("move:0"))
    draft = give(run, Resume("settle", token=TaskToken("move:0"), verdict="discard"))
    assert (draft.events, draft.write.settled) == ([], [Settled("run:move:0", "discarded")])
    assert run.state.status == "failed"
