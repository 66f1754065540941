"""What the log says about a run: its operations and their results. Pure data, folded from events.

Replaying the workflow function against a history is the part of `replay.py`; this module knows no code.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import (
    ApprovalRequested,
    ApprovalVoted,
    Event,
    RollbackStarted,
    RollbackStep,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReopened,
    RunStarted,
)
from plait.kernel.ids import NEVER, Millis, RunId
from plait.kernel.values import ABSENT, NULL
from plait.kernel.view import RunStatus

from .events import (
    BranchClosed,
    CodeLoaded,
    LoopCommitted,
    LoopTrimmed,
    MessageQueued,
    OpClosed,
    OpOpened,
    Published,
    RunBlocked,
    RunContinued,
    RunForked,
    RunRecovered,
    RunRewound,
    RunUnblocked,
    UpdateClosed,
    UpdateOpened,
)
from .history_image import HistoryImage
from .location import child_id, earlier_place, loops_of, parse, place_of, text
from .message_queue import Messages, QueuedMessage, in_order, matching, promised
from .op_state import INLINE, Branch, OpState, Undoable, place_in

MAX_SEEN = 10_000


class History:
    # Defaults that most runs never change are class attributes, for the reason given in `Replay`
    arrivals = 0
    ended_at: Millis | None = None
    """When the run last failed."""
    recoveries = 0
    rolled_back = False
    rollback_error: ErrorInfo | None = None
    era = 0
    """The number of times the run has continued as new."""
    begun_seq = 1
    """The number of the event with which the function started: the run's start or its last continue-as-new."""
    trimmed = False
    """Whether a loop has dropped iterations: its run may last for years."""
    forked_seq = 0
    """The number of the event that made this run a fork of another."""

    def __init__(self, run_id: RunId) -> None:
        self.run_id = run_id
        self.seq = 0
        self.input = NULL
        self.seed = 0
        self.started_at = NEVER
        self.hash = ""
        self.ops: dict[str, OpState] = {}
        self.undoables: dict[str, Undoable] = {}
        self.queue: Messages = {}
        self.seen: dict[str, None] = {}
        """Ids of the most recent messages, oldest first. The inbox has all of them."""
        self.orders = 0
        self.generation = 0
        self.blocked: RunBlocked | None = None
        self.causes: list[str] = []
        self.ended: RunStatus | None = None
        self.end_seq = 0
        """The number of the event that began the end: the end itself, or the rollback before it."""
        self.created_at = Millis(0)
        self.updates: dict[str, int] = {}
        """Accepted updates, counted by name."""
        self.published: dict[str, dict[str, int]] = {}
        """Published values of each scope, counted by key."""
        self.latest: dict[str, Raw] = {}
        """The last value of each key, from any scope."""
        self.on_closed: Callable[[OpState], None] | None = None
        """Called with each operation as its closing is recorded; set by the replay."""
        self._iterations: dict[str, dict[int, list[str]]] = {}

    # -- folding -------------------------------------------------------------------------------------------------

    def evolve(self, event: Event, at: Millis) -> None:
        self.seq += 1
        fold = fold_of(type(event))
        if fold is not None:
            fold(self, event, at)

    def fold_started(self, event: RunStarted, at: Millis) -> None:
        self.input, self.seed, self.started_at, self.created_at = event.input, event.seed, at, at

    def fold_loaded(self, event: CodeLoaded, at: Millis) -> None:
        self.hash = event.hash

    def fold_opened(self, event: OpOpened, at: Millis) -> None:
        path, kind = event.at, event.kind
        op = OpState(path, kind, self.seq, at, event.after, event.args, event.fn, event.undo)
        if kind != "step":
            op.deadline, op.names, op.limit = event.deadline, event.names, event.limit
            op.state, op.run_id, op.keep, op.value = event.state, event.run_id, event.keep, event.value
            op.definition, op.given, op.detached = event.definition, event.given, event.detached
            if event.kind == "version":  # answered within the turn that asks
                op.status, op.closed_at = "completed", at
            if event.branches is not None:
                op.branches = {name: Branch() for name in event.branches}
        self.ops[path] = op
        if "/~" in path:
            self._note_iterations(op)

    def fold_closed(self, event: OpClosed, at: Millis) -> None:
        op = self.ops.get(event.at)
        if op is None or op.status != "open":
            if op is not None and event.status == "cancelled":
                self._give_back(op, at)
            return
        status = op.status = event.status
        op.output = event.output
        op.closed_seq = self.seq
        op.closed_at = at
        if event.error is not op.error or event.attempts != op.attempts or event.queued != op.queued:
            op.error, op.attempts, op.queued = event.error, event.attempts, event.queued
        if op.kind != "step":
            op.winner = event.winner
            if event.messages is not None:
                op.received = list(map(self.queue.pop, event.messages))
        if status == "cancelled":
            return
        op.order = self.orders = self.orders + 1
        if op.undo is not None and status == "completed":
            self.undoables[op.at] = Undoable(op.at, op.undo, op.order, op.output, op.args, op.fn, self.era)
        on_closed = self.on_closed
        if on_closed is not None:
            on_closed(op)

    def _give_back(self, listener: OpState, at: Millis) -> None:
        """Cancels a listener whose messages were not delivered: they return to their places in the queue."""
        self.queue = in_order([*(listener.received or ()), *self.queue.values()])
        listener.status, listener.order, listener.received = "cancelled", 0, None
        listener.closed_seq, listener.closed_at = self.seq, at

    def fold_branch_closed(self, event: BranchClosed, at: Millis) -> None:
        op = self.ops.get(event.at)
        if op is not None and op.branches is not None:
            op.branches[event.branch] = Branch(event.status, event.output, event.error)

    def fold_committed(self, event: LoopCommitted, at: Millis) -> None:
        op = self.ops[event.at]
        op.iteration, op.state = event.iteration, event.state
        if event.starts:
            op.starts = (op.starts or {}) | event.starts

    def fold_trimmed(self, event: LoopTrimmed, at: Millis) -> None:
        self.trimmed = True
        iterations = self._iterations.get(event.at, {})
        kept = set(event.kept)
        for number in [n for n in iterations if n < event.below and n not in kept]:
            for path in iterations.pop(number):
                self._remove(path)
            self._forget_published(f"{event.at}/~{number}")

    def fold_votes(self, event: ApprovalRequested | ApprovalVoted, at: Millis) -> None:
        op = self.ops.get(place_of(event.token)[0])
        if op is not None:
            op.votes = op.votes + 1 if isinstance(event, ApprovalVoted) else 0

    def fold_queued(self, event: MessageQueued, at: Millis) -> None:
        self.arrivals += 1
        self.queue[event.id] = QueuedMessage(event.id, event.name, event.body, event.sent_at, self.arrivals)
        self._note_seen(event.id)

    def _note_seen(self, id: str) -> None:
        self.seen[id] = None
        if len(self.seen) > MAX_SEEN:
            del self.seen[next(iter(self.seen))]

    def fold_update_opened(self, event: UpdateOpened, at: Millis) -> None:
        self._note_seen(event.id)
        self.updates[event.name] = self.updates.get(event.name, 0) + 1
        op = OpState(event.at, "update", self.seq, at, args=event.body, names=[event.name], key=event.id)
        op.order = self.orders = self.orders + 1  # delivered as soon as it arrives
        self.ops[op.at] = op
        if self.on_closed is not None:
            self.on_closed(op)

    def fold_update_closed(self, event: UpdateClosed, at: Millis) -> None:
        op = self.ops.get(event.at)
        if op is not None and op.status == "open":
            op.status, op.output, op.error = "completed" if event.error is None else "failed", event.output, event.error
            op.closed_seq, op.closed_at = self.seq, at

    def fold_published(self, event: Published, at: Millis) -> None:
        self.published.setdefault(event.at, {})[event.key] = event.n + 1
        self.latest[event.key] = event.value

    def _forget_published(self, scope: str) -> None:
        """Forgets a trimmed scope: its code is not replayed any more."""
        for path in [path for path in self.published if path == scope or path.startswith(f"{scope}/")]:
            del self.published[path]

    def fold_blocked(self, event: RunBlocked, at: Millis) -> None:
        self.blocked = event

    def fold_unblocked(self, event: RunUnblocked, at: Millis) -> None:
        self.blocked, self.hash = None, event.hash

    def fold_completed(self, event: RunCompleted, at: Millis) -> None:
        self.ended, self.end_seq = "completed", self.end_seq or self.seq

    def fold_cancelled(self, event: RunCancelled, at: Millis) -> None:
        self.ended, self.end_seq = "cancelled", self.end_seq or self.seq

    def fold_failed(self, event: RunFailed, at: Millis) -> None:
        self.ended, self.end_seq, self.ended_at = "failed", self.end_seq or self.seq, at
        data: dict[str, Any] = event.data or {}
        self.causes = data.get("causes", [])

    def fold_reopened(self, event: RunReopened, at: Millis) -> None:
        self.ended = None
        if event.cause != "compensate":
            self.rollback_error, self.end_seq = None, 0

    def fold_recovered(self, event: RunRecovered, at: Millis) -> None:
        self.causes = []
        self.recoveries += 1
        reset = set(event.reset)
        for path in event.reset:
            if (op := self.ops.get(path)) is not None:
                self._reopen(op)
        for path in event.spare:
            if (op := self.ops.get(path)) is not None:
                op.spare = True
                if op.status in ("open", "cancelled"):
                    self._remove(path)
        for op in self.open_ops():
            if op.kind == "timer" and op.deadline is not None:  # the time that was left when the run stopped
                op.deadline = Millis(op.deadline + at - (op.closed_at or self.ended_at or at))
            elif op.kind == "child" and not op.given and (op.at in reset or not op.keep):
                # It failed, or was cancelled when its parent failed: it starts again under another id
                op.run_id = child_id(self.run_id, op.at, self.generation, self.recoveries)
            op.closed_at, op.tried = None, op.tried + op.attempts

    def _reopen(self, op: OpState) -> None:
        for branch in (op.branches or {}).values():
            if op.status == "failed" and branch.status == "failed":
                branch.status, branch.error = "open", None
        op.status, op.order, op.closed_seq = "open", 0, 0
        op.output, op.error, op.received = ABSENT, None, None

    def fold_rewound(self, event: RunRewound, at: Millis) -> None:
        seq, generation, seen, messages = self.seq, self.generation, self.seen, list(self._messages())
        arrivals = self.arrivals
        self.restore(event.state)
        self._drop_open_children()
        self.seq, self.generation, self.seen, self.arrivals = seq, generation + 1, seen, arrivals
        # A rewind does not unsend messages: those consumed after the rewind point are queued again
        known = {message.id for message in self._messages()}
        self.queue = in_order([*self.queue.values(), *(m for m in messages if m.id not in known)])

    def fold_forked(self, event: RunForked, at: Millis) -> None:
        self.queue, self.seen, self.forked_seq = {}, {}, self.seq
        self._drop_open_children()
        self.blocked, self.causes = None, []
        for path, value in event.edits.items():
            op = self.ops[path]
            op.status, op.output, op.error = "completed", values.encode(value), None

    def fold_continued(self, event: RunContinued, at: Millis) -> None:
        self.input, self.started_at, self.begun_seq = event.input, at, self.seq
        # Earlier steps can still be undone; their names may be reused
        self.undoables = {earlier_place(u.at, u.era): u for u in self.undoables.values()}
        self.era, self.generation = self.era + 1, self.generation + 1
        self.seed = zlib.crc32(f"{self.seed}/{self.era}".encode())  # the new era must not draw the same numbers
        self.ops, self._iterations, self.updates, self.published = {}, {}, {}, {}
        self.blocked, self.causes, self.trimmed = None, [], True

    def _drop_open_children(self) -> None:
        """Removes open children, which belong to another past; the code starts them again under other ids."""
        for path in [op.at for op in self.open_ops() if op.kind == "child"]:
            self._remove(path)

    def fold_rollback_started(self, event: RollbackStarted, at: Millis) -> None:
        self.rollback_error, self.end_seq = event.error, self.end_seq or self.seq

    def fold_rollback_step(self, event: RollbackStep, at: Millis) -> None:
        self.rolled_back = self.rolled_back or event.status != "retried"

    # -- asking --------------------------------------------------------------------------------------------------

    @property
    def fresh_fork(self) -> bool:
        """Whether nothing has been recorded since the fork."""
        return 0 < self.forked_seq == self.seq

    def messages_for(self, listener: OpState) -> list[str]:
        """Ids of the oldest queued messages that match one of its names."""
        return matching(self.queue, listener)

    def promised(self, listener: OpState) -> bool:
        return promised(self.queue, self.listeners(), listener)

    def listeners(self) -> list[OpState]:
        """Operations that wait for messages, in the order they were opened."""
        return [op for op in self.open_ops() if op.kind == "message"]

    def closed_above(self, path: str, upto: int) -> OpState | None:
        """The join, race or loop around an operation that had ended by event `upto`: its body is not entered again."""
        location = parse(path)
        around = (self.ops.get(text(location[:length])) for length in range(1, len(location)))
        return next((op for op in around if op is not None and 0 < op.closed_seq <= upto), None)

    def open_ops(self) -> Iterator[OpState]:
        return (op for op in self.ops.values() if op.status == "open")

    def closings(self) -> list[OpState]:
        """Closed operations in the order in which their results are delivered."""
        return sorted((op for op in self.ops.values() if op.order), key=lambda op: op.order)

    def _messages(self) -> Iterator[QueuedMessage]:
        for op in self.ops.values():
            yield from op.received or ()
        yield from self.queue.values()

    def inline_iterations(self, loop: str, below: int) -> list[int]:
        """Iterations with a step whose rollback handler only the code knows."""
        found = self._iterations.get(loop, {})
        return sorted(
            number
            for number, paths in found.items()
            if number < below and any((u := self.undoables.get(p)) is not None and u.handler == INLINE for p in paths)
        )

    # -- snapshots -----------------------------------------------------------------------------------------------

    def snapshot(self) -> Raw:
        return Raw(values.plain(self.image()))

    def image(self) -> HistoryImage:
        return HistoryImage(
            self.seq,
            self.input,
            self.seed,
            self.started_at,
            list(self.ops.values()),
            list(self.undoables.values()),
            list(self.queue.values()),
            list(self.seen),
            self.orders,
            self.hash,
            self.generation,
            self.blocked,
            self.causes,
            self.ended,
            self.end_seq,
            self.recoveries,
            self.rolled_back,
            self.rollback_error,
            self.arrivals,
            self.ended_at,
            self.trimmed,
            self.updates,
            self.published,
            self.latest,
            self.era,
            self.begun_seq,
            self.created_at,
        )

    def restore(self, snapshot: Raw) -> None:
        image = _image.decode(snapshot)
        self.seq, self.input, self.seed, self.started_at = image.seq, image.input, image.seed, image.started_at
        self.ops, self._iterations = {op.at: op for op in image.ops}, {}
        for op in image.ops:
            self._note_iterations(op)
        self.undoables = {place_in(image.era, undoable): undoable for undoable in image.undoables}
        self.queue = {message.id: message for message in image.queue}
        self.seen, self.orders, self.hash = dict.fromkeys(image.seen), image.orders, image.hash
        self.generation, self.blocked, self.causes = image.generation, image.blocked, image.causes
        self.ended, self.end_seq, self.recoveries = image.ended, image.end_seq, image.recoveries
        self.rolled_back, self.rollback_error = image.rolled_back, image.rollback_error
        self.arrivals, self.ended_at, self.trimmed = image.arrivals, image.ended_at, image.trimmed
        self.updates = image.updates
        self.published, self.latest = image.published, image.latest
        self.era, self.begun_seq, self.created_at = image.era, image.begun_seq, image.created_at

    def _note_iterations(self, op: OpState) -> None:
        """Indexes an operation under the loop iterations that contain it."""
        for loop, number in loops_of(op.at):
            self._iterations.setdefault(loop, {}).setdefault(number, []).append(op.at)

    def _remove(self, path: str) -> None:
        self.ops.pop(path, None)
        self._iterations.pop(path, None)


