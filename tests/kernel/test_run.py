"""One run, decided without a loop or a database: inputs go in, drafts come out."""

from typing import Any

import msgspec
import pytest

from plait.kernel import values
from plait.kernel.advance import advance as one_round
from plait.kernel.approval import Approval, ApprovalChange
from plait.kernel.decide import DEADLINE
from plait.kernel.effects import Block, Decision, Finish, SetTimer
from plait.kernel.errors import Conflict, ErrorInfo
from plait.kernel.events import RunCompleted, RunStarted
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.inputs import Cancel, ChildFinished, Decided, Loaded, Message, Patch, Resume, Start, TimerFired
from plait.kernel.limits import Limits
from plait.kernel.store import Taken
from tests.kernel.builders import (
    NOW,
    add,
    advance,
    done,
    failed,
    fresh,
    give,
    row,
    start,
    started,
    tokens,
    types,
)
from tests.kernel.toy import ToyMachine, ask, child, count, crash, fail, nap, task, tell


def reply(taken: Taken) -> Any:
    return None if taken.reply is None else msgspec.json.decode(taken.reply)


# -- starting --------------------------------------------------------------------------------------------------------


def test_a_start_is_recorded_first_and_then_what_the_machine_makes_of_it():
    draft = give(fresh(), start(task("a"), input=values.encode({"sku": "tea"})))
    assert types(draft.events) == ["run.started", "move.begun"]
    event = draft.events[0]
    assert isinstance(event, RunStarted)
    assert values.decode(event.input) == {"sku": "tea"}
    assert tokens(draft) == ["move:0"]


def test_a_second_start_changes_nothing():
    run = started(task("a"))
    assert give(run, start(task("b"))).empty


def test_a_start_after_the_run_was_cancelled_does_not_wake_it():
    run = fresh()
    give(run, Cancel("too late"))
    draft = give(run, start(task("a")))
    assert tokens(draft) == []
    assert run.state.status == "cancelled"


def test_a_deadline_is_a_timer():
    draft = give(fresh(), start(task("a"), deadline=Millis(NOW + 5)))
    assert [(timer.token, timer.due) for timer in draft.write.timers] == [(DEADLINE, NOW + 5)]


def test_the_first_draft_makes_the_runs_row():
    run = fresh()
    run.create = row(run)
    draft = give(run, start(count(1)))
    assert draft.write.create is not None
    assert not draft.write.create.awake
    assert draft.write.patch is None


def test_a_run_that_has_work_at_once_is_made_awake():
    run = fresh()
    run.create = row(run)
    draft = give(run, start(task("a")))
    assert draft.write.create is not None
    assert draft.write.create.awake


# -- the order of things ---------------------------------------------------------------------------------------------


def test_inputs_are_decided_in_the_order_they_came_and_written_as_one():
    run = started(count(10))
    draft = give(run, add(1, "a"), add(2, "b"), add(3, "c"))
    assert [event.amount for event in draft.events] == [1, 2, 3]  # pyright: ignore[reportAttributeAccessIssue]
    assert draft.first == 3
    assert run.state.seq == 5


def test_a_hundred_inputs_are_decided_at_once_and_the_rest_in_the_next_round():
    run = started(count(10_000))
    run.mailbox.extend((add(1, f"m-{number}"), None) for number in range(150))
    assert len(one_round(run, NOW).events) == 100
    assert len(one_round(run, NOW).events) == 50


def test_events_of_a_run_never_go_back_in_time():
    run = started(count(10), now=NOW)
    assert give(run, add(1, "a"), now=NOW - 60_000).at == NOW
    assert give(run, add(1, "b"), now=NOW + 1).at == NOW + 1


def test_an_input_that_changes_nothing_writes_nothing():
    run = started(count(10))
    give(run, add(1, "a"))
    assert give(run, add(1, "a")).empty


def test_more_is_kept_if_a_later_input_of_the_round_has_nothing_more():
    run = started(nap(5), count(9))
    draft = give(run, TimerFired(TaskToken("move:0")), add(1))
    assert draft.more


# -- answers ---------------------------------------------------------------------------------------------------------


def test_an_input_from_the_inbox_is_taken_and_answered_in_the_same_write():
    run = started(count(10))
    draft = give(run, add(4), key="k-1")
    [taken] = draft.write.taken or []
    assert (taken.key, reply(taken)) == ("k-1", 4)


