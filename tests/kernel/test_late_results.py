"""Machines that linger and pace: what comes after a run's outcome, and who says when a task is tried again."""

from collections.abc import Sequence
from typing import Any

import pytest

from plait.kernel.advance import advance as one_round
from plait.kernel.effects import Decision, Effect, FailTask, Finish, RetryTask, SetTimer
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.inputs import AttemptFailed, Cancel, Loaded, Message, Patch, RetryDue, TaskResult, TimerFired
from plait.kernel.open_tasks import RETRY
from plait.kernel.retry import Retry
from plait.kernel.run import Run
from plait.kernel.task import Policy, Task
from tests.kernel.builders import NOW, add, done, failed, fresh, give, info, start, tokens, types
from tests.kernel.toy import Counted, ToyMachine


class Told(ToyMachine):
    """Does what it was told to, input by input, and remembers what it heard."""

    accepts_late_results = gates_retries = True

    def __init__(self, *decisions: Sequence[Effect]) -> None:
        super().__init__(info())
        self.decisions = list(decisions)
        self.heard: list[Any] = []
        self.undoable: list[Task] = []

    def evolve(self, event: Event, at: Millis) -> None:
        return None

    def decide(self, input: Any, now: Millis) -> Decision:
        self.heard.append(input)
        effects = list(self.decisions.pop(0)) if self.decisions else []
        return Decision([Counted(f"heard {len(self.heard)}", 0)], effects)

    def compensations(self) -> list[Task]:
        return self.undoable

    def pending(self, now: Millis, *, recovered: bool) -> list[Effect]:
        return [work("a")]


def work(token: str, attempts: int = 1) -> Task:
    return Task(TaskToken(token), token, "toy", None, Policy(Retry(max_attempts=attempts, first=1.0)), "key")


def told(*decisions: Sequence[Effect]) -> tuple[Run, Told]:
    machine = Told(*decisions)
    run = fresh(machine)
    give(run, start())
    return run, machine


class Finishing(Told):
    """Work of a cancelled run is not stopped."""

    finishes_cancelled_work = True


FAIL = Finish("failed", error=ErrorInfo("toy.failed", "no"))


# -- after the outcome -------------------------------------------------------------------------------------------------


def test_work_that_outlives_its_run_is_still_heard():
    run, machine = told([work("a"), work("b")], [Finish("completed")])
    give(run, done("a"))
    assert run.state.status == "completed"
    draft = give(run, done("b"))
    assert types(draft.events) == ["counted"]
    assert isinstance(machine.heard[-1], TaskResult)


def test_work_that_fails_after_the_outcome_is_not_tried_again():
    run, machine = told([work("a"), work("b", attempts=5)], [Finish("completed")])
    give(run, done("a"))
    draft = give(run, failed("b"))
    assert types(draft.events) == ["counted"]
    assert not draft.write.timers
    assert machine.heard[-1].error is not None


def test_what_was_heard_once_is_late_the_second_time():
    run, _ = told([work("a"), work("b")], [Finish("completed")])
    give(run, done("a"), done("b"))
    assert types(give(run, done("b")).events) == ["task.late"]


def test_messages_and_timers_reach_an_ended_run_that_lingers():
    run, machine = told([Finish("completed"), SetTimer(TaskToken("look"), Millis(NOW + 5))])
    give(run, add(1), TimerFired(TaskToken("look")))
    assert [type(each) for each in machine.heard[1:]] == [Message, TimerFired]


def test_a_timer_that_is_set_with_the_end_outlives_it():
    machine = Told([SetTimer(TaskToken("old"), Millis(NOW)), FAIL, SetTimer(TaskToken("look"), Millis(NOW + 5))])
    draft = give(fresh(machine), start())
    assert [timer.token for timer in draft.write.timers] == ["look"]


def test_other_inputs_are_refused_as_ever():
    run, machine = told([Finish("completed")])
    run.mailbox.append((Patch([]), "p-1"))
    draft = one_round(run, NOW)
    assert b"RUN_FINISHED" in (draft.write.taken or [])[0].reply  # pyright: ignore[reportOperatorIssue]
    assert len(machine.heard) == 1


