"""The machine of the `goals` dialect: what each input of a run comes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import msgspec
from msgspec import Raw

from plait.kernel.effects import CancelChild, Decision, Effect, RetryTask, RunTask, SetTimer
from plait.kernel.errors import Conflict, ErrorInfo
from plait.kernel.events import Event, RunReopened, RunStarted
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.inputs import (
    Cancel,
    ChildFinished,
    Decided,
    Message,
    Patch,
    Resume,
    RetryDue,
    Start,
    TaskResult,
    TimerFired,
)
from plait.kernel.machine import TaskFacts
from plait.kernel.view import Edge, Node, Reason

from . import callbacks, picture, waits
from .advance import advance
from .blueprint import Blueprint
from .children import child_id
from .events import FlowDeactivated, FlowForked, InputClosed
from .flow import Flow
from .folding import begun, fold
from .outcome import LOOK_AGAIN
from .patching import patch
from .results import task_result
from .state import FlowState
from .taking_up import children, children_again, retry, settle, take_up, under_way
from .tokens import CALLBACK, LINGER, WAIT
from .turn import Around, Turn
from .undoing import compensations
from .work import answered, failed, fill, unanswered

_state = msgspec.json.Decoder(FlowState)
_LOADED = ("wake", "recover")


class GoalsMachine:
    lingers = paces = True

    def __init__(self, around: Around, blueprints: Mapping[int, Blueprint]) -> None:
        self.around = around
        self._blueprints = blueprints
        self._flow: Flow | None = None
        self._preparing: set[str] = set()
        self._reopened = False
        self._forked = False
        """Nothing of what its log has as under way is: another run's past was copied."""

    @property
    def flow(self) -> Flow:
        if self._flow is None:
            raise RuntimeError("the run has not started")
        return self._flow

    # -- folding -------------------------------------------------------------------------------------------------

    def evolve(self, event: Event, at: Millis) -> None:
        if self._reopened and isinstance(event, RunReopened):
            self._reopened = False  # it was folded when it was decided
        elif isinstance(event, RunStarted):
            self._flow = begun(event, at, self._blueprints)
        else:
            self._forked = self._forked or isinstance(event, FlowForked)
            fold(self.flow, event, at)

    def snapshot(self) -> Raw:
        return Raw(msgspec.json.encode(self.flow.state))

    def restore(self, snapshot: Raw) -> None:
        self._flow = Flow(_state.decode(snapshot))

    def weight(self) -> int:
        return 0 if self._flow is None else len(self._flow.state.steps) + len(self._flow.state.finished)

    def backlog(self) -> int:
        return 0

    @property
    def unsettled(self) -> bool:
        flow = self.flow
        return flow.blueprint.undoes and any(
            crew.active and flow.blueprint.steps[step_id].step.compensate for step_id, crew in flow.crews.items()
        )

    @property
    def vigilant(self) -> bool:
        """A step server that took work may have died with our process: it is asked again by the next one."""
        return self._flow is not None and bool(self._flow.recalled)

    # -- deciding ------------------------------------------------------------------------------------------------

    def decide(self, input: Any, now: Millis) -> Decision:
        turn = Turn(self.flow, self.around, now, self._preparing)
        match input:
            case TaskResult():
                task_result(turn, input)
            case Start():
                turn.touch_all()
            case ChildFinished():
                self._child(turn, input)
            case TimerFired():
                self._timer(turn, input.token)
            case RetryDue():
                self._retry_due(turn, input.token)
            case Message():
                callbacks.message(turn, input)
            case Resume():
                self._resume(turn, input)
            case Patch():
                patch(turn, input.operations)
            case Cancel():
                self._cancel(turn)
            case Decided():
                raise Conflict(
                    "goals.no_questions", "a run towards goals asks nobody", fix="use a `run` step that does"
                )
            case _:
                assert_never(input)
        if self.flow.over:
            self._deactivate(turn, loaded=isinstance(input, Resume) and input.mode in _LOADED)
        else:
            advance(turn)
        return turn.decision

    def _child(self, turn: Turn, child: ChildFinished) -> None:
        found = turn.flow.find(child.token)
        if found is None or not found[2].open or child.run_id != child_id(turn, found[0].id, child.token):
            return
        if child.status == "completed":
            answered(turn, found[0], child.token, callbacks.named_outputs(child.output))
        else:
            error = child.error or ErrorInfo("child.failed", f"it was {child.status}")
            failed(turn, found[0], child.token, error.message)

    def _timer(self, turn: Turn, token: TaskToken) -> None:
        if token == LINGER:
            if turn.flow.active:
                turn.effect(SetTimer(LINGER, Millis(turn.now + LOOK_AGAIN)))
        elif token.startswith(WAIT):
            step_id, _, name = token.removeprefix(WAIT).partition(":")
            step = turn.flow.state.steps[step_id]
            if step.status == "pending" and name in step.waits and not turn.flow.over:
                turn.record(InputClosed(step_id, name))
        elif token.startswith(CALLBACK):
            plan, _, item = turn.flow.at(token.removeprefix(CALLBACK))
            if item.status == "active" and item.accepted_at is not None:
                unanswered(turn, plan, token.removeprefix(CALLBACK), item)

    def _retry_due(self, turn: Turn, token: TaskToken) -> None:
        """Work waits for a free slot; everything else is tried again at once."""
        found = turn.flow.find(token)
        if found is None:
            turn.effect(RetryTask(token))
            return
        crew = turn.flow.crews[found[0].id]
        if token not in crew.due:
            crew.due.append(token)
        fill(turn, found[0])

    def _cancel(self, turn: Turn) -> None:
        for token, plan in children(turn):
            turn.effect(CancelChild(child_id(turn, plan.id, token)))

    def _resume(self, turn: Turn, resume: Resume) -> None:
        match resume.mode:
            case "continue" | "wake" | "recover":
                take_up(turn)
            case "retry":
                retry(turn)
            case "settle":
                settle(turn, resume)
            case "rewind":
                raise Conflict(
                    "goals.no_rewind", "a run towards goals can't be rewound", fix="fork it: fork(at=..., edits=...)"
                )
            case "compensate":
                pass
            case _:
                assert_never(resume.mode)
        self._reopened = turn.decision.reopen is not None

    def _deactivate(self, turn: Turn, *, loaded: bool) -> None:
        """After the outcome, once nothing is under way any more. What was when the process died is never done again,
        but the answer of a step server may still come."""
        flow = turn.flow
        if flow.state.ended_at is None or flow.state.deactivated_at is not None or not flow.state.outlived:
            return
        if not flow.active or (loaded and not flow.awaited):
            turn.record(FlowDeactivated(flow.state.status))

    # -- what must be under way ----------------------------------------------------------------------------------

    def pending(self, now: Millis, *, recovered: bool) -> list[Effect]:
        turn = Turn(self.flow, self.around, now, self._preparing)
        found = under_way(turn, recovered=recovered)
        if self._forked:
            self._forked = False
            found += children_again(turn)
        return found

    def compensations(self) -> list[RunTask]:
        return compensations(Turn(self.flow, self.around, Millis(0), self._preparing))

    # -- showing -------------------------------------------------------------------------------------------------

    def nodes(self, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]:
        return picture.nodes(self.flow, self.around.info, tasks)

    def waiting(self, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]:
        return [] if self._flow is None else waits.waiting(self._flow, self.around, tasks)

    def details(self) -> dict[str, Any] | None:
        return None if self._flow is None else picture.details(self._flow)

    def close(self) -> None:
        """Holds nothing of the world."""