def test_a_refused_input_is_answered_with_the_reason_and_records_nothing():
    run = started(count(10))
    draft = give(run, Message("m", "subtract"), key="k-1")
    assert draft.events == []
    [taken] = draft.write.taken or []
    assert reply(taken)["status"] == 422
    assert reply(taken)["error"]["code"] == "toy.unknown_message"


def test_one_refused_input_does_not_harm_its_neighbours():
    run = started(count(10))
    draft = give(run, add(1, "a"), Message("m", "subtract"), add(2, "b"), key="k")
    assert types(draft.events) == ["counted", "counted"]
    assert len(draft.write.taken or []) == 3


@pytest.mark.parametrize(
    "input", [add(1), Decided(TaskToken("move:0"), "approve"), Patch([])], ids=lambda i: type(i).__name__
)
def test_an_ended_run_refuses_what_would_change_it(input: Any):
    run = started()
    draft = give(run, input, key="k")
    [taken] = draft.write.taken or []
    assert reply(taken)["error"]["code"] == "RUN_FINISHED"
    assert reply(taken)["status"] == 409


def test_a_child_that_ends_after_its_parent_changes_nothing():
    run = started()
    assert give(run, ChildFinished(TaskToken("move:0"), RunId("kid"), "completed")).empty


def test_a_patch_changes_what_is_still_to_come():
    run = started(count(1), fail("never"))
    advance(run, Patch([{"kind": "task", "name": "other"}]))
    assert tokens(advance(run, add(1))) == ["move:1"]
    advance(run, done("move:1", "ok"))
    assert run.state.final == RunCompleted(values.encode({"counter": 1, "outputs": [1, "ok"]}))


# -- tasks -----------------------------------------------------------------------------------------------------------


def test_a_first_success_adds_no_event_of_the_kernels():
    draft = give(started(task("a"), count(1)), done("move:0"))
    assert types(draft.events) == ["move.ended"]


def test_a_failure_schedules_a_retry_and_the_machine_hears_nothing():
    run = started(task("a", attempts=3))
    draft = give(run, failed("move:0"))
    assert types(draft.events) == ["task.retry_scheduled"]
    assert [(timer.token, timer.due) for timer in draft.write.timers] == [("~retry:move:0", NOW + 1_000)]


def test_a_retry_is_started_when_its_time_has_come_and_its_timer_cleared():
    run = started(task("a", attempts=3))
    give(run, failed("move:0"))
    draft = give(run, TimerFired(TaskToken("~retry:move:0")), now=NOW + 1_000)
    assert draft.tasks[0].attempt == 2
    assert draft.write.cleared == ["~retry:move:0"]


def test_a_retry_timer_that_fires_twice_starts_one_attempt():
    run = started(task("a", attempts=3))
    give(run, failed("move:0"))
    fired = TimerFired(TaskToken("~retry:move:0"))
    assert len(give(run, fired, fired, now=NOW + 1_000).tasks) == 1


@pytest.mark.parametrize("at_once", [True, False])
def test_a_firing_that_was_on_its_way_when_the_retry_was_moved_starts_nothing(at_once: bool):
    run = started(task("a", attempts=5))
    give(run, failed("move:0"))
    fired = TimerFired(TaskToken("~retry:move:0"), Millis(NOW + 1_000))
    give(run, fired, now=NOW + 1_000)
    again = failed("move:0", attempt=2)
    if at_once:
        draft = give(run, again, fired, now=NOW + 1_000)
    else:
        give(run, again, now=NOW + 1_000)
        draft = give(run, fired, now=NOW + 1_000)
    assert not draft.tasks
    assert not draft.write.cleared
    moved = TimerFired(TaskToken("~retry:move:0"), Millis(NOW + 3_000))
    assert [opened.attempt for opened in give(run, moved, now=NOW + 3_000).tasks] == [3]


def test_a_second_attempt_that_succeeds_tells_the_machine_how_many_it_took():
    seen: list[int] = []

    class Machine(ToyMachine):
        def decide(self, input: Any, now: Millis) -> Decision:
            seen.append(getattr(input, "attempt", 0))
            return super().decide(input, now)

    about = fresh().info
    run = fresh(Machine(about))
    advance(run, start(task("a", attempts=3)))
    give(run, failed("move:0"))
    give(run, TimerFired(TaskToken("~retry:move:0")), now=NOW + 1_000)
    give(run, done("move:0", attempt=2))
    assert seen[-1] == 2


