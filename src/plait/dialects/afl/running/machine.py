"""The machine of the `afl` dialect: what follows from each input of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, assert_never

import msgspec
from msgspec import Raw

from plait.kernel.effects import Decision, Effect
from plait.kernel.errors import Conflict, ErrorInfo
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

from . import view, waiting
from .afl_run import AflRun
from .compensation import compensations
from .details import run_details
from .ending import end_live
from .events import AflForked, AflLogEvent, AflStarted
from .evolve import begun, fold
from .failures import error
from .iteration import Iteration, RunContext
from .programs import Programs
from .recovery import under_way
from .reopening import retry, settle_letter
from .results import child_finished, message, set_result, task_result
from .settle import close, iterate
from .state import AflState
from .work import CALL_HANDLER, code_name

_state = msgspec.json.Decoder(AflState)
_encode = msgspec.json.Encoder().encode


class AflMachine:
    keeps_late_messages = True
    accepts_late_results = finishes_cancelled_work = compensates_failures = False
    gates_retries = compacts = reload_on_takeover = adds_dead_letters = False
    stops_at_failed_compensation = False

    def __init__(self, context: RunContext, programs: Programs) -> None:
        self.context = context
        self._programs = programs
        self._run: AflRun | None = None
        self._reopened = False
        self._forked = False
        """Whether this is a fresh fork, where nothing that its copied log has in flight really is."""

    @property
    def run(self) -> AflRun:
        if self._run is None:
            raise RuntimeError("the run has not started")
        if self._run.folded:
            self._run.rebuild()
        return self._run

    @property
    def started(self) -> bool:
        return self._run is not None

    # -- folding -------------------------------------------------------------------------------------------------

    def evolve(self, event: Event, at: Millis) -> None:
        if self._reopened and isinstance(event, RunReopened):
            self._reopened = False  # already folded when it was decided
        elif isinstance(event, RunStarted):
            self._take(begun(event))
        elif self._run is not None:  # otherwise it was cancelled before it was started
            self._forked = self._forked or isinstance(event, AflForked)
            fold(self._run.state, event, at)
            if isinstance(event, AflLogEvent):
                self._run.folded = True

    def _take(self, state: AflState) -> None:
        self._run = AflRun(state, self._programs.of(state.start), self.context.info.run_id)

    def snapshot(self) -> Raw:
        assert self._run is not None
        return Raw(_encode(self._run.state))

    def restore(self, snapshot: Raw) -> None:
        self._take(_state.decode(snapshot))

    def weight(self) -> int:
        return 0 if self._run is None else len(self._run.state.steps) + len(self._run.state.events)

    def backlog(self) -> int:
        return 0

    def needed_code(self) -> Collection[str]:
        bindings = () if self._run is None else self._run.state.start.bindings.values()
        return [code_name(binding.name) for binding in bindings if binding.kind == "python"]

    def called_code(self, task: Task) -> str | None:
        return code_name(task.input.handler) if task.kind == CALL_HANDLER else None

    # -- deciding ------------------------------------------------------------------------------------------------

    def decide(self, input: Any, now: Millis) -> Decision:
        if self._run is None:
            return Decision()
        run = self.run
        it = Iteration(run, self.context, now, over=run.state.status != "running")
        self._decide(it, input)
        if not it.over:
            iterate(it)
        elif it.moved:
            raise AssertionError("an ended run does not move")
        self._reopened = it.decision.reopen is not None
        return it.decision

    def _decide(self, it: Iteration, input: Any) -> None:
        match input:
            case Start():
                self._start(it)
            case TaskResult() if not it.over:
                task_result(it, input)
            case ChildFinished() if not it.over:
                child_finished(it, input)
            case Message():
                message(it, input)
            case Loaded():
                self._loaded(it, input)
            case Resume():
                self._resume(it, input)
            case Patch():
                fix = "start a new run, or fork this one"
                raise Conflict("AFL_UNSUPPORTED", "an AFL run can't be patched", fix=fix)
            case Cancel():
                _cancel(it, input)
            case Decided():
                raise Conflict("AFL_UNSUPPORTED", "an AFL run asks nobody for approval")
            case (
                TaskResult()
                | ChildFinished()
                | ChildStarted()
                | TimerFired()
                | Continue()
                | RetryDue()
                | AttemptFailed()
            ):
                pass
            case _:
                assert_never(input)

    def _start(self, it: Iteration) -> None:
        state = it.run.state
        start = state.start
        state.started = True
        bindings = {name: msgspec.to_builtins(each) for name, each in start.bindings.items()}
        it.record(
            AflStarted(start.workflow, start.hash, state.input, bindings, workflow_version=start.workflow_version)
        )
        it.create("Workflow", container=None, name=it.run.workflow.short, facet=start.workflow)

    def _loaded(self, it: Iteration, loaded: Loaded) -> None:
        state = it.run.state
        if it.over:
            return
        if not state.started:  # a fork from the start
            self._start(it)
        for id, result in list(state.given.items()):
            set_result(it, TaskToken(id), result)

    def _resume(self, it: Iteration, request: Resume) -> None:
        match request.mode:
            case "retry":
                retry(it, request)
                it.over = False
            case "settle":
                settle_letter(it, request)
                it.over = it.run.state.status != "running"
            case "rewind":
                raise Conflict("AFL_UNSUPPORTED", "an AFL run can't be rewound", fix="fork it: fork(at=..., edits=...)")
            case "compensate" | "continue" | "requeue":
                pass
            case _:
                assert_never(request.mode)

    # -- effects in flight ---------------------------------------------------------------------------------------

    def pending(self, now: Millis, *, recovered: bool) -> list[Effect]:
        forked, self._forked = self._forked, False
        return under_way(self.run, self.context.info.run_id, forked=forked)

    def compensations(self) -> list[Task]:
        return [] if self._run is None else compensations(self.run, self.context.info.run_id)

    # -- showing -------------------------------------------------------------------------------------------------

    def nodes(self, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]:
        return ([], []) if self._run is None else view.nodes(self.run, self.context.info, tasks)

    def waiting(self, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]:
        return [] if self._run is None else waiting.reasons(self.run, self.context.info, tasks)

    def details(self) -> dict[str, Any] | None:
        return None if self._run is None else run_details(self.run)

    def close(self) -> None:
        """Does nothing: the machine holds no resources."""


def _cancel(it: Iteration, request: Cancel) -> None:
    """Ends live steps, withdraws open events, and cancels children in one commit."""
    if it.over:
        return
    if request.cause == "cancel":
        why = error("cancelled", request.reason or "the run was cancelled")
    else:
        found = request.error or ErrorInfo(request.cause, f"the run was ended: {request.cause}")
        why = error("deadline" if request.cause == "deadline" else found.code, found.message)
    end_live(it, why)
    if it.moved:
        close(it)
    it.over = True
