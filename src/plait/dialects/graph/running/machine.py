"""The machine of the `graph` dialect: what follows from each input of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import msgspec
from msgspec import Raw

from plait.kernel.effects import Decision, Effect
from plait.kernel.errors import Conflict
from plait.kernel.events import Event, RunReopened, RunStarted
from plait.kernel.ids import Millis, TaskToken, caller_id
from plait.kernel.inputs import (
    AttemptFailed,
    Cancel,
    ChildFinished,
    ChildStarted,
    Continue,
    Decided,
    Loaded,
    Message,
    Patch,
    Resume,
    RetryDue,
    Start,
    TaskResult,
    TimerFired,
)
from plait.kernel.machine import TaskFacts
from plait.kernel.measured import TaskTrace
from plait.kernel.snapshot_policy import SnapshotPolicy
from plait.kernel.task import Task
from plait.kernel.view import Edge, Node, Reason

from . import view, waiting
from .accepted import not_reported
from .approvals import decided, timed_out
from .children import child_finished, retry_due
from .compensation import compensations
from .completion import complete
from .decision_builder import DecisionBuilder, RunContext
from .details import run_details
from .dispatch import start_ready
from .ending import stop
from .evolve import Folding, begun
from .graph_run import GraphRun
from .joins import fire_joins
from .mirror import Command, mirrored
from .observing import counted, task_trace
from .patches import patch
from .recovery import begin_all, begin_forked, begin_inline, pending_effects, under_way_again, untouched_fork
from .reopening import retry, settle_letter
from .results import task_result
from .state import CALLBACK, THROTTLE, TIMEOUT, WAIT, GraphState
from .throttling import release
from .topologies import Topologies
from .waits import message, wait_over
from .wall_time import WALL, limit_wall_time, out_of_time

_state = msgspec.json.Decoder(GraphState)


class GraphMachine:
    accepts_late_results = finishes_cancelled_work = keeps_late_messages = compacts = reload_on_takeover = False
    gates_retries = True
    stops_at_failed_compensation = False
    adds_dead_letters = True
    snapshots = SnapshotPolicy(every=200, age=Millis(10_000), worth=10)

    def __init__(self, context: RunContext, topologies: Topologies) -> None:
        self.context = context
        self._topologies = topologies
        self._run: GraphRun | None = None
        self._folding: Folding | None = None
        self._reopened = False

    @property
    def run(self) -> GraphRun:
        if self._run is None:
            raise RuntimeError("the run has not started")
        return self._run

    # -- folding -------------------------------------------------------------------------------------------------

    def evolve(self, event: Event, at: Millis) -> None:
        if self._reopened and isinstance(event, RunReopened):
            self._reopened = False  # already folded when it was decided
        elif isinstance(event, RunStarted):
            self._take(begun(event, at, self._topologies))
        elif self._folding is not None:  # otherwise it was cancelled before it was started
            self._folding.fold(event, at)

    def _take(self, run: GraphRun) -> None:
        self._run = run
        self._folding = Folding(run, self._topologies)

    def snapshot(self) -> Raw:
        return Raw(msgspec.json.encode(self.run.state))

    def restore(self, snapshot: Raw) -> None:
        state = _state.decode(snapshot)
        self._take(GraphRun(state, self._topologies.of(state.definition)))

    def weight(self) -> int:
        if self._run is None:
            return 0
        state = self._run.state
        return len(state.tokens) + len(state.context) + len(state.path) + len(state.done)

    def backlog(self) -> int:
        return 0 if self._run is None else sum(map(len, self._run.state.messages.values()))

    @property
    def compensates_failures(self) -> bool:
        return self._run is not None and self._run.plan.ir.on_failure == "compensate"

    # -- deciding ------------------------------------------------------------------------------------------------

    def decide(self, input: Any, now: Millis) -> Decision:
        if self._folding is None:
            return Decision()
        builder = self._builder(now)
        if type(input) is TaskResult:  # by far the most common, and a class takes long to match
            task_result(builder, input, self._topologies)
        elif not self._heed(builder, input):
            return builder.decision
        if builder.run.state.status == "running":
            advance(builder)
        return builder.decision

    def _heed(self, builder: DecisionBuilder, input: Any) -> bool:
        """Applies the input; returns whether the run may advance."""
        match input:
            case Start():
                limit_wall_time(builder)
                begin_all(builder)
            case ChildFinished():
                child_finished(builder, input)
            case TimerFired():
                _timer(builder, input.token)
            case Message():
                message(builder, input)
            case Decided():
                decided(builder, input)
            case Loaded() if input.how == "fork" or untouched_fork(builder):
                limit_wall_time(builder)
                for effect in under_way_again(builder):
                    builder.effect(effect)
                begin_forked(builder)
            case Loaded() | Continue():
                begin_inline(builder)
            case Resume():
                self._resume(builder, input)
            case Patch():
                patch(builder, input, self._topologies)
            case Cancel():
                stop(builder)
                return False
            case RetryDue():
                retry_due(builder, input.token)
            case ChildStarted() | AttemptFailed():
                return False
            case _:
                assert_never(input)
        return True

    def _builder(self, now: Millis) -> DecisionBuilder:
        assert self._folding is not None
        return DecisionBuilder(self.run, self.context, now, self._folding)

    def _resume(self, builder: DecisionBuilder, resume: Resume) -> None:
        match resume.mode:
            case "retry":
                retry(builder)
            case "settle":
                settle_letter(builder, resume)
            case "rewind":
                raise Conflict("graph.no_rewind", "a run of a graph can't be rewound", fix="fork it: fork(at=...)")
            case "compensate" | "continue" | "requeue":
                pass
            case _:
                assert_never(resume.mode)
        self._reopened = builder.decision.reopen is not None

    # -- effects in flight ---------------------------------------------------------------------------------------

    def pending(self, now: Millis, *, recovered: bool) -> list[Effect]:
        return pending_effects(self._builder(now))

    def compensations(self) -> list[Task]:
        return [] if self._run is None else compensations(self._builder(Millis(0)))

    # -- showing -------------------------------------------------------------------------------------------------

    def nodes(self, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]:
        return ([], []) if self._run is None else view.nodes(self._run, self.context.info, tasks)

    def waiting(self, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]:
        return [] if self._run is None else waiting.reasons(self._run, self.context, tasks)

    def mirror(self, events: Sequence[Event], at: Millis) -> list[Command]:
        """The commands for observers on Redis, issued once the events are committed."""
        return [] if self._run is None else mirrored(self._run, caller_id(self.context.info.run_id), events, at)

    def tokens(self) -> tuple[int, int]:
        """The counter, and its difference from the number of unconsumed tokens."""
        return (0, 0) if self._run is None else counted(self._run)

    def trace(self, token: TaskToken) -> TaskTrace | None:
        return None if self._run is None else task_trace(self._run, token)

    def details(self) -> dict[str, Any] | None:
        return None if self._run is None else run_details(self._run)

    def close(self) -> None:
        """Does nothing: the machine holds no resources."""


def advance(builder: DecisionBuilder) -> None:
    """Starts queued executions and fires joins until nothing changes; then completes the run if it is over."""
    start_ready(builder)
    while not builder.over and fire_joins(builder):
        start_ready(builder)
    if not builder.decision.more:
        complete(builder)


def _timer(builder: DecisionBuilder, token: TaskToken) -> None:
    if token == WALL:
        out_of_time(builder)
    elif token.startswith(WAIT):
        wait_over(builder, token.removeprefix(WAIT))
    elif token.startswith(CALLBACK):
        not_reported(builder, token.removeprefix(CALLBACK))
    elif token.startswith(THROTTLE):
        release(builder, token.removeprefix(THROTTLE))
    elif token.startswith(TIMEOUT):
        timed_out(builder, token.removeprefix(TIMEOUT))
