"""One live run in its owner's memory: the machine, and what the kernel itself knows of the run.

`handle` takes one input and returns a draft: the events and rows to commit, and what to start once
they are on disk. It does no I/O. The state it leaves behind is true only if the draft is committed;
when a commit is refused the whole object is dropped and built again from the log.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Any, assert_never

import msgspec
from msgspec import Raw

from . import values
from .draft import Draft
from .effects import (
    AskHuman,
    Block,
    CancelChild,
    CancelTask,
    ClearTimer,
    Decision,
    Effect,
    Finish,
    RunTask,
    SendMessage,
    SetTimer,
    StartChild,
    WithdrawQuestion,
)
from .errors import Conflict, ErrorInfo, PlaitError
from .events import (
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
from .failures import describe
from .ids import Epoch, Ids, Millis, RunId, Seq, TaskToken, caller_id, shard_of
from .inputs import (
    AnyInput,
    Cancel,
    ChildFinished,
    Decided,
    Message,
    Patch,
    Resume,
    Start,
    TaskResult,
    TimerFired,
)
from .limits import Limits, exceeded
from .machine import Machine, RunInfo
from .rollback import Rollback
from .store import DeadLetter, InboxRow, NewChild, Question, RunPatch, RunRow, Settled, Snapshot, Taken, TimerRow
from .tasks import Again, Final, Late, TaskBook
from .view import RunStatus

log = logging.getLogger("plait.kernel")

DEADLINE = TaskToken("~deadline")
_RETRY = "~retry:"
_SNAPSHOT_EVERY = 1000
_INPUTS_AT_ONCE = 1000

FinalEvent = RunCompleted | RunFailed | RunCancelled


class KernelState(msgspec.Struct, omit_defaults=True):
    """The kernel's half of a snapshot."""

    status: RunStatus
    attempts: list[TaskRetryScheduled] = []
    rollback: Rollback | None = None
    final: FinalEvent | None = None


