"""One live run in its owner's memory: its state, its machine and its waiting inputs.

The state is valid only if the decisions it includes are committed; when a commit is refused, the whole object is
dropped and rebuilt from the log. `decide` makes decisions on this object.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from msgspec.structs import replace

from .errors import ErrorInfo
from .events import Event, RunCancelled, RunCompleted, RunFailed, TaskDeadLettered
from .failures import describe
from .ids import Epoch, Ids, Millis, RunId, Seq, Shard, TaskToken, shard_of
from .inputs import AnyInput, TimerFired
from .limits import Limits
from .machine import Machine, RunInfo
from .notice import Notify, by_service
from .past import NO_PAST, Past
from .pools import Code
from .replies import refused
from .snapshot_policy import policy_of
from .snapshots import Base, SnapshotBody, Snapshots
from .state import RunState
from .store import DeadLetter, RunPatch, RunRow, Write
from .task import Task
from .unit_of_work import UnitOfWork
from .view import Reason, RunStatus
from .wait_reason import wait_reason


class Run:
    def __init__(
        self,
        info: RunInfo,
        machine: Machine,
        ids: Ids,
        limits: Limits,
        epoch: Epoch,
        notify: Notify = by_service,
        queues: Mapping[str, str] | None = None,
        shard: Shard | None = None,
    ) -> None:
        self.info = info
        self.id = info.run_id
        self.shard = shard_of(info.run_id) if shard is None else shard
        self.epoch = epoch
        self.machine = machine
        self.state = RunState()
        self.state.tasks.queues = queues or {}
        self.ids = ids
        self.blocked: ErrorInfo | None = None
        self.code: Code | None = None
        """The engine's code, if the run calls functions by name and other engines may have others."""
        self.limits = limits
        self.notify = notify

        # Fields as stored in the run's row
        self._awake: bool = True
        self._ended_at: Millis | None = None
        self.recoveries = 0
        self._full: bool = False
        self._waiting: Reason | None = None
        self._past: Past | None = None
        self._stale = False
        self._steady = False
        """The row marks the run as busy, and only an input other than a result can change that."""
        self._snapshots: Snapshots | None = None
        self._policy = policy_of(machine)
        self._snapshot_seq = 0
        self._snapshot_at = info.created_at
        self.was: RunStatus = "running"
        """Its status before the current round."""
        self.has_rows = False
        """It may have timers or open approvals in the store."""
        self._timers: dict[TaskToken, Millis] | None = None
        """Timers set since it was loaded, with their due times."""

        # Fields of the run loop
        self.mailbox: deque[tuple[AnyInput, str | None]] = deque()
        self.queued = False
        self.create: RunRow | None = None
        self.read_meanwhile = False
        """It was found in the store while it was being created here."""
        self.asked: list[str] = []
        """Keys of this round's inputs whose senders wait for an answer."""

    @property
    def snapshots(self) -> Snapshots:
        """Created lazily: most runs end before their first snapshot."""
        if self._snapshots is None:
            self._snapshots = Snapshots(self.limits)
        return self._snapshots

    # -- building up ---------------------------------------------------------------------------------------------

    def adopt(self, row: RunRow) -> None:
        """Takes the fields that only the row has."""
        self.blocked, self.recoveries, self._full = row.blocked, row.recoveries, row.full
        self._awake, self._ended_at, self.has_rows = row.awake, row.ended_at, True
        self._waiting, self._past, self.shard = row.waiting, row.past, row.shard

    def fold(self, event: Event, at: Millis) -> None:
        """Folds one recorded event."""
        self.state.seq += 1
        self.state.at = max(self.state.at, at)
        self.state.evolve(event)
        self.machine.evolve(event, at)

    def restore(self, base: Base, body: SnapshotBody) -> None:
        self._snapshot_seq, self._snapshot_at = base.seq, base.at
        self.snapshots.restore(body)
        self.state.restore(base.kernel, base.seq, base.at)

    def suspect(self) -> None:
        """The run was awake each time the process died: counts that before it is restarted."""
        self.recoveries += 1
        self.row_is_stale()

    def block(self, error: ErrorInfo | None) -> None:
        """Blocks the run for lack of code; None unblocks it."""
        if self.blocked != error:
            self.row_is_stale()
        self.blocked = error

    def ended(self, at: Millis) -> None:
        self.blocked, self._ended_at = None, at

    def reopened(self, at: Millis) -> None:
        past = self._past or NO_PAST
        idle = max(0, at - (self._ended_at or at))
        self._past = replace(past, reopened=past.reopened + 1, idle=Millis(past.idle + idle), partial=False)
        self.row_is_stale()

    def row_is_stale(self) -> None:
        self._stale, self._steady = True, False

    # -- recording ---------------------------------------------------------------------------------------------

    def emit(self, event: Event, unit: UnitOfWork) -> None:
        """Records one of the kernel's own events."""
        unit.events.append(event)
        self.state.seq += 1
        self.state.evolve(event)
        self.machine.evolve(event, unit.at)

    def dead_letter(self, task: Task, attempts: int, error: ErrorInfo, unit: UnitOfWork) -> None:
        self.emit(TaskDeadLettered(task.token, attempts, error), unit)
        self.add_dead_letter(task.token, task.label, attempts, error, unit)

    def add_dead_letter(self, token: TaskToken, label: str, attempts: int, error: ErrorInfo, unit: UnitOfWork) -> None:
        """Adds a dead letter for a person to retry or discard."""
        letter = letter_id(self.id, token)
        unit.give_up(DeadLetter(letter, self.id, self.info.namespace, token, label, attempts, error, unit.at))

    # -- its row -----------------------------------------------------------------------------------------------

    def close(self, unit: UnitOfWork) -> None:
        """Ends a round: adds the row if it changed, and a snapshot if it pays off."""
        state, write = self.state, unit.write
        since = state.seq - self._snapshot_seq
        due = since >= self._policy.worth and self._policy.is_due(since, unit.at - self._snapshot_at)
        if self._steady and write.plain and not unit.ended and state.tasks.running and not due:
            return  # a step ended and another started, as in most rounds
        # A blocked run is awake: its next owner loads it, and may have code that fits
        # An ended run is never loaded for what outlives it, so its row is not awake
        running = state.status == "running"
        busy = running and (state.tasks.running > 0 or unit.more or self.blocked is not None)
        awake = busy or (running and self.machine.reload_on_takeover)
        waiting = None if busy or not running else wait_reason(self.machine, state, self._waiting, unit)
        full = self._full
        if full or not write.plain:
            self.has_rows = self.has_rows or bool(write.timers or write.approvals)
            self._note_timers(write)
            if full or write.taken:  # otherwise no message came, and consuming others changes nothing
                full = self.machine.backlog() >= self.limits.max_queued_messages
        if self.recoveries and unit.events and write.create is None:
            self.recoveries, self._stale = 0, True  # it makes progress
        if write.create is not None and not unit.ended and not self._stale:
            write.create.awake, write.create.waiting = self._awake, self._waiting = awake, waiting
        elif (
            awake is not self._awake
            or full is not self._full
            or unit.ended
            or self._stale
            or (waiting is not self._waiting and waiting != self._waiting)
        ):
            self._awake, self._waiting = awake, waiting
            self._full = full
            self._stale = False
            write.patch = self.patch()
        self._steady = busy and self.blocked is None and not (self._full or self.recoveries or self._stale)
        if due and not unit.ended and since >= self.machine.weight():
            self._snapshot_seq, self._snapshot_at = state.seq, unit.at
            base = Base(Seq(state.seq), unit.at, state.dump(), self.machine.snapshot())
            unit.rows.snapshot, unit.write.compaction = self.snapshots.take(
                base, compacts=self.machine.compacts, weight=self.machine.weight()
            )

    def timer_was_moved(self, fired: TimerFired, unit: UnitOfWork) -> bool:
        """Whether a timer of the same name, such as a retry's, was set for later while this firing was in flight."""
        if fired.due is None:
            return False
        due = None if self._timers is None else self._timers.get(fired.token)
        for timer in unit.write.timers:
            due = timer.due if timer.token == fired.token else due
        return due is not None and due > fired.due

    def _note_timers(self, write: Write) -> None:
        if self._timers is not None:
            if write.clear_all:
                self._timers.clear()
            for token in write.cleared:
                self._timers.pop(token, None)
        if write.timers:
            self._timers = self._timers or {}
            self._timers.update((timer.token, timer.due) for timer in write.timers)

    def broken(self, error: Exception) -> Write:
        """The write for a run whose machine or decision is broken: the log stays as it is, the run is blocked, and
        senders waiting for an answer get one. Other inputs stay where they are."""
        info = describe(error, kind="machine", code="kernel.machine_error")
        write = Write(self.id, self.shard, self.epoch, taken=refused(self.id, info, self.asked))
        if self.was == "running":
            write.patch = RunPatch(
                status="running",
                awake=True,
                blocked=info,
                recoveries=self.recoveries,
                full=self._full,
                past=self._past,
            )
        return write

    def leaving(self) -> Write:
        """The write for an orderly handover: it subtracts the recovery that the takeover will count."""
        self.recoveries = max(0, self.recoveries - 1)
        return Write(self.id, self.shard, self.epoch, patch=self.patch())

    def patch(self) -> RunPatch:
        agents = self.state.agents
        patch = RunPatch(
            status=self.state.status,
            awake=self._awake,
            blocked=self.blocked,
            recoveries=self.recoveries,
            full=self._full,
            waiting=self._waiting,
            past=self._past if agents is None else replace(self._past or NO_PAST, agents=agents),
        )
        if self.state.status != "running":
            patch.ended_at, final = self._ended_at, self.state.final
            if type(final) is RunCompleted:  # by far the most common
                if final.partial:
                    patch.past = replace(patch.past or NO_PAST, partial=True)
                if len(final.output) <= self.limits.blob_threshold:
                    patch.output = final.output
            elif isinstance(final, RunFailed):
                patch.error = final.error
            elif isinstance(final, RunCancelled):
                patch.error = cancelled(final)
        return patch


def letter_id(run_id: RunId, token: TaskToken) -> str:
    """The id of a task's dead letter, or of an approval; if an approval of that id exists, the store adds a number."""
    return f"{run_id}:{token}"


def cancelled(final: RunCancelled) -> ErrorInfo:
    return ErrorInfo("kernel.cancelled", final.reason or "cancelled", kind="cancelled")
