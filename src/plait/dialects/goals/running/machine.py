"""The machine of the `goals` dialect: what follows from each input of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, assert_never

import msgspec
from msgspec import Raw

from plait.kernel.cause import of_child
from plait.kernel.effects import CancelChild, ClearTimer, Decision, Effect, RetryTask, SetTimer
from plait.kernel.errors import Conflict
from plait.kernel.events import Event, RunReopened, RunStarted
from plait.kernel.ids import Millis, TaskToken
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
from plait.kernel.view import Edge, Node, Reason

from . import view
from .advance import LOOK_AGAIN, advance, start_left
from .children import child_id, named_outputs
from .code import code_of
from .compensation import compensations, to_compensate
from .compiled_plan import CompiledPlan
from .decision_builder import DecisionBuilder, RunContext
from .details import run_details
from .edits import patch
from .events import FlowDeactivated, FlowForked, InputClosed, LateResult
from .evolve import STEP_FAILED, begun, fold
from .flow import Flow
from .recovery import after_load, children, children_again, fill_all, go_on, local_work, pending_effects
from .reopening import retry, settle
from .results import message, task_result
from .state import CALLBACK, LINGER, WAIT, FlowState
from .work import answered, failed, fill, give_up_strays, unanswered

_state = msgspec.json.Decoder(FlowState)


def _why(child: ChildFinished) -> str:
    return child.error.message if child.error is not None else f"it was {child.status}"


class GoalsMachine:
    accepts_late_results = gates_retries = True
    keeps_late_messages = finishes_cancelled_work = False
    stops_at_failed_compensation = compacts = adds_dead_letters = False
    compensates_failures = True

    def __init__(self, context: RunContext, compiled_plans: Mapping[int, CompiledPlan]) -> None:
        self.context = context
        self._compiled_plans = compiled_plans
        self._flow: Flow | None = None
        self._preparing: set[str] = set()
        self._left: dict[str, None] = {}
        self._reopened = False
        self._forked = False
        """Whether this is a fresh fork, where nothing that its copied log has in flight really is."""

    @property
    def flow(self) -> Flow:
        if self._flow is None:
            raise RuntimeError("the run has not started")
        return self._flow

    # -- folding -------------------------------------------------------------------------------------------------

    def evolve(self, event: Event, at: Millis) -> None:
        if self._reopened and isinstance(event, RunReopened):
            self._reopened = False  # already folded when it was decided
        elif isinstance(event, RunStarted):
            self._flow = begun(event, at, self._compiled_plans)
        elif self._flow is not None:  # otherwise it was cancelled before it was started
            self._forked = self._forked or isinstance(event, FlowForked)
            fold(self._flow, event, at)

    def snapshot(self) -> Raw:
        return Raw(msgspec.json.encode(self.flow.state))

    def restore(self, snapshot: Raw) -> None:
        self._flow = Flow(_state.decode(snapshot))

    def weight(self) -> int:
        return 0 if self._flow is None else len(self._flow.state.steps) + len(self._flow.state.finished)

    def backlog(self) -> int:
        return 0

    @property
    def reload_on_takeover(self) -> bool:
        """A step server that accepted work may have died with our process: the next owner calls it again."""
        return self._flow is not None and bool(self._flow.awaited) and self._flow.recalled

    def needed_code(self) -> Collection[str]:
        return [] if self._flow is None else code_of(self._flow.compiled)

    # -- deciding ------------------------------------------------------------------------------------------------

    def decide(self, input: Any, now: Millis) -> Decision:
        flow = self._flow
        if flow is None:
            return Decision()
        builder = DecisionBuilder(flow, self.context, now, self._preparing, self._left)
        match input:
            case TaskResult():
                task_result(builder, input)
            case Start():
                builder.touch_all()
            case ChildFinished():
                self._child(builder, input)
            case TimerFired():
                self._timer(builder, input.token)
            case RetryDue():
                self._retry_due(builder, input.token)
            case Message():
                message(builder, input)
            case Loaded(how="wake" | "recover"):
                after_load(builder)
            case Continue() if self._left:
                start_left(builder)
                fill_all(builder)
            case Loaded() | Continue() | AttemptFailed() | ChildStarted():
                go_on(builder)
            case Resume():
                self._resume(builder, input)
            case Patch():
                patch(builder, input.operations)
            case Cancel():
                self._cancel(builder)
                return builder.decision
            case Decided():
                raise Conflict(
                    "goals.no_approvals", "a run towards goals asks nobody", fix="use a `run` step that does"
                )
            case _:
                assert_never(input)
        if flow.state.status != "active":
            self._deactivate(builder)
        else:
            advance(builder)
        return builder.decision

    def _child(self, builder: DecisionBuilder, child: ChildFinished) -> None:
        found = builder.flow.find(child.token)
        if found is None or not found[2].open or child.run_id != child_id(builder, found[0].id, child.token):
            return
        error = "" if child.status == "completed" else _why(child)
        if not builder.flow.takes_results:
            builder.record(LateResult(found[0].id, child.token, child.output, error))
        elif error:
            failed(builder, found[0], child.token, error, cause=of_child(child, STEP_FAILED, error))
        else:
            answered(builder, found[0], child.token, named_outputs(child.output))

    def _timer(self, builder: DecisionBuilder, token: TaskToken) -> None:
        if token == LINGER:
            if local_work(builder):
                builder.effect(SetTimer(LINGER, Millis(builder.now + LOOK_AGAIN)))
        elif token.startswith(WAIT):
            step_id, _, name = token.removeprefix(WAIT).partition(":")
            step = builder.flow.state.steps[step_id]
            if step.status == "pending" and name in step.waits and not builder.flow.over:
                builder.record(InputClosed(step_id, name))
        elif token.startswith(CALLBACK):
            plan, _, item = builder.flow.at(token.removeprefix(CALLBACK))
            if item.status == "active" and item.accepted_at is not None and builder.flow.takes_results:
                unanswered(builder, plan, token.removeprefix(CALLBACK), item)

    def _retry_due(self, builder: DecisionBuilder, token: TaskToken) -> None:
        """Work waits for a free slot; everything else is retried at once, and so is work that holds a slot because its
        process died in a later attempt."""
        found = builder.flow.find(token)
        if found is None or found[2].status == "active":
            builder.effect(RetryTask(token))
        elif found[1].ended:
            give_up_strays(builder)
        else:
            builder.flow.slots[found[0].id].wait(token)
            fill(builder, found[0])

    def _cancel(self, builder: DecisionBuilder) -> None:
        for token, plan in children(builder):
            builder.effect(CancelChild(child_id(builder, plan.id, token)))

    def _resume(self, builder: DecisionBuilder, resume: Resume) -> None:
        match resume.mode:
            case "retry":
                retry(builder)
            case "settle":
                settle(builder, resume)
            case "rewind":
                raise Conflict(
                    "goals.no_rewind", "a run towards goals can't be rewound", fix="fork it: fork(at=..., edits=...)"
                )
            case "compensate" | "continue" | "requeue":
                pass
            case _:
                assert_never(resume.mode)
        self._reopened = builder.decision.reopen is not None

    def _deactivate(self, builder: DecisionBuilder) -> None:
        """Records, after the outcome, that nothing is in flight any more."""
        flow = builder.flow
        if flow.state.ended_at is not None and flow.takes_results and not flow.active and not to_compensate(flow):
            builder.record(FlowDeactivated(flow.state.status))
            builder.effect(ClearTimer(LINGER))

    # -- effects in flight ---------------------------------------------------------------------------------------

    def pending(self, now: Millis, *, recovered: bool) -> list[Effect]:
        builder = DecisionBuilder(self.flow, self.context, now, self._preparing)
        found = pending_effects(builder, recovered=recovered)
        if self._forked:
            self._forked = False
            found += children_again(builder)
        return found

    def compensations(self) -> list[Task]:
        if self._flow is None:
            return []
        return compensations(DecisionBuilder(self.flow, self.context, Millis(0), self._preparing))

    # -- showing -------------------------------------------------------------------------------------------------

    def nodes(self, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]:
        if self._flow is None:
            return [], []
        return view.nodes(self.flow, self.context.info, tasks)

    def waiting(self, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]:
        return [] if self._flow is None else view.waiting(self._flow, self.context, tasks)

    def details(self) -> dict[str, Any] | None:
        return None if self._flow is None else run_details(self._flow)

    def close(self) -> None:
        """Does nothing: the machine holds no resources."""