class Run:
    def __init__(self, info: RunInfo, machine: Machine, *, ids: Ids, limits: Limits, epoch: Epoch) -> None:
        self.info = info
        self.id = info.run_id
        self.shard = shard_of(info.run_id)
        self.epoch = epoch
        self.machine = machine
        self.seq = 0
        self.at = Millis(0)
        self.status: RunStatus = "running"
        self.started = False
        self.blocked: ErrorInfo | None = None
        self.tasks = TaskBook()
        self.rollback: Rollback | None = None
        self.final: FinalEvent | None = None
        self.ended_at: Millis | None = None
        self.recoveries = 0
        self.full = False
        self.snapshot_seq = 0
        self._ids = ids
        self._limits = limits
        self._row_awake = True
        self._row_stale = False

        # The run loop's own marks
        self.mailbox: deque[tuple[AnyInput, str | None]] = deque()
        self.queued = False
        self.create: RunRow | None = None

    # -- building up ---------------------------------------------------------------------------------------------

    def adopt(self, row: RunRow) -> None:
        """What only the row knows."""
        self.blocked, self.recoveries, self.full = row.blocked, row.recoveries, row.full
        self._row_awake, self.ended_at = row.awake, row.ended_at

    def suspect(self) -> None:
        """It was awake each time the process died: count before it is started again."""
        self.recoveries += 1
        self._row_stale = True

    def fold(self, event: Event, at: Millis) -> None:
        """Takes in one recorded event."""
        self.seq += 1
        self.at = max(self.at, at)
        self._evolve(event)
        self.machine.evolve(event, at)

    def restore(self, state: KernelState, seq: int, at: Millis) -> None:
        self.seq = self.snapshot_seq = seq
        self.at = at
        self.started = True
        self.status, self.rollback, self.final = state.status, state.rollback, state.final
        for event in state.attempts:
            self.tasks.evolve(event)

    def kernel_state(self) -> KernelState:
        return KernelState(self.status, self.tasks.dump(), self.rollback, self.final)

    def _evolve(self, event: Event) -> None:
        match event:
            case RunStarted():
                self.started = True
            case RunCompleted():
                self.status, self.final = "completed", event
            case RunFailed():
                self.status, self.final = "failed", event
            case RunCancelled():
                self.status, self.final = "cancelled", event
            case RunReopened():
                self.status = "running"
            case TaskRetryScheduled():
                self.tasks.evolve(event)
            case TaskDeadLettered():
                self.tasks.close(event.token)
            case RollbackStarted():
                self.rollback = Rollback.begun(event, self.rollback)
            case RollbackStep():
                if self.rollback is not None:
                    self.rollback.evolve(event)
            case RollbackEnded():
                if self.rollback is not None:
                    self.rollback.over = True
            case _:
                pass

    # -- deciding ------------------------------------------------------------------------------------------------

    def advance(self, now: Millis) -> Draft:
        """All inputs that wait in the mailbox, decided one after the other, as one draft."""
        self.at = now = max(now, self.at)
        draft = Draft(self.id, self.shard, self.epoch, self.seq + 1, now)
        draft.create, self.create = self.create, None
        mailbox = self.mailbox
        for _ in range(min(len(mailbox), _INPUTS_AT_ONCE)):
            input, key = mailbox.popleft()
            self.handle(input, draft, key)
        self._close_draft(draft)
        return draft

    def handle(self, input: AnyInput, draft: Draft, key: str | None = None) -> None:
        """One input; what follows from it is added to the draft."""
        reply: bytes | None = None
        try:
            answer = self._route(input, draft, draft.at)
            reply = None if answer is None else bytes(answer)
        except PlaitError as refusal:
            reply = values.plain({"error": describe(refusal), "status": refusal.status})
        if key is not None:
            draft.taken = [*(draft.taken or ()), Taken(key, reply)]
        self._check_limits(draft)

    def _route(self, input: AnyInput, draft: Draft, now: Millis) -> Raw | None:
        match input:
            case TaskResult():
                self._task_result(input, draft, now)
            case TimerFired():
                self._timer(input, draft, now)
            case Start():
                self._start(input, draft, now)
            case Cancel():
                self._cancel(input, draft, now)
            case Resume():
                return self._resume(input, draft, now)
            case Message() | Decided() | Patch():
                self._must_run()
                return self._ask(input, draft, now)
            case ChildFinished():
                if self.status == "running":
                    self._ask(input, draft, now)
            case _:
                assert_never(input)
        return None

    def _must_run(self) -> None:
        if self.status != "running":
            raise Conflict(
                "kernel.run_finished",
                f"run {caller_id(self.id)} has {self.status}",
                why="an ended run takes no inputs",
                fix="start a new run, or fork or retry this one",
            )

    def _start(self, start: Start, draft: Draft, now: Millis) -> None:
        if self.started:
            return
        event = RunStarted(
            dialect=start.dialect,
            definition=start.definition,
            input=start.input,
            version=start.version,
            seed=start.seed,
            parent=self.info.parent,
            deadline=start.deadline,
            labels=start.labels,
            data=start.data,
        )
        self._emit(event, draft)
        if start.deadline is not None:
            self._set_timer(DEADLINE, start.deadline, draft)
        self._ask(start, draft, now)

    def _task_result(self, result: TaskResult, draft: Draft, now: Millis) -> None:
        if self.status != "running":
            self.tasks.close(result.token)
            self._late(result, draft)
            return
        verdict = self.tasks.judge(result, now, self._ids)
        match verdict:
            case Final():
                self.tasks.close(result.token)
                self._settle(verdict, draft, now)
            case Again():
                self._emit(verdict.event, draft)
                self._set_timer(TaskToken(_RETRY + result.token), verdict.event.due, draft)
            case Late():
                self._late(result, draft)
            case _:
                assert_never(verdict)

    def _late(self, result: TaskResult, draft: Draft) -> None:
        self._emit(TaskLate(result.token, result.attempt, result.output or values.NULL, result.error), draft)

    def _settle(self, verdict: Final, draft: Draft, now: Millis) -> None:
        result = verdict.result
        if verdict.exhausted and result.error is not None:
            self._dead_letter(verdict.task, result.attempt, result.error, draft)
        if self.rollback is not None and not self.rollback.over:
            self._rollback_step(result, draft, now)
        elif result.attempt == 1:
            self._ask(result, draft, now)
        else:
            self._ask(msgspec.structs.replace(result, attempts=result.attempt), draft, now)

    def _dead_letter(self, task: RunTask, attempts: int, error: ErrorInfo, draft: Draft) -> None:
        self._emit(TaskDeadLettered(task.token, attempts, error), draft)
        letter = DeadLetter(
            self._letter_id(task.token), self.id, self.info.namespace, task.token, task.label, attempts, error, draft.at
        )
        draft.dead_letters = [*(draft.dead_letters or ()), letter]

    def _letter_id(self, token: TaskToken) -> str:
        return f"{self.id}:{token}"

    def _timer(self, fired: TimerFired, draft: Draft, now: Millis) -> None:
        token = fired.token
        self._clear_timer(token, draft)
        if self.status != "running":
            return
        if token == DEADLINE:
            error = ErrorInfo("kernel.deadline_exceeded", "the run's deadline passed", kind="deadline")
            self._cancel(Cancel(cause="deadline", error=error), draft, now)
        elif token.startswith(_RETRY):
            again = self.tasks.retry(TaskToken(token[len(_RETRY) :]))
            if again is not None:
                draft.tasks.append(again)
        else:
            self._ask(fired, draft, now)

    def _cancel(self, cancel: Cancel, draft: Draft, now: Millis) -> None:
        if self.status != "running" or (self.rollback is not None and not self.rollback.over):
            return  # sticky: a run that ends, or undoes its work, is not cancelled again
        self._ask(cancel, draft, now)
        for token in list(self.tasks):
            self._revoke(token, draft)
        if cancel.cause == "cancel" and not cancel.compensate:
            self._end(RunCancelled(cancel.reason), draft)
        else:
            started = RollbackStarted(cancel.cause, cancel.error, cancel.reason)
            self._end_or_roll_back(started, draft, now)

    def _resume(self, resume: Resume, draft: Draft, now: Millis) -> Raw | None:
        match resume.mode:
            case "continue":
                if not self.started:
                    return None
                if self.status == "running" and not self._rolling_back:
                    self._ask(resume, draft, now)
                self._take_up_pending(draft, now)
            case "settle":
                self._settle_dead_letter(resume, draft, now)
            case "compensate":
                if self.status == "running":
                    raise Conflict(
                        "kernel.still_running", "the run is still running", fix="cancel it with compensate=True"
                    )
                self._reopen("compensate", draft)
                self._end_or_roll_back(RollbackStarted("request"), draft, now)
            case "retry" | "rewind":
                if self._rolling_back and self.rollback is not None and self.rollback.stuck is not None:
                    self._restart_stuck(draft, now)
                else:
                    return self._ask(resume, draft, now)
            case _:
                assert_never(resume.mode)
        return None

    # -- the machine's decisions ---------------------------------------------------------------------------------

    def _ask(self, input: Any, draft: Draft, now: Millis) -> Raw | None:
        try:
            decision = self.machine.decide(input, now)
        except PlaitError:
            raise
        except Exception as error:
            log.exception("the %s machine of run %s failed; the run is blocked", self.info.dialect, self.id)
            info = describe(error, kind="machine", code="kernel.machine_error")
            decision = Decision(effects=[Block(info)])
        self._take(decision, draft, now)
        return decision.reply

    def _take(self, decision: Decision, draft: Draft, now: Millis) -> None:
        if decision.reopen is not None:
            self._reopen(decision.reopen, draft)
            letters = [Settled(self._letter_id(token), "retried") for token in decision.retried]
            draft.settled = [*(draft.settled or ()), *letters]
        events = decision.events
        draft.events += events
        self.seq += len(events)
        draft.more = decision.more
        for effect in decision.effects:
            if type(effect) is RunTask:  # by far the most common
                attempt = self.tasks.open(effect, now)
                if attempt is not None:
                    draft.tasks.append((effect, attempt))
            else:
                self._effect(effect, draft, now)

    def _effect(self, effect: Effect, draft: Draft, now: Millis) -> None:
        match effect:
            case RunTask():
                pass
            case Finish():
                self._finish(effect, draft, now)
            case CancelTask():
                self._revoke(effect.token, draft)
            case SetTimer():
                self._set_timer(effect.token, effect.due, draft)
            case ClearTimer():
                self._clear_timer(effect.token, draft)
            case StartChild():
                draft.children = [*(draft.children or ()), self._child(effect, now)]
            case CancelChild():
                self._send(effect.run_id, f"cancel:{self.id}", Cancel(effect.reason), draft)
            case SendMessage():
                self._send_message(effect, draft)
            case AskHuman():
                question = Question(
                    f"{self.id}:{effect.token}",
                    self.id,
                    self.info.namespace,
                    effect.token,
                    effect.title,
                    effect.by,
                    now,
                    effect.deadline,
                )
                draft.questions = [*(draft.questions or ()), question]
            case WithdrawQuestion():
                draft.answered = [*(draft.answered or ()), effect.token]
            case Block():
                draft.unblocked = effect.error is None and self.blocked is not None
                self._row_stale = self._row_stale or self.blocked != effect.error
                self.blocked = effect.error
            case _:
                assert_never(effect)

    def _emit(self, event: Event, draft: Draft) -> None:
        """Records one of the kernel's own events."""
        draft.events.append(event)
        self.seq += 1
        self._evolve(event)
        self.machine.evolve(event, draft.at)

    def _set_timer(self, token: TaskToken, due: Millis, draft: Draft) -> None:
        draft.timers = [*(draft.timers or ()), TimerRow(self.id, self.shard, token, due)]

    def _revoke(self, token: TaskToken, draft: Draft) -> None:
        if self.tasks.close(token):
            draft.revoked = [*(draft.revoked or ()), token]
            self._clear_timer(TaskToken(_RETRY + token), draft)

    def _clear_timer(self, token: TaskToken, draft: Draft) -> None:
        draft.cleared = [*(draft.cleared or ()), token]
        draft.timers = [timer for timer in draft.timers or () if timer.token != token]

    def _clear_all(self, draft: Draft) -> None:
        draft.clear_all = True
        draft.timers = draft.questions = None

    def _child(self, child: StartChild, now: Millis) -> NewChild:
        shard = shard_of(child.run_id)
        row = RunRow(
            id=child.run_id,
            namespace=self.info.namespace,
            dialect=child.dialect,
            definition=child.definition,
            version=child.version,
            shard=shard,
            parent=self.id,
            parent_token=child.token,
            depth=self.info.depth + 1,
            labels=child.labels,
            created_at=now,
            deadline=child.deadline,
        )
        start = Start(
            child.dialect,
            child.definition,
            child.input,
            child.version,
            self._ids.seed(),
            child.deadline,
            child.labels,
            child.data,
        )
        taken = ErrorInfo(
            "kernel.run_exists", f"run {caller_id(child.run_id)} exists and is not a child of this one", kind="conflict"
        )
        refusal = ChildFinished(child.token, child.run_id, "refused", error=taken)
        return NewChild(
            row,
            InboxRow(child.run_id, shard, "start", values.plain(start), now),
            InboxRow(self.id, self.shard, f"child:{child.run_id}:refused", values.plain(refusal), now),
        )

    def _send(self, run_id: RunId, key: str, input: AnyInput, draft: Draft, fallback: DeadLetter | None = None) -> None:
        row = InboxRow(run_id, shard_of(run_id), key, values.plain(input), draft.at, fallback)
        draft.inbox = [*(draft.inbox or ()), row]

    def _send_message(self, effect: SendMessage, draft: Draft) -> None:
        error = ErrorInfo("kernel.undeliverable", f"run {caller_id(effect.run_id)} is unknown or has ended")
        token = TaskToken(effect.key)
        letter = DeadLetter(
            self._letter_id(token), self.id, self.info.namespace, token, f"message {effect.name}", 1, error, draft.at
        )
        message = Message(f"{self.id}:{effect.key}", effect.name, effect.body, draft.at)
        self._send(effect.run_id, message.id, message, draft, letter)

    # -- ending --------------------------------------------------------------------------------------------------

    def _finish(self, finish: Finish, draft: Draft, now: Millis) -> None:
        if finish.status == "completed":
            self._end(RunCompleted(finish.output), draft)
            return
        error = finish.error or ErrorInfo("kernel.failed", "the run failed")
        self._end_or_roll_back(RollbackStarted("failure", error, data=finish.data), draft, now)

    def _end_or_roll_back(self, started: RollbackStarted, draft: Draft, now: Millis) -> None:
        """Undo first, if there is anything to undo; `started` says why and how the run ends."""
        rollback = Rollback.begun(started, self.rollback)
        if rollback.next(self.machine.compensations()) is None:
            self._end(rollback.outcome(self.final), draft)
            return
        self._emit(started, draft)
        self._clear_all(draft)
        self._roll_back_further(draft, now)

    def _roll_back_further(self, draft: Draft, now: Millis) -> None:
        rollback = self.rollback
        if rollback is None or rollback.stuck is not None or rollback.over:
            return
        task = rollback.next(self.machine.compensations())
        if task is not None:
            attempt = self.tasks.open(task, now)
            if attempt is not None:
                draft.tasks.append((task, attempt))
            return
        self._emit(RollbackEnded("completed"), draft)
        self._end(rollback.outcome(self.final), draft)

    def _rollback_step(self, result: TaskResult, draft: Draft, now: Millis) -> None:
        failed = result.error is not None
        self._emit(RollbackStep(result.token, "failed" if failed else "completed", result.attempt, result.error), draft)
        self._roll_back_further(draft, now)

    def _settle_dead_letter(self, resume: Resume, draft: Draft, now: Millis) -> None:
        token = resume.token
        if token is None or resume.verdict is None:
            raise Conflict("kernel.bad_resume", "a dead letter is settled by its token and a verdict")
        status = "retried" if resume.verdict == "retry" else "discarded"
        if self._rolling_back and self.rollback is not None and self.rollback.stuck == token:
            if resume.verdict == "retry":
                self._restart_stuck(draft, now)
            else:
                self._emit(RollbackStep(token, "discarded"), draft)
                self._roll_back_further(draft, now)
        else:
            self._ask(resume, draft, now)
        draft.settled = [*(draft.settled or ()), Settled(self._letter_id(token), status)]

    def _restart_stuck(self, draft: Draft, now: Millis) -> None:
        if self.rollback is not None and self.rollback.stuck is not None:
            self._emit(RollbackStep(self.rollback.stuck, "retried"), draft)
            self._roll_back_further(draft, now)

    @property
    def _rolling_back(self) -> bool:
        return self.rollback is not None and not self.rollback.over and self.status == "running"

    def _reopen(self, cause: str, draft: Draft) -> None:
        if self.status != "running":
            self._emit(RunReopened(cause), draft)
            self._row_stale = True

    def _end(self, final: FinalEvent, draft: Draft) -> None:
        self._emit(final, draft)
        self.blocked, self.ended_at = None, draft.at
        draft.ended = True
        self._clear_all(draft)
        if self.info.parent is not None and self.info.parent_token is not None:
            # Numbered, because a child that is reopened and ends again must be heard again
            key = f"child:{self.id}:{self.seq}"
            self._send(self.info.parent, key, self._report(final, self.info.parent_token), draft)

    def _report(self, final: FinalEvent, token: TaskToken) -> ChildFinished:
        match final:
            case RunCompleted():
                return ChildFinished(token, self.id, "completed", final.output)
            case RunFailed():
                return ChildFinished(token, self.id, "failed", error=final.error)
            case RunCancelled():
                error = ErrorInfo("kernel.cancelled", final.reason or "cancelled", kind="cancelled")
                return ChildFinished(token, self.id, "cancelled", error=error)
            case _:
                assert_never(final)

    # -- recovery and closing words ------------------------------------------------------------------------------

    def _take_up_pending(self, draft: Draft, now: Millis) -> None:
        """After a load: what should be under way is started again, unless it keeps killing its process."""
        if self.status != "running":
            return
        if self._rolling_back:
            self._roll_back_further(draft, now)
            return
        for effect in self.machine.pending(now):
            if not isinstance(effect, RunTask):
                self._effect(effect, draft, now)
                continue
            bound = self._limits.max_recoveries if effect.recoveries is None else effect.recoveries
            attempt = self.tasks.open(effect, now)
            if attempt is not None and self.recoveries > bound:
                self._interrupted(effect, attempt, draft, now)
            elif attempt is not None:
                draft.tasks.append((effect, attempt))
            elif (waiting := self.tasks.get(effect.token)) is not None and waiting.retry_at is not None:
                self._set_timer(TaskToken(_RETRY + effect.token), waiting.retry_at, draft)

    def _interrupted(self, task: RunTask, attempt: int, draft: Draft, now: Millis) -> None:
        error = ErrorInfo(
            "kernel.task_interrupted",
            f"{task.label} was running each of the last {self.recoveries} times its process died; it is not started again",
            kind="interrupted",
        )
        self.tasks.close(task.token)
        self._dead_letter(task, attempt, error, draft)
        self._ask(TaskResult(task.token, attempt, error=error, attempts=attempt), draft, now)

    def _check_limits(self, draft: Draft) -> None:
        if self.status != "running" or self._rolling_back:
            return
        if self.seq > self._limits.max_events:
            breach = exceeded("events", self.seq, self._limits.max_events)
        elif len(draft.tasks) > self._limits.max_effects:
            breach = exceeded("effects in one decision", len(draft.tasks), self._limits.max_effects)
        else:
            return
        draft.tasks.clear()
        draft.children = draft.inbox = None
        self._cancel(Cancel(cause="limit", error=breach), draft, draft.at)

    def _close_draft(self, draft: Draft) -> None:
        """The row, when something in it changes; a snapshot, when it pays."""
        awake = self.tasks.running > 0 or draft.more
        progressed = self.recoveries and draft.events and not draft.create
        if progressed:
            self.recoveries = 0
        full = self.machine.backlog() >= self._limits.max_queued_messages
        self._row_stale, self.full = self._row_stale or full != self.full, full
        if draft.create is not None and not draft.ended:
            draft.create.awake = self._row_awake = awake
        elif awake != self._row_awake or draft.ended or self._row_stale or progressed:
            self._row_awake, self._row_stale = awake, False
            draft.patch = self._patch(awake)
        since = self.seq - self.snapshot_seq
        if since >= _SNAPSHOT_EVERY and not draft.ended and since >= self.machine.weight():
            self.snapshot_seq = self.seq
            body = values.plain({"kernel": self.kernel_state(), "machine": self.machine.snapshot()})
            draft.snapshot = Snapshot(Seq(self.seq), draft.at, body)

    def _patch(self, awake: bool) -> RunPatch:
        output = self.final.output if isinstance(self.final, RunCompleted) and self.status == "completed" else None
        error = self.final.error if isinstance(self.final, RunFailed) and self.status == "failed" else None
        if isinstance(self.final, RunCancelled) and self.status == "cancelled":
            error = ErrorInfo("kernel.cancelled", self.final.reason or "cancelled", kind="cancelled")
        small = output is None or len(bytes(output)) <= self._limits.blob_threshold
        return RunPatch(
            status=self.status,
            awake=awake,
            ended_at=self.ended_at if self.status != "running" else None,
            output=output if small else None,
            error=error,
            blocked=self.blocked,
            recoveries=self.recoveries,
            full=self.full,
        )