def test_an_ended_run_that_is_loaded_can_say_that_nothing_is_under_way():
    run, machine = told([work("a"), Finish("completed")])
    assert types(give(run, Loaded("wake")).events) == ["counted"]
    assert tokens(give(run, Loaded("recover"))) == []
    assert [each.how for each in machine.heard[1:]] == ["wake", "recover"]


# -- undoing while work is under way -----------------------------------------------------------------------------------


def test_what_succeeds_during_a_rollback_is_undone_by_it():
    run, machine = told([work("pay"), work("a")], [FAIL])
    machine.undoable = [work("undo:a")]
    draft = give(run, done("a"))
    assert types(draft.events) == ["counted", "rollback.started"]
    assert not draft.revoked
    machine.undoable = [work("undo:a"), work("undo:pay")]
    give(run, done("pay"))
    assert tokens(give(run, done("undo:a"))) == ["undo:pay"]
    draft = give(run, done("undo:pay"))
    assert types(draft.events) == ["rollback.step", "rollback.ended", "run.failed"]


def test_what_succeeds_after_a_failed_run_has_ended_is_undone_too_and_it_ends_as_it_had():
    run, machine = told([work("pay"), work("a")], [FAIL])
    assert types(give(run, done("a")).events) == ["counted", "run.failed"]
    machine.undoable = [work("undo:pay")]
    draft = give(run, done("pay"))
    assert types(draft.events) == ["counted", "run.reopened", "rollback.started"]
    assert tokens(draft) == ["undo:pay"]
    draft = give(run, done("undo:pay"))
    assert types(draft.events) == ["rollback.step", "rollback.ended", "run.failed"]
    assert run.state.status == "failed"


def test_timers_of_work_that_goes_on_outlive_the_rollback():
    run, machine = told([work("a")], [FAIL, SetTimer(TaskToken("callback"), Millis(NOW + 5))])
    machine.undoable = [work("undo:a")]
    draft = give(run, done("a"))
    assert [timer.token for timer in draft.write.timers] == ["callback"]
    draft = give(run, done("undo:a"))
    assert draft.ended
    assert not draft.write.clear_all


def test_undoing_what_came_late_stops_no_other_work_and_no_timer():
    run, machine = told(
        [work("pay"), work("slow"), work("a")], [FAIL, SetTimer(TaskToken("callback"), Millis(NOW + 5))]
    )
    give(run, done("a"))
    machine.undoable = [work("undo:pay")]
    draft = give(run, done("pay"))
    assert not draft.revoked
    assert not draft.write.clear_all
    give(run, done("undo:pay"))
    assert types(give(run, done("slow")).events) == ["counted"]


def test_nothing_is_undone_late_in_a_run_that_completed():
    run, machine = told([work("pay"), work("a")], [Finish("completed")])
    give(run, done("a"))
    machine.undoable = [work("undo:pay")]
    assert types(give(run, done("pay")).events) == ["counted"]


def test_a_task_that_is_begun_after_the_end_is_run_once():
    run, _ = told([work("a"), work("b")], [Finish("completed")], [work("undo:b", attempts=3)])
    give(run, done("a"))
    assert tokens(give(run, done("b"))) == ["undo:b"]
    draft = give(run, failed("undo:b"))
    assert types(draft.events) == ["counted"]


def test_a_free_slot_is_used_while_a_task_waits_to_be_tried_again():
    run, machine = told([work("a", attempts=3)], [work("b")])
    draft = give(run, failed("a"))
    assert types(draft.events) == ["task.retry_scheduled", "counted"]
    assert tokens(draft) == ["b"]
    assert machine.heard[-1] == AttemptFailed(TaskToken("a"))


def test_work_that_waits_for_a_retry_is_given_up_when_the_run_fails():
    run, machine = told([work("pay", attempts=3), work("a")], [], [FAIL])
    machine.undoable = [work("undo:x")]
    give(run, failed("pay"))
    assert give(run, done("a")).revoked == ["pay"]


# -- pacing ------------------------------------------------------------------------------------------------------------


def due(token: str) -> TimerFired:
    return TimerFired(TaskToken(RETRY + token))