def test_a_late_result_of_an_older_attempt_is_recorded_and_changes_nothing():
    run = started(task("a", attempts=3), count(1))
    give(run, failed("move:0"))
    draft = give(run, done("move:0", "too late", attempt=1))
    assert types(draft.events) == ["task.late"]
    assert values.decode(draft.events[0].output) == "too late"  # pyright: ignore[reportAttributeAccessIssue]
    give(run, TimerFired(TaskToken("~retry:move:0")))
    assert types(give(run, done("move:0", attempt=2)).events) == ["move.ended"]


def test_a_result_after_the_end_of_the_run_is_still_recorded():
    run = started(task("a"))
    give(run, Cancel())
    assert types(give(run, done("move:0")).events) == ["task.late"]


def test_a_task_that_used_up_its_attempts_becomes_a_dead_letter():
    run = started(task("a"))
    draft = give(run, failed("move:0", text="card declined"))
    assert types(draft.events) == ["task.dead_lettered", "run.failed"]
    [letter] = draft.write.dead_letters or []
    assert (letter.id, letter.attempts, letter.error.message) == ("run:move:0", 1, "card declined")


def test_an_error_that_must_not_be_tried_again_is_no_dead_letter():
    draft = give(started(task("a", attempts=3)), failed("move:0", retryable=False))
    assert types(draft.events) == ["run.failed"]
    assert not draft.write.dead_letters


def test_a_task_whose_result_is_not_wanted_any_more_is_revoked_with_its_retry():
    run = started(task("a", attempts=3))
    give(run, failed("move:0"))
    draft = give(run, Cancel())
    assert draft.revoked == ["move:0"]
    assert "~retry:move:0" in (draft.write.cleared or [])


# -- a machine with a bug --------------------------------------------------------------------------------------------


def test_a_machine_that_raises_blocks_its_run_and_says_what_it_was():
    run = started(count(1), crash())
    give(run, add(1, "a"))
    with pytest.raises(RuntimeError) as caught:
        give(run, Loaded("wake"))
    write = run.broken(caught.value)
    assert (write.log, write.taken) == (None, [])
    assert write.patch is not None
    assert (write.patch.status, write.patch.awake) == ("running", True)
    assert write.patch.blocked is not None
    assert (write.patch.blocked.code, write.patch.blocked.message) == ("kernel.machine_error", "the machine has a bug")


def test_who_waits_for_the_answer_of_a_machine_that_raises_gets_one():
    run = started(count(1), crash())
    run.mailbox += [(add(1, "a"), "m-1"), (Loaded("wake"), None), (Resume("retry"), "r-1")]
    run.mailbox.rotate(1)
    with pytest.raises(RuntimeError) as caught:
        give(run, Loaded("wake"))
    write = run.broken(caught.value)
    [taken] = write.taken
    assert (taken.key, reply(taken)["error"]["code"]) == ("r-1", "kernel.machine_error")


def test_a_machine_that_raises_over_an_ended_run_leaves_it_as_it_ended():
    class Broken(ToyMachine):
        def decide(self, input: Any, now: Millis) -> Decision:
            if isinstance(input, Resume) and input.mode == "retry":
                raise RuntimeError("no")
            return super().decide(input, now)

    run = fresh(Broken(fresh().info))
    advance(run, start())
    with pytest.raises(RuntimeError) as caught:
        give(run, Resume("retry"), key="k")
    write = run.broken(caught.value)
    assert write.patch is None
    assert [taken.key for taken in write.taken] == ["k"]


def test_a_blocked_run_is_cancelled_before_it_is_asked_to_go_on():
    run = started(count(1), crash())
    give(run, add(1, "a"))
    run.blocked = ErrorInfo("kernel.machine_error", "no")
    run.mailbox.append((Loaded("wake"), None))
    draft = give(run, Cancel("give up"), key="k")
    assert run.state.status == "cancelled"
    assert draft.write.patch is not None
    assert draft.write.patch.blocked is None


def test_a_machine_that_raises_when_it_is_cancelled_is_cancelled_all_the_same(caplog: pytest.LogCaptureFixture):
    class Clinging(ToyMachine):
        def decide(self, input: Any, now: Millis) -> Decision:
            if isinstance(input, Cancel):
                raise RuntimeError("no")
            return super().decide(input, now)

    run = fresh(Clinging(fresh().info))
    advance(run, start(task("a")))
    draft = give(run, Cancel("enough"))
    assert run.state.status == "cancelled"
    assert draft.revoked == ["move:0"]
    assert "run run" in caplog.text


