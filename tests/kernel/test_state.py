"""What the kernel knows of a run: folding its events and restoring a snapshot give the same."""

from typing import Any

import hypothesis
import msgspec
from hypothesis import strategies as st

from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import (
    Event,
    RollbackEnded,
    RollbackStarted,
    RollbackStep,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReopened,
    RunStarted,
    TaskDeadLettered,
    TaskLate,
    TaskRetryScheduled,
)
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.state import KernelState, RunState
from plait.kernel.task import Policy, Task
from tests.kernel.builders import NOW

ERROR = ErrorInfo("task.failed", "no luck")
PAY = TaskToken("pay")


def folded(*events: Event) -> RunState:
    state = RunState()
    for event in events:
        state.evolve(event)
        state.seq += 1
    return state


def restored(state: RunState) -> RunState:
    stored = msgspec.json.decode(values.plain(state.dump()), type=KernelState)
    again = RunState()
    again.restore(stored, state.seq, state.at)
    return again


def seen(state: RunState) -> Any:
    return (state.seq, state.at, state.started, state.dump(), state.rolling_back, state.tasks.facts())


def test_a_run_is_running_until_it_ends():
    assert folded(RunStarted("toy", "toy")).status == "running"
    assert folded(RunStarted("toy", "toy"), RunCompleted()).status == "completed"
    assert folded(RunStarted("toy", "toy"), RunFailed(ERROR)).status == "failed"
    assert folded(RunStarted("toy", "toy"), RunCancelled()).status == "cancelled"


def test_a_reopened_run_runs_and_remembers_how_it_had_ended():
    state = folded(RunStarted("toy", "toy"), RunFailed(ERROR), RunReopened("retry"))
    assert (state.status, state.final) == ("running", RunFailed(ERROR))


def test_a_reopened_run_tries_its_tasks_from_the_first_attempt():
    state = folded(
        RunStarted("toy", "toy"),
        TaskRetryScheduled(PAY, 1, Millis(NOW), ERROR),
        RunFailed(ERROR),
        RunReopened("retry"),
    )
    opened = state.tasks.open(Task(PAY, "pay", "toy", None, Policy(), "key"), NOW)
    assert opened is not None
    assert opened.attempt == 1


def test_a_run_is_rolling_back_from_the_start_of_it_to_its_end():
    begun = (RunStarted("toy", "toy"), RollbackStarted("failure", ERROR))
    assert folded(*begun).rolling_back
    assert folded(*begun, RollbackStep(PAY, "completed")).rolling_back
    assert not folded(*begun, RollbackEnded("completed")).rolling_back
    assert not folded(*begun, RollbackEnded("completed"), RunFailed(ERROR)).rolling_back


def test_a_step_of_a_rollback_that_never_began_changes_nothing():
    assert folded(RollbackStep(PAY, "completed"), RollbackEnded("completed")).rollback is None


tokens = st.sampled_from([PAY, TaskToken("ship")])
events = st.one_of(
    st.just(RunReopened("retry")),
    st.just(RunCompleted(values.encode([1]))),
    st.builds(RunFailed, st.just(ERROR), st.just({"causes": ["pay"]})),
    st.builds(RunCancelled, st.just("enough")),
    st.builds(TaskRetryScheduled, tokens, st.integers(1, 3), st.integers(0, 10**13).map(Millis), st.just(ERROR)),
    st.builds(TaskDeadLettered, tokens, st.integers(1, 3), st.just(ERROR)),
    st.builds(TaskLate, tokens, st.integers(1, 3)),
    st.builds(RollbackStarted, st.sampled_from(["failure", "cancel", "request"]), st.just(ERROR), st.just("why")),
    st.builds(RollbackStep, tokens, st.sampled_from(["completed", "failed", "retried", "discarded"])),
    st.just(RollbackEnded("completed")),
)


@hypothesis.given(st.lists(events, max_size=12), st.lists(events, max_size=4))
def test_a_snapshot_anywhere_in_the_log_changes_nothing(before: list[Event], after: list[Event]):
    whole = folded(RunStarted("toy", "toy"), *before)
    again = restored(whole)
    assert seen(again) == seen(whole)
    for event in after:
        whole.evolve(event)
        again.evolve(event)
    assert seen(again) == seen(whole)