_image = msgspec.json.Decoder(HistoryImage)
_FOLDS: dict[type[Event], Callable[[History, Any, Millis], None]] = {
    RunStarted: History.fold_started,
    CodeLoaded: History.fold_loaded,
    OpOpened: History.fold_opened,
    OpClosed: History.fold_closed,
    BranchClosed: History.fold_branch_closed,
    LoopCommitted: History.fold_committed,
    LoopTrimmed: History.fold_trimmed,
    MessageQueued: History.fold_queued,
    UpdateOpened: History.fold_update_opened,
    UpdateClosed: History.fold_update_closed,
    Published: History.fold_published,
    RunBlocked: History.fold_blocked,
    RunUnblocked: History.fold_unblocked,
    RunCompleted: History.fold_completed,
    RunFailed: History.fold_failed,
    RunCancelled: History.fold_cancelled,
    RunReopened: History.fold_reopened,
    RunRecovered: History.fold_recovered,
    RunRewound: History.fold_rewound,
    RunForked: History.fold_forked,
    RunContinued: History.fold_continued,
    RollbackStarted: History.fold_rollback_started,
    RollbackStep: History.fold_rollback_step,
    ApprovalRequested: History.fold_votes,
    ApprovalVoted: History.fold_votes,
}
fold_of = _FOLDS.get
"""How an event of a type changes a history; None if it does not."""