def test_a_run_that_is_blocked_from_its_first_moment_is_stored_so():
    machine = Blocking(fresh().info)
    machine.reason = ErrorInfo("CODE_NOT_LOADED", "no code", kind="blocked")
    run = fresh(machine)
    run.create = row(run)
    draft = give(run, start())
    assert draft.write.patch is not None
    assert draft.write.patch.blocked == machine.reason


class Refusing(ToyMachine):
    """Refuses everything that nobody waits for an answer to."""

    def decide(self, input: Any, now: Millis) -> Decision:
        if isinstance(input, Start | TimerFired | ChildFinished) or type(input).__name__ == "TaskResult":
            raise Conflict("toy.no", "I won't")
        return super().decide(input, now)


def test_a_machine_that_refuses_to_start_fails_its_run():
    run = fresh(Refusing(fresh().info))
    draft = give(run, start(task("a")))
    assert types(draft.events) == ["run.started", "run.failed"]
    assert draft.write.patch is not None
    assert draft.write.patch.error is not None
    assert draft.write.patch.error.code == "toy.no"


# -- limits ----------------------------------------------------------------------------------------------------------


def failure(run: Any) -> ErrorInfo:
    assert run.state.status == "failed"
    return run.state.final.error


def test_too_many_events_end_the_run():
    run = started(count(1_000), limits=Limits(max_events=5))
    for number in range(10):
        give(run, add(1, f"m-{number}"))
    assert failure(run).code == "kernel.limit_exceeded"
    assert "events; the limit is 5" in failure(run).message


class Wide(ToyMachine):
    """Does everything at once."""

    def decide(self, input: Any, now: Millis) -> Decision:
        if isinstance(input, Message):
            effects = [SetTimer(TaskToken(f"t{number}"), now) for number in range(values.decode(input.body))]
            return Decision(effects=list(effects))
        return super().decide(input, now)


def test_too_many_effects_of_one_decision_end_the_run():
    run = fresh(Wide(fresh().info), limits=Limits(max_effects=10))
    advance(run, start(count(1)))
    draft = give(run, add(11))
    assert "11 effects in one decision; the limit is 10" in failure(run).message
    assert not draft.write.timers


def test_many_small_decisions_that_are_written_together_break_no_limit():
    run = fresh(Wide(fresh().info), limits=Limits(max_effects=10))
    advance(run, start(count(1)))
    give(run, *(add(10, f"m-{number}") for number in range(20)))
    assert run.state.status == "running"


def test_children_of_children_have_a_floor():
    run = started(child(task("a")), depth=3, limits=Limits(max_depth=3))
    assert "4 levels of children; the limit is 3" in failure(run).message


def test_a_run_that_breaks_a_limit_starts_no_child_and_cancels_none():
    run = fresh(depth=3, limits=Limits(max_depth=3))
    draft = give(run, start(child(task("a"))))
    assert (draft.write.children, list(draft.write.inbox)) == ((), [])


def test_a_message_that_was_decided_before_the_limit_broke_is_still_sent():
    run = started(count(1), tell("other", 1), count(99), limits=Limits(max_events=6))
    draft = give(run, add(1, "a"), Loaded("wake"), add(1, "b"), add(1, "c"))
    assert run.state.status == "failed"
    assert [row.run_id for row in draft.write.inbox] == ["other"]


# -- the row ---------------------------------------------------------------------------------------------------------


def test_the_row_is_written_only_when_something_in_it_changes():
    run = started(task("a"), count(2), task("b"))
    assert give(run, done("move:0")).write.patch is None  # `more` keeps it awake
    assert (patch := give(run, Loaded("wake")).write.patch) is not None
    assert not patch.awake
    assert give(run, add(1, "x")).write.patch is None
    assert (patch := give(run, add(1, "y")).write.patch) is not None
    assert patch.awake


def test_the_end_is_in_the_row():
    run = started(task("a"))
    draft = advance(run, done("move:0", "ok"), now=NOW + 5)
    assert draft.write.patch is not None
    assert (draft.write.patch.status, draft.write.patch.awake, draft.write.patch.ended_at) == (
        "completed",
        False,
        NOW + 5,
    )
    assert values.decode(draft.write.patch.output or b"") == {"counter": 0, "outputs": ["ok"]}