def test_a_machine_that_paces_is_asked_before_a_task_is_tried_again():
    run, machine = told([work("a", attempts=3)], [], [], [RetryTask(TaskToken("a"))])
    give(run, failed("a"))
    assert tokens(give(run, due("a"))) == []
    assert machine.heard[-1] == RetryDue(TaskToken("a"))
    assert tokens(give(run, add(1))) == ["a"]
    assert run.state.tasks.get(TaskToken("a")).attempt == 2  # pyright: ignore[reportOptionalMemberAccess]


def test_after_a_recovery_it_is_asked_again_even_if_the_time_has_passed():
    machine = Told()
    run = fresh(machine)
    give(run, start())
    machine.decisions.append([work("a", attempts=3)])
    give(run, add(1))
    scheduled = next(event for event in give(run, failed("a")).events if "retry_scheduled" in types([event])[0])
    again = Told()
    copy = fresh(again)
    give(copy, start())
    copy.fold(scheduled, NOW)
    draft = give(copy, Loaded("recover"), now=NOW + 60_000)
    assert tokens(draft) == []
    assert again.heard[-1] == RetryDue(TaskToken("a"))
    assert draft.write.timers == [], "one in the past would wake the run as soon as it is parked"


# -- a task that failed after all --------------------------------------------------------------------------------------


@pytest.fixture
def error() -> ErrorInfo:
    return ErrorInfo("toy.silent", "no answer", kind="timeout")


def test_a_task_that_ended_well_may_turn_out_to_have_failed(error: ErrorInfo):
    task = work("a", attempts=3)
    run, _ = told([task], [], [FailTask(task, 1, error)])
    give(run, done("a"))
    draft = give(run, TimerFired(TaskToken("patience")))
    assert types(draft.events) == ["counted", "task.retry_scheduled", "counted"]
    assert [timer.token for timer in draft.write.timers] == [RETRY + "a"]


def test_the_last_attempt_that_turns_out_to_have_failed_is_a_dead_letter(error: ErrorInfo):
    task = work("a", attempts=2)
    run, machine = told([task], [], [FailTask(task, 2, error)])
    give(run, done("a"))
    draft = give(run, TimerFired(TaskToken("patience")))
    assert types(draft.events) == ["counted", "task.dead_lettered", "counted"]
    assert machine.heard[-1].error == error
    assert machine.heard[-1].attempt == 2


# -- vigilance ---------------------------------------------------------------------------------------------------------


def test_a_vigilant_run_is_loaded_by_its_next_owner():
    run, machine = told([])
    assert (patch := give(run, done("nothing")).write.patch) is None or not patch.awake
    machine.reload_on_takeover = True
    patch = give(run, add(1)).write.patch
    assert patch is not None
    assert patch.awake


def test_an_ended_run_is_not_vigilant():
    run, machine = told([], [Finish("completed")])
    machine.reload_on_takeover = True
    patch = give(run, add(1)).write.patch
    assert patch is not None
    assert not patch.awake


# -- cancelled runs ----------------------------------------------------------------------------------------------------


def test_work_of_a_cancelled_run_goes_on_where_its_machine_says_so():
    run = fresh(Finishing([work("a")]))
    give(run, start())
    draft = give(run, Cancel("enough"))
    assert run.state.status == "cancelled"
    assert not draft.revoked
    assert types(give(run, done("a")).events) == ["counted"]


def test_work_of_a_cancelled_run_that_is_compensated_goes_on_too():
    machine = Finishing([work("a")])
    machine.undoable = [work("undo")]
    run = fresh(machine)
    give(run, start())
    draft = give(run, Cancel("enough", compensate=True))
    assert run.state.rolling_back
    assert not draft.revoked


def test_a_machine_may_end_a_cancelled_run_in_its_own_words():
    run = fresh(Finishing([work("a")], [FAIL]))
    give(run, start())
    give(run, Cancel(cause="deadline", error=ErrorInfo("DEADLINE_EXCEEDED", "the run's deadline passed")))
    assert run.state.status == "failed"
    assert run.state.final.error.code == "toy.failed"  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]


def test_what_waits_for_a_retry_when_its_run_ends_begins_anew_should_it_be_reopened():
    run, _ = told([work("a"), work("b", attempts=5)], [], [Finish("completed")])
    give(run, failed("b"))
    give(run, done("a"))
    assert run.state.status == "completed"
    assert TaskToken("b") not in run.state.tasks
