"""The machine of the `code` dialect: a history, and a workflow function that is replayed against it.

The function runs inside `decide`, the one exception to the rule that no user code does: it is stepped
on a private event loop and can only wait for what the kernel delivers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, assert_never

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.effects import Decision, Effect, WithdrawApproval
from plait.kernel.errors import Conflict, ErrorInfo, PlaitError
from plait.kernel.events import Event, RunReopened, RunStarted
from plait.kernel.ids import Millis, TaskToken, caller_id
from plait.kernel.inputs import (
    Cancel,
    ChildFinished,
    ChildStarted,
    Continue,
    Decided,
    Loaded,
    Message,
    Patch,
    Resume,
    Start,
    TaskResult,
    TimerFired,
)
from plait.kernel.machine import TaskFacts
from plait.kernel.task import Task
from plait.kernel.view import Edge, Node, Reason

from . import view
from .agents import AgentOp
from .answering import no_such
from .approvals import Verdict
from .compensation import Undoing, returns_of
from .context import entry
from .coverage import Spares
from .errors import exhausted
from .events import (
    MessageQueued,
    OpClosed,
    RunBlocked,
    RunRecovered,
    RunRewound,
)
from .op import Op, revoking
from .op_state import OpState
from .recovery import spare, stopped
from .registry import AnyWorkflow
from .replay import Replay
from .replayer import Replayer, input_misfit
from .result_check import checked_result
from .steps import StepOp

_ARMED = ("step", "sleep", "timer", "message", "approval", "child")


class CodeMachine(Replayer):
    accepts_late_results = finishes_cancelled_work = gates_retries = reload_on_takeover = False
    keeps_late_messages = True
    stops_at_failed_compensation = compensates_failures = True
    adds_dead_letters = False

    # -- folding -------------------------------------------------------------------------------------------------

    def evolve(self, event: Event, at: Millis) -> None:
        if self._reopened and isinstance(event, RunReopened):
            self._reopened = False
            return
        if type(event) is RunStarted:
            self._started = True
        self.history.evolve(event, at)

    def snapshot(self) -> Raw:
        return self.history.snapshot()

    def restore(self, snapshot: Raw) -> None:
        self.history.restore(snapshot)
        self._started = True

    @property
    def compacts(self) -> bool:
        return self.history.trimmed

    def weight(self) -> int:
        history = self.history
        return len(history.ops) + len(history.undoables) + len(history.queue)

    def backlog(self) -> int:
        return len(self.history.queue)

    # -- deciding ------------------------------------------------------------------------------------------------

    def decide(self, input: Any, now: Millis) -> Decision:
        decision = self._decision = Decision()
        self._now = now
        if type(input) is TaskResult:  # by far the most common
            self._task_result(input)
        elif type(input) is Start:
            self._play()
        else:
            self._decide(input)
        return decision

    def _decide(self, input: Any) -> None:
        match input:
            case TimerFired():
                self._timer(input.token)
            case Message():
                self._hear(input)
            case ChildFinished():
                self._child(input)
            case ChildStarted():
                self._child_started(input)
            case Decided():
                self._decided(input)
            case Loaded() | Continue():
                self._go_on()
            case Resume():
                self._resume(input)
            case Cancel():
                self._stop()
            case Patch():
                raise Conflict(
                    "CODE_PATCH_UNSUPPORTED",
                    "a run of the code dialect can't be patched",
                    why="its steps are in the code, not in a document",
                    fix="use fork(at=..., edits=...)",
                )
            case _:
                assert_never(input)

    def _task_result(self, result: TaskResult) -> None:
        op = self._open_op(result.token)
        if op is None:
            return
        if result.opening and result.error is None:
            awaited = None if self._replay is None else self._replay.waiting.get(op.at)
            if type(awaited) is StepOp:
                result = checked_result(f"step `{awaited.name}`", awaited.returns, result)
        if result.error is None and result.attempt == 1 and not result.queued:  # by far the most common
            self._record(OpClosed(op.at, "completed", result.output))
        elif result.error is None:
            self._record(OpClosed(op.at, "completed", result.output, attempts=result.attempt, queued=result.queued))
        else:
            error = _final_error(op, result.error, result)
            self._record(OpClosed(op.at, "failed", error=error, attempts=result.attempt, queued=result.queued))
        self._pump()

    def _timer(self, token: TaskToken) -> None:
        op = self._open_op(token)
        if op is None:
            return
        if op.kind == "message" and self.history.promised(op):
            # A message that has arrived when the deadline is handled wins; a blocked run gets it once unblocked
            if self._replay is not None:
                self._replay.feed_all()
        else:
            self._effects([WithdrawApproval(token, "expired")] if op.kind == "approval" else [])
            self._record(OpClosed(op.at, messages=[] if op.kind == "message" else None))
        self._pump()

    def _hear(self, message: Message) -> None:
        match message.purpose:
            case "message":
                self._message(message)
            case "update":
                self._update(message)
            case "query":
                try:
                    self._decision.reply = self.query(message.name, message.body, self._now)
                except PlaitError as refusal:
                    self._decision.refusal = refusal
            case _:
                assert_never(message.purpose)

    def query(self, name: str, argument: Raw, now: Millis) -> Raw:
        """The workflow's answer in its current state; raises a `PlaitError` to refuse. Runs on a copy, so that nothing
        a handler changes persists."""
        definition = self._definition()
        if definition is None:
            raise self._not_loaded()
        scratch = self._scratch()
        answers: list[Raw] = []

        def ask(replay: Replay) -> None:
            if replay.blocked is not None:
                raise Conflict(
                    replay.blocked.code, f"run {caller_id(self.info.run_id)} is blocked", why=replay.blocked.fix
                )
            if replay.answering is None:
                raise no_such("query", self.info.run_id, name, {})
            answers.append(replay.answering.query(self.info.run_id, name, argument, self._around.max_payload))

        scratch.rehearse(definition, now, look=ask)
        return answers[0]

    def _message(self, message: Message) -> None:
        if message.id in self.history.seen:
            return
        self._record(MessageQueued(message.id, message.name, message.body, message.sent_at))
        if self._replay is not None and self.history.ended is None:  # a blocked run takes no messages
            self._replay.feed_all(message.name)
        self._pump()

    def _child(self, child: ChildFinished) -> None:
        op = self._open_op(child.token)
        if op is None or op.run_id != child.run_id:
            return
        if self.history.ended is not None and not op.keep:
            return  # cancelled with this run; a retry starts it again
        if op.detached and child.status != "refused":
            return  # only its start was awaited
        if child.status == "completed":
            self._record(OpClosed(op.at, "completed", child.output))
        elif child.status == "refused":
            self._record(OpClosed(op.at, "failed", error=child.error))
        else:
            cause = child.error or ErrorInfo("child.failed", "it failed")
            attrs = {"run_id": caller_id(child.run_id), "status": child.status}
            error = ErrorInfo("child.failed", cause.message, kind="child", attrs=attrs, cause=cause)
            self._record(OpClosed(op.at, "failed", error=error))
        self._pump()

    def _child_started(self, child: ChildStarted) -> None:
        op = self._open_op(child.token)
        if op is not None and op.run_id == child.run_id and op.detached:
            self._record(OpClosed(op.at, "completed", values.encode(caller_id(child.run_id))))
            self._pump()

    def _decided(self, decided: Decided) -> None:
        op = self._open_op(decided.token)
        if op is None:
            raise Conflict("kernel.approval_decided", "this was decided already, or is not asked any more")
        verdict = Verdict(decided.decision, decided.by, decided.comment, values.decode(decided.data))
        self._effects(revoking(op, decided.token))
        self._record(OpClosed(op.at, "completed", values.encode(verdict)))
        self._pump()

    def _resume(self, resume: Resume) -> None:
        match resume.mode:
            case "retry":
                if self.history.blocked is not None or self._unloaded:
                    self._play()
                else:
                    self._recover()
            case "rewind":
                self._rewind(resume)
            case "settle":
                self._settle(resume)
            case "compensate" | "continue" | "requeue":
                pass
            case _:
                assert_never(resume.mode)

    def _go_on(self) -> None:
        """Continues a run that was just loaded, or whose previous decision left work."""
        if self._replay is not None:
            self._pump()
        elif self._started:
            self._play_again() if self.history.fresh_fork else self._play()

    # -- retry and rewind ----------------------------------------------------------------------------------------

    def _recover(self) -> None:
        self._must_not_be_undone()
        if self.history.ended != "failed":
            return
        causes = list(self.history.causes)
        reset = [*causes, *stopped(self.history, causes)]
        definition = self._definition()
        fits = None if definition is None else partial(self._fits, definition)
        spares = spare(self.history, causes, reset, fits)
        self._reopen("retry")
        self._record(RunRecovered(reset, spares))
        self._decision.retried = [self._token(path) for path in causes]
        self._play_again(reset)

    def _fits(self, definition: AnyWorkflow, reset: list[str], spares: Spares) -> bool:
        scratch = self._scratch()
        if reset:
            scratch.history.evolve(RunReopened("retry"), self._now)
            scratch.history.evolve(RunRecovered(reset), self._now)
        return scratch.rehearse(definition, self._now, spares=spares).blocked is None

    def _scratch(self) -> CodeMachine:
        """A copy to try things with."""
        copy = CodeMachine(self._around)
        copy.restore(self.history.snapshot())
        return copy

    def _settle(self, resume: Resume) -> None:
        op = self.history.ops.get(self._path(resume.token or TaskToken("")))
        if resume.verdict == "discard":
            return
        if op is None or op.status != "failed" or op.at not in self.history.causes:
            raise Conflict(
                "kernel.dead_letter_settled",
                "the run does not wait for this task any more",
                why="its workflow handled the failure and went on, or the run has ended",
                fix="discard the dead letter, or fork the run",
            )
        self._recover()

    def _rewind(self, resume: Resume) -> None:
        self._must_not_be_undone()
        if not resume.state:
            raise Conflict("CODE_REWIND_TARGET", f"nothing is recorded at `{resume.at}`")
        if self.history.ended is None:
            self._stop()
        self._reopen("rewind")
        self._record(RunRewound(resume.at, resume.state))
        self._play_again()

    def _must_not_be_undone(self) -> None:
        if self.history.rolled_back:
            raise Conflict(
                "CODE_ROLLED_BACK",
                "the run has undone its work",
                why="what its steps did is no longer there to build on",
                fix="start a new run" if self._around.embedded else "use fork(at=..., edits=...), or start a new run",
            )

    def _reopen(self, cause: str) -> None:
        """The kernel records this event before those of this decision, so it is folded first here too."""
        if self.history.ended is not None:
            self._decision.reopen = cause
            self.history.evolve(RunReopened(cause), self._now)
            self._reopened = True

    def _play_again(self, reset: Collection[str] = ()) -> None:
        """Replays, and restarts what is open in the history but not in flight."""
        self.history.forked_seq = 0
        paths = [op.at for op in self.history.open_ops() if op.kind in _ARMED]
        self._play(again=True)
        if self._replay is None or self._replay.over:
            return
        for path in paths:
            op, state = self._replay.waiting.get(path), self.history.ops.get(path)
            if op is None or state is None or state.status != "open":
                continue
            if isinstance(op, StepOp | AgentOp):
                self._effect(op.task())
            elif op.kind != "child":
                op.begin(state)
            elif path in reset or not state.keep:  # a kept child that did not fail went on without its parent
                self._start_child_again(op, state)
        self._pump()

    def _start_child_again(self, op: Op[Any], state: OpState) -> None:
        if not state.given:
            op.begin(state)
            return
        text = (
            f"run {caller_id(state.run_id or self.info.run_id)} has ended, and its id is taken: retry that run itself"
        )
        self._record(OpClosed(op.at, "failed", error=ErrorInfo("kernel.run_exists", text, kind="conflict")))

    # -- effects in flight ---------------------------------------------------------------------------------------

    def pending(self, now: Millis, *, recovered: bool) -> list[Effect]:
        waiting = self._replay.waiting.values() if self._replay is not None else ()
        return [op.task() for op in waiting if isinstance(op, StepOp | AgentOp) and self._is_open(op.at)]

    def compensations(self) -> list[Task]:
        return self._undoing().tasks(self._replay.handlers if self._replay is not None else {}, self._now)

    def _undoing(self) -> Undoing:
        return Undoing(self.history, self._around, self._definition)

    def type_of(self, path: str) -> Any:
        """The type of an operation's result, as the loaded code has it."""
        op = self.history.ops.get(path)
        if op is not None and op.fn is not None and (found := returns_of(op.fn)) is not Any:
            return found
        collected = self._undoing().collect(self._now)
        return Any if collected is None or collected.types is None else collected.types.get(path, Any)

    # -- showing -------------------------------------------------------------------------------------------------

    def nodes(self, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]:
        return view.nodes(self.history, tasks, self._token)

    def waiting(self, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]:
        return view.waiting(self.history, tasks, self._token, self._around.info.definition)

    def details(self) -> None:
        return None

    def check(self, now: Millis) -> RunBlocked | None:
        """Whether the loaded code fits the history; starts and records nothing."""
        definition = self._definition()
        if definition is None:
            raise self._not_loaded()
        return self._scratch().rehearse(definition, now).blocked

    def rehearse(
        self,
        definition: AnyWorkflow,
        now: Millis,
        *,
        spares: Spares | None = None,
        look: Callable[[Replay], None] | None = None,
    ) -> Replay:
        """Replays the function without effects and lets `look` inspect the result. The machine is spent after that."""
        self._now, self._decision = now, Decision()
        replay = Replay(definition, self.history, self._around, self._record_as_code, _ignore, spares=spares)
        replay.loop.quiet = True
        try:
            replay.start(entry(definition, self.history.input), now)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            replay.blocked = input_misfit(definition, error)
        try:
            if look is not None:
                look(replay)
        finally:
            replay.evict()
        return replay


def _final_error(op: OpState, error: ErrorInfo, result: TaskResult) -> ErrorInfo:
    """Exhausted attempts get their own error; an error that a step raised as final stays as it is."""
    name = op.location[-1]
    if error.kind == "not_encodable":
        return msgspec.structs.replace(error, message=f"the result of step `{name}`: {error.message}")
    if not result.retryable or error.kind == "interrupted":
        return error
    return ErrorInfo(
        "step.exhausted",
        exhausted(str(name), result.attempt, error.message),
        kind="exhausted",
        attrs={"step": str(name), "attempts": result.attempt},
        cause=error,
    )


def _ignore(_: object) -> None:
    return None