def test_a_large_output_is_not_in_the_row_too():
    run = started(task("a"), limits=Limits(blob_threshold=20))
    draft = advance(run, done("move:0", "x" * 100))
    assert draft.write.patch is not None
    assert draft.write.patch.output is None


def test_a_run_with_too_many_messages_says_that_it_is_full_and_that_it_is_not_any_more():
    class Full(ToyMachine):
        waiting_for = 0

        def backlog(self) -> int:
            return self.waiting_for

    machine = Full(fresh().info)
    run = fresh(machine, limits=Limits(max_queued_messages=3))
    advance(run, start(count(99)))
    machine.waiting_for = 3
    assert (patch := give(run, add(1, "a"), key="a").write.patch) is not None
    assert patch.full
    machine.waiting_for = 2
    assert (patch := give(run, add(1, "b"), key="b").write.patch) is not None
    assert not patch.full


def test_a_snapshot_is_taken_when_it_pays():
    run = started(count(100_000))
    run.mailbox.extend((add(1, f"m-{number}"), None) for number in range(1_000))
    draft = one_round(run, NOW)
    assert draft.write.snapshot is not None
    assert draft.write.snapshot.seq == run.state.seq
    assert give(run, add(1, "last")).write.snapshot is None


def test_a_snapshot_that_would_be_larger_than_what_it_saves_is_not_taken():
    class Heavy(ToyMachine):
        def weight(self) -> int:
            return 5_000

    run = fresh(Heavy(fresh().info))
    advance(run, start(count(100_000)))
    run.mailbox.extend((add(1, f"m-{number}"), None) for number in range(1_000))
    assert one_round(run, NOW).write.snapshot is None


def test_a_run_that_ends_needs_no_snapshot():
    run = started(count(1_000))
    run.mailbox.extend((add(1, f"m-{number}"), None) for number in range(1_000))
    draft = one_round(run, NOW)
    assert draft.write.snapshot is not None or draft.more
    assert advance(run, Loaded("wake")).write.snapshot is None


# -- blocking --------------------------------------------------------------------------------------------------------


class Blocking(ToyMachine):
    reason: ErrorInfo | None = None

    def decide(self, input: Any, now: Millis) -> Decision:
        if self.reason is not None and isinstance(input, Loaded | Resume | Start):
            return Decision(effects=[Block(self.reason)])
        return super().decide(input, now)


def test_a_run_that_is_loaded_again_is_blocked_only_if_its_machine_says_so_again():
    """The code that was missing may be there now."""
    machine = Blocking(fresh().info)
    run = fresh(machine)
    advance(run, start(count(1)))
    stored = row(run)
    stored.blocked = ErrorInfo("CODE_NOT_LOADED", "no code", kind="blocked")
    run.adopt(stored)
    draft = give(run, Loaded("wake"))
    assert run.blocked is None
    assert draft.write.patch is not None
    assert draft.write.patch.blocked is None


def test_a_run_that_is_still_blocked_when_it_is_loaded_again_stays_so():
    machine = Blocking(fresh().info)
    run = fresh(machine)
    advance(run, start(count(1)))
    machine.reason = ErrorInfo("CODE_NOT_LOADED", "no code", kind="blocked")
    stored = row(run)
    stored.blocked = machine.reason
    run.adopt(stored)
    draft = give(run, Loaded("wake"))
    assert run.blocked == machine.reason
    assert draft.write.patch is None or draft.write.patch.blocked == machine.reason


def test_finish_is_the_last_word_of_a_decision():
    class Eager(ToyMachine):
        def decide(self, input: Any, now: Millis) -> Decision:
            return Decision(effects=[Finish("completed"), SetTimer(TaskToken("t"), now)])

    run = fresh(Eager(fresh().info))
    give(run, start())
    assert run.state.status == "completed"


def test_an_approval_and_its_decision():
    run = fresh()
    draft = give(run, start(ask("boss")))
    [approval] = draft.write.approvals or []
    assert isinstance(approval, Approval)
    assert (approval.id, approval.by, approval.token) == ("run:move:0", "boss", "move:0")
    draft = give(run, Decided(TaskToken("move:0"), "approve", "ann"))
    [decided] = draft.write.approvals or []
    assert isinstance(decided, ApprovalChange)
    assert (decided.token, decided.status, decided.by) == ("move:0", "approved", "ann")
    draft = give(run, Decided(TaskToken("move:0"), "reject", "bob"), key="k")
    assert not draft.write.approvals
    assert reply((draft.write.taken or [])[0])["status"] == 409
