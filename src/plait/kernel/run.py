"""One live run in its owner's memory: its state, its machine, and the inputs that wait for it.

`advance` takes the inputs that wait and returns a draft: the events and rows to commit, and what to
start once they are on disk. It does no I/O. The state it leaves behind is true only if the draft is
committed; when a commit is refused the whole object is dropped and built again from the log.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Any, assert_never

import msgspec
from msgspec import Raw

from . import apply_effects, lifecycle, recovery, values
from .apply_effects import RETRY
from .effects import FailTask, Finish
from .errors import Conflict, ErrorInfo, PlaitError
from .events import Event, RunCancelled, RunCompleted, RunFailed, RunStarted, TaskDeadLettered, TaskLate
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
    RetryDue,
    Start,
    TaskResult,
    TimerFired,
)
from .limits import Limits, exceeded
from .machine import Machine, RunInfo
from .refusals import ASKED, refusal_reply, refused
from .state import KernelState, RunState
from .store import DeadLetter, RunPatch, RunRow, Settled, Snapshot, Taken, Write
from .task import Task
from .tasks import Again, Final, Late
from .unit_of_work import UnitOfWork
from .view import RunStatus

log = logging.getLogger("plait.kernel")

DEADLINE = TaskToken("~deadline")
_SNAPSHOT_EVERY = 1000
_INPUTS_AT_ONCE = 1000


class Run:
    def __init__(self, info: RunInfo, machine: Machine, *, ids: Ids, limits: Limits, epoch: Epoch) -> None:
        self.info = info
        self.id = info.run_id
        self.shard = shard_of(info.run_id)
        self.epoch = epoch
        self.machine = machine
        self.state = RunState()
        self.ids = ids
        self.blocked: ErrorInfo | None = None
        self.limits = limits

        # As the run's row has it
        self._awake: bool = True
        self._ended_at: Millis | None = None
        self.recoveries = 0
        self._full: bool = False
        self._stale = False
        self._snapshot_seq = 0
        self._was: RunStatus = "running"
        """Its status before the round that is being decided."""
        self.has_rows = False
        """It may have timers or open questions in the store."""

        # The run loop's own marks
        self.mailbox: deque[tuple[AnyInput, str | None]] = deque()
        self.queued = False
        self.create: RunRow | None = None
        self.asked: list[str] = []
        """Keys of this round's inputs that someone waits for an answer to."""

    # -- building up ---------------------------------------------------------------------------------------------

    def adopt(self, row: RunRow) -> None:
        """What only the row knows."""
        self.blocked, self.recoveries, self._full = row.blocked, row.recoveries, row.full
        self._awake, self._ended_at, self.has_rows = row.awake, row.ended_at, True

    def fold(self, event: Event, at: Millis) -> None:
        """Takes in one recorded event."""
        self.state.seq += 1
        self.state.at = max(self.state.at, at)
        self.state.evolve(event)
        self.machine.evolve(event, at)

    def restore(self, state: KernelState, snapshot: Snapshot) -> None:
        self._snapshot_seq = snapshot.seq
        self.state.restore(state, snapshot.seq, snapshot.at)

    def suspect(self) -> None:
        """It was awake each time the process died: count before it is started again."""
        self.recoveries += 1
        self._stale = True

    def block(self, error: ErrorInfo | None) -> None:
        """It can't go on with the code that is loaded; None: it can again."""
        self._stale = self._stale or self.blocked != error
        self.blocked = error

    def ended(self, at: Millis) -> None:
        self.blocked, self._ended_at = None, at

    def row_is_stale(self) -> None:
        self._stale = True

    # -- deciding ------------------------------------------------------------------------------------------------

    def advance(self, now: Millis) -> UnitOfWork:
        """All inputs that wait in the mailbox, decided one after the other, as one draft."""
        state = self.state
        state.at = now = max(now, state.at)
        self._was = state.status
        if self.asked:
            self.asked = []
        draft = UnitOfWork(self.id, self.shard, self.epoch, state.seq + 1, now)
        draft.create, self.create = self.create, None
        mailbox = self.mailbox
        if self.blocked is not None:  # who wants to be rid of it must not wait for what blocks it
            mailbox = self.mailbox = deque(sorted(mailbox, key=lambda entry: type(entry[0]) is not Cancel))
        for _ in range(min(len(mailbox), _INPUTS_AT_ONCE)):
            input, key = mailbox.popleft()
            if key is None and type(input) is TaskResult:  # by far the most common, and never refused
                self._task_result(input, draft)
            else:
                self._handle(input, key, draft)
        self._check_limits(draft)
        self._close(draft)
        return draft

    def _handle(self, input: AnyInput, key: str | None, draft: UnitOfWork) -> None:
        reply: bytes | None = None
        if key is not None and isinstance(input, ASKED):
            self.asked.append(key)
        try:
            answer = self._route(input, draft)
            reply = None if answer is None else bytes(answer)
        except PlaitError as refusal:
            reply = refusal_reply(refusal)
        if key is not None:
            draft.taken = [*(draft.taken or ()), Taken(key, reply)]

    def _route(self, input: AnyInput, draft: UnitOfWork) -> Raw | None:
        match input:
            case TimerFired():
                self._timer(input, draft)
            case TaskResult():
                self._task_result(input, draft)
            case Start():
                self._start(input, draft)
            case Cancel():
                lifecycle.cancel(input, self, draft)
            case Resume():
                return self._resume(input, draft)
            case Message() | Decided() | Patch():
                if not (self.machine.accepts_late_results and isinstance(input, Message)):
                    self._must_run()
                return self._hear(input, draft)
            case ChildFinished():
                # One that outlived its parent is heard for when that is reopened
                if self.machine.accepts_late_results or not self.state.rolling_back:
                    self._hear(input, draft)
            case _:
                assert_never(input)
        return None

    def _hear(self, input: AnyInput, draft: UnitOfWork) -> Raw | None:
        answer = self.ask(input, draft)
        lifecycle.undo_late(self, draft)
        return answer

    def _must_run(self) -> None:
        if self.state.status != "running":
            raise Conflict(
                "RUN_FINISHED",
                f"run {caller_id(self.id)} has {self.state.status}",
                why="an ended run takes no inputs",
                fix="start a new run, or fork or retry this one",
            )
        if self.state.rolling_back:
            raise Conflict("kernel.rolling_back", f"run {caller_id(self.id)} is undoing its work, and ends after that")

    def _start(self, start: Start, draft: UnitOfWork) -> None:
        if self.state.started or self.state.status != "running":
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
        self.emit(event, draft)
        if start.deadline is not None:
            draft.set_timer(DEADLINE, start.deadline)
        try:
            self.ask(start, draft)
        except PlaitError as refusal:  # it is recorded as started, so it must also be seen to end
            apply_effects.apply([Finish("failed", error=describe(refusal))], self, draft)

    def _task_result(self, result: TaskResult, draft: UnitOfWork) -> None:
        tasks = self.state.tasks
        if self.state.status != "running" or (self.state.rolling_back and not lifecycle.undoes(result.token, self)):
            if self.machine.accepts_late_results and tasks.is_in(result.token, result.attempt):
                lifecycle.outlived(result, self, draft)
            else:
                tasks.close(result.token)
                self._late(result, draft)
            return
        verdict = tasks.judge(result, draft.at, self.ids)
        match verdict:
            case Final():
                self._settle(verdict, draft)
            case Again():
                self.emit(verdict.event, draft)
                draft.set_timer(TaskToken(RETRY + result.token), verdict.event.due)
                if self.machine.gates_retries:
                    self.ask(Resume("continue"), draft)  # what it held back may begin meanwhile
            case Late():
                self._late(result, draft)
            case _:
                assert_never(verdict)

    def fail_task(self, failed: FailTask, draft: UnitOfWork) -> None:
        self.state.tasks.take_back(failed.task, failed.attempt)
        self._task_result(TaskResult(failed.task.token, failed.attempt, error=failed.error), draft)

    def _late(self, result: TaskResult, draft: UnitOfWork) -> None:
        self.emit(TaskLate(result.token, result.attempt, result.output or values.NULL, result.error), draft)

    def _settle(self, verdict: Final, draft: UnitOfWork) -> None:
        result = verdict.result
        if result.error is not None and (verdict.exhausted or self.state.rolling_back):
            self.dead_letter(verdict.task, result.attempt, result.error, draft)
        if self.state.rolling_back:
            lifecycle.undone(result, self, draft)
        elif result.attempt == 1:
            self.ask(result, draft)
        else:
            self.ask(msgspec.structs.replace(result, attempts=result.attempt), draft)

    def dead_letter(self, task: Task, attempts: int, error: ErrorInfo, draft: UnitOfWork) -> None:
        self.emit(TaskDeadLettered(task.token, attempts, error), draft)
        id = apply_effects.letter_id(self, task.token)
        letter = DeadLetter(id, self.id, self.info.namespace, task.token, task.label, attempts, error, draft.at)
        draft.dead_letters = [*(draft.dead_letters or ()), letter]

    def _timer(self, fired: TimerFired, draft: UnitOfWork) -> None:
        token = fired.token
        draft.clear_timer(token)
        if self.state.status != "running":
            if self.machine.accepts_late_results and not token.startswith((DEADLINE, RETRY)):
                self._hear(fired, draft)
            return
        if token == DEADLINE:
            error = ErrorInfo("DEADLINE_EXCEEDED", "the run's deadline passed", kind="deadline")
            lifecycle.cancel(Cancel(cause="deadline", error=error), self, draft)
        elif token.startswith(RETRY):
            self._retry(TaskToken(token[len(RETRY) :]), draft)
        elif self.machine.accepts_late_results or not self.state.rolling_back:
            self._hear(fired, draft)

    def _retry(self, token: TaskToken, draft: UnitOfWork) -> None:
        waiting = self.state.tasks.get(token)
        if (
            self.machine.gates_retries
            and not self.state.rolling_back
            and waiting is not None
            and waiting.retry_at is not None
        ):
            self.ask(RetryDue(token), draft)
        else:
            self.try_again(token, draft)

    def try_again(self, token: TaskToken, draft: UnitOfWork) -> None:
        again = self.state.tasks.retry(token)
        if again is not None:
            draft.tasks.append(again)

    def _resume(self, resume: Resume, draft: UnitOfWork) -> Raw | None:
        match resume.mode:
            case "continue" | "wake" | "recover":
                recovery.take_up(resume, self, draft)
            case "settle":
                lifecycle.settle(resume, self, draft)
            case "compensate":
                lifecycle.compensate(self, draft)
            case "retry" | "rewind":
                if not lifecycle.retry_stuck(self, draft):
                    if self.state.rolling_back:
                        self._must_run()
                    return self.ask(resume, draft)
            case _:
                assert_never(resume.mode)
        return None

    # -- the machine ---------------------------------------------------------------------------------------------

    def ask(self, input: Any, draft: UnitOfWork) -> Raw | None:
        """Lets the machine decide, and takes what it decided into the draft."""
        decision = self.machine.decide(input, draft.at)
        if decision.reopen is not None:
            lifecycle.reopen(decision.reopen, self, draft)
            draft.settle([Settled(apply_effects.letter_id(self, token), "retried") for token in decision.retried])
        draft.events += decision.events
        self.state.seq += len(decision.events)
        if decision.more:
            draft.more = True
        effects = decision.effects
        if len(effects) > self.limits.max_effects:
            draft.breach = exceeded("effects in one decision", len(effects), self.limits.max_effects)
        else:
            apply_effects.apply(effects, self, draft)
        return decision.reply

    def emit(self, event: Event, draft: UnitOfWork) -> None:
        """Records one of the kernel's own events."""
        draft.events.append(event)
        self.state.seq += 1
        self.state.evolve(event)
        self.machine.evolve(event, draft.at)

    # -- closing a draft -----------------------------------------------------------------------------------------

    def _check_limits(self, draft: UnitOfWork) -> None:
        state, limits = self.state, self.limits
        if state.status != "running" or state.rolling_back:
            return
        unborn: set[RunId] = set()
        if draft.breach is not None:
            breach = draft.breach
        elif state.seq > limits.max_events:
            breach = exceeded("events", state.seq, limits.max_events)
        elif draft.children and self.info.depth + 1 > limits.max_depth:
            breach = exceeded("levels of children", self.info.depth + 1, limits.max_depth)
            unborn, draft.children = {child.row.id for child in draft.children}, None
        else:
            return
        lifecycle.cancel(Cancel(cause="limit", error=breach), self, draft)
        draft.inbox = [row for row in draft.inbox or () if row.run_id not in unborn] or None

    def _close(self, draft: UnitOfWork) -> None:
        """The row, when something in it changes; a snapshot, when it pays."""
        # A blocked run is loaded by its next owner, who may have code that fits
        reload_on_takeover = self.machine.reload_on_takeover and self.state.status == "running"
        awake = self.state.tasks.running > 0 or draft.more or self.blocked is not None or reload_on_takeover
        self.has_rows = self.has_rows or bool(draft.timers or draft.questions)
        full = self.machine.backlog() >= self.limits.max_queued_messages
        if self.recoveries and draft.events and draft.create is None:
            self.recoveries, self._stale = 0, True  # it makes progress
        if draft.create is not None and not draft.ended and not self._stale:
            draft.create.awake = self._awake = awake
        elif awake != self._awake or full != self._full or draft.ended or self._stale:
            self._awake = awake
            self._full = full
            self._stale = False
            draft.patch = self._patch()
        since = self.state.seq - self._snapshot_seq
        if since >= _SNAPSHOT_EVERY and not draft.ended and since >= self.machine.weight():
            self._snapshot_seq = self.state.seq
            body = values.plain({"kernel": self.state.dump(), "machine": self.machine.snapshot()})
            draft.snapshot = Snapshot(Seq(self.state.seq), draft.at, body)

    def broken(self, error: Exception) -> Write:
        """Its machine, or what it decided, can't be worked with: the log stays as it is, the row says that the run
        is blocked, and who waits for an answer gets one. Its other inputs stay where they are."""
        info = describe(error, kind="machine", code="kernel.machine_error")
        write = Write(self.id, self.shard, self.epoch, taken=refused(self.id, info, self.asked))
        if self._was == "running":
            write.patch = RunPatch(
                status="running", awake=True, blocked=info, recoveries=self.recoveries, full=self._full
            )
        return write

    def leaving(self) -> Write:
        """Its owner leaves in peace: the recovery that its takeover will count is taken back."""
        self.recoveries = max(0, self.recoveries - 1)
        return Write(self.id, self.shard, self.epoch, patch=self._patch())

    def _patch(self) -> RunPatch:
        patch = RunPatch(
            status=self.state.status,
            awake=self._awake,
            blocked=self.blocked,
            recoveries=self.recoveries,
            full=self._full,
        )
        if self.state.status != "running":
            patch.ended_at = self._ended_at
            match self.state.final:
                case RunCompleted(output=output) if len(bytes(output)) <= self.limits.blob_threshold:
                    patch.output = output
                case RunFailed(error=error):
                    patch.error = error
                case RunCancelled() as final:
                    patch.error = lifecycle.cancelled(final)
                case _:
                    pass
        return patch
