"""The machine of the `refs` dialect: what follows from each input of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, assert_never

import msgspec
from msgspec import Raw

from plait.kernel.effects import ClearTimer, Decision, Effect, SetTimer
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
from plait.kernel.task import Task
from plait.kernel.task_inputs import PYTHON
from plait.kernel.view import Edge, Node, Reason

from . import recording, view, waiting
from .compensation import compensations
from .contexts import ctx_of
from .decision_builder import DecisionBuilder, RunContext
from .ending import cancel_children, expire, is_expired
from .events import RefsBegun, RefsForked, RefsStarted
from .evolve import Folding, begun, plan_of
from .patching import patch, preset, refuse
from .plans import Plans
from .recovery import fork_effects, under_way_effects
from .refs_run import RefsRun
from .results import child_finished, child_started, task_result
from .resuming import begin, resume, settle_letter
from .settle import advance
from .state import START, RefsState
from .unfinished_decision import finish_decision

_state = msgspec.json.Decoder(RefsState)


class RefsMachine:
    accepts_late_results = finishes_cancelled_work = compensates_failures = True
    gates_retries = keeps_late_messages = compacts = reload_on_takeover = False
    stops_at_failed_compensation = False

    def __init__(self, context: RunContext, plans: Plans) -> None:
        self.context = context
        self._plans = plans
        self._run: RefsRun | None = None
        self._folding: Folding | None = None
        self._reopened = False
        self._loaded = True
        """Whether nothing was decided since it was loaded: work in flight in its state belonged to a previous owner."""
        self._forked = False
        """Whether this is a fresh fork, where nothing that its copied log has in flight really is."""
        self._compensations: tuple[int, list[Task]] = (-1, [])
        """Cached compensations, with the number of changes behind them: a rollback asks for them after each one."""

    @property
    def run(self) -> RefsRun:
        if self._run is None:
            raise RuntimeError("the run has not started")
        return self._run

    @property
    def started(self) -> bool:
        return self._run is not None

    # -- folding -------------------------------------------------------------------------------------------------

    def evolve(self, event: Event, at: Millis) -> None:
        if self._reopened and isinstance(event, RunReopened):
            self._reopened = False  # already folded when it was decided
        elif isinstance(event, RunStarted):
            self._take(begun(event, self.context.info, self._plans))
        elif self._folding is not None:  # otherwise it was cancelled before it was started
            self._forked = self._forked or isinstance(event, RefsForked)
            self._folding.fold(event, at)

    def _take(self, run: RefsRun) -> None:
        self._run = run
        self._folding = Folding(run, self._plans)
        self._compensations = (-1, [])

    def snapshot(self) -> Raw:
        return Raw(msgspec.json.encode(self.run.state))

    def restore(self, snapshot: Raw) -> None:
        state = _state.decode(snapshot)
        plan = plan_of(state, self._plans.of(state.definition))
        self._take(RefsRun(state, plan, ctx_of(self.context.info)))

    def weight(self) -> int:
        if self._run is None:
            return 0
        state = self._run.state
        return len(state.steps) + sum(len(loop.works) for loop in state.loops.values())

    @property
    def adds_dead_letters(self) -> bool:
        """True for recordings: only `AddDeadLetter` adds one, and a failed call is for its caller to repeat."""
        return self._run is not None and self._run.state.mode == "recording"

    def backlog(self) -> int:
        return 0

    def needed_code(self) -> Collection[str]:
        found = () if self._run is None else self._run.plan.actions
        return [f"{PYTHON}:{action.name}" for _, action in found if action.kind == "function"]

    def called_code(self, task: Task) -> str | None:
        return f"{PYTHON}:{task.input.handler}" if task.kind == PYTHON and task.queue is None else None

    # -- deciding ------------------------------------------------------------------------------------------------

    def decide(self, input: Any, now: Millis) -> Decision:
        if self._folding is None:
            return Decision()
        builder = self._builder(now)
        loaded, self._loaded = self._loaded, False
        if isinstance(input, Start):
            self._start(builder)
        if not builder.over and is_expired(builder) and not isinstance(input, Cancel):
            expire(builder)
            if isinstance(input, Message | Patch):
                builder.decision.refusal = _ended()
                return builder.decision
        if builder.state.mode == "recording" and recording.takes(builder, input, loaded=loaded):
            self._reopened = builder.decision.reopen is not None
            return builder.decision
        self._decide(builder, input)
        if not builder.over and builder.state.begun and builder.state.mode != "recording":
            advance(builder)
        return builder.decision

    def _decide(self, builder: DecisionBuilder, input: Any) -> None:
        match input:
            case TaskResult():
                task_result(builder, input)
            case ChildStarted():
                child_started(builder, input)
            case ChildFinished():
                child_finished(builder, input)
            case TimerFired():
                if input.token == START and not builder.over and not builder.state.begun:
                    builder.record(RefsBegun())
            case Message():
                self._message(builder, input)
            case Loaded():
                builder.run.rebuild(builder.plan)  # folding does not queue steps
                if input.how == "fork" and not builder.over and builder.plan.start_at is None:
                    begin(builder)  # with a start time, its timer begins it
                if not builder.over and builder.state.begun:
                    finish_decision(builder)
            case Resume():
                self._resume(builder, input)
            case Patch():
                patch(builder, input, self._plans)
            case Cancel():
                _cancel(builder, input)
            case Decided():
                raise Conflict("no_approvals", "a run of steps asks nobody", fix="use a `workflow` step that does")
            case Start() | Continue() | RetryDue() | AttemptFailed():
                pass
            case _:
                assert_never(input)

    def _builder(self, now: Millis) -> DecisionBuilder:
        assert self._folding is not None
        ended = self.run.state.status != "running"
        return DecisionBuilder(self.run, self.context, now, self._folding, over=ended)

    def _start(self, builder: DecisionBuilder) -> None:
        plan, info = builder.plan, self.context.info
        start_at = None if plan.start_at is None or plan.start_at <= builder.now else Millis(plan.start_at)
        builder.record(
            RefsStarted(
                hash=plan.hash,
                mode=plan.mode,
                input=builder.state.input,
                presets=list(plan.presets or ()),
                parent=None if info.parent is None else caller_id(info.parent),
                depth=info.depth,
                start_at=start_at,
            )
        )
        if start_at is not None and not builder.over:
            builder.effect(SetTimer(START, start_at))

    def _message(self, builder: DecisionBuilder, message: Message) -> None:
        if builder.over:
            raise _ended()
        if message.name == "preset":
            preset(builder, message, self._plans)
        else:
            raise refuse(message)

    def _resume(self, builder: DecisionBuilder, request: Resume) -> None:
        match request.mode:
            case "retry":
                resume(builder, request)
            case "settle":
                settle_letter(builder, request)
            case "rewind":
                raise Conflict("no_rewind", "a run of steps can't be rewound", fix="fork it: fork(at=..., edits=...)")
            case "compensate" | "continue" | "requeue":
                pass
            case _:
                assert_never(request.mode)
        self._reopened = builder.decision.reopen is not None

    # -- effects in flight ---------------------------------------------------------------------------------------

    def pending(self, now: Millis, *, recovered: bool) -> list[Effect]:
        builder = self._builder(now)
        if builder.state.mode == "recording":
            return []  # an interrupted call is not repeated
        found = under_way_effects(builder)
        if self._forked:
            self._forked = False
            found += fork_effects(builder)
        return found

    def compensations(self) -> list[Task]:
        if self._folding is None:
            return []
        changes, found = self._compensations
        if changes != self._folding.changes:
            found = compensations(self._builder(Millis(0)))
            self._compensations = (self._folding.changes, found)
        return found

    # -- showing -------------------------------------------------------------------------------------------------

    def nodes(self, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]:
        return ([], []) if self._run is None else view.nodes(self._run, self.context.info, tasks)

    def waiting(self, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]:
        return [] if self._run is None else waiting.reasons(self._run, self.context.info, tasks)

    def details(self) -> dict[str, Any] | None:
        return None if self._run is None else view.details(self._run)

    def close(self) -> None:
        """Does nothing: the machine holds no resources."""


def _ended() -> Conflict:
    return Conflict("RUN_FINISHED", "the run has ended", fix="retry it first, or start a new one")


def _cancel(builder: DecisionBuilder, request: Cancel) -> None:
    """Cancels the children that are waited for; other work goes on."""
    if builder.over:
        return
    builder.effect(ClearTimer(START))
    if request.cause == "deadline":
        expire(builder)
    else:
        cancel_children(builder, request.reason or "the run was cancelled")
        builder.over = True
