"""Replaying a workflow function against its history.

A turn delivers one closed operation's result and runs the function until nothing is ready. Results are
delivered in the order in which they were recorded, on the first run and on every replay alike; that
is all the determinism there is. While recorded results are left the replay is replaying: it records
nothing, and operations that the history does not know are held. When the last one is delivered it checks
that the code still fits (every recorded operation was asked for), records what was held, and goes live.
"""

from __future__ import annotations

import contextvars
import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from msgspec import Raw

from plait.kernel.effects import Effect
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.values import ABSENT

from .agents import AgentOp
from .answering import Answering, begin_update
from .async_generators import watch
from .closing import close
from .coverage import Spares, is_covered
from .definition import Workflow
from .deterministic_loop import TurnLoop, TurnTask
from .divergence import diverged, end_of, spinning, undecodable
from .errors import WorkflowCodeError
from .events import OpClosed, RunBlocked
from .history import History
from .host import MAX_CALLBACKS, Settling, Surroundings
from .location import child_id, token_of
from .op import Op, revoking
from .op_state import OpState
from .options import bad_option
from .scope import Scope, current
from .steps import StepOp
from .versions import RemovedOp, VersionOp
from .waits import MAX_WAIT, Due, TimerOp

log = logging.getLogger("plait.code")

MAX_OPENED = 10_000
"""Operations that may be opened in one turn."""
MAIN = "plait.workflow"
"""The name of the function's own task. Otherwise asyncio would number it, differently on a replay."""
ENOUGH = 1_000
"""Operations opened in a decision before the rest is left to the next one, so that other runs get their turn."""


class Replay:
    # Fewer than thirty attributes: with more, Python keeps them in a separate dictionary, which is slow to create
    def __init__(
        self,
        definition: Workflow[Any, Any],
        history: History,
        around: Surroundings,
        record: Callable[[Event], None],
        effect: Callable[[Effect], None],
        *,
        collecting: bool = False,
        again: bool = False,
        spares: Spares | None = None,
    ) -> None:
        self.definition = definition
        self.history = history
        self.around = around
        self.record = record
        self.effect = effect
        self._again = again
        """Whether it continues from a point other than the end of the log, perhaps from within a decision."""
        self._spares = spares
        self.answering: Answering | None = None
        """What callers may ask, once the code has registered it."""
        self.loop = TurnLoop(history.run_id, self._time, self._open_timer)
        self.loop.quiet = collecting
        self.now: Millis = history.started_at
        self.wall: Millis = self.now
        """The time of the decision, which may be later than the last delivery."""
        self.after: str | None = None
        self.replaying = bool(history.ops)
        self._live = not (self.replaying or collecting)
        self.evicted = False
        self.blocked: RunBlocked | None = None
        self.handlers: dict[str, tuple[Callable[..., Any], Any]] = {}
        self.types: dict[str, Any] | None = {} if collecting else None
        """Result types of all operations asked for; only while collecting."""
        self.waiting: dict[str, Op[Any]] = {}
        self.unsettled: list[Settling] = []
        self.main: TurnTask | None = None
        self._due: deque[OpState] = deque(history.closings()) if history.ops else deque()
        self._overdue: list[OpState] = []  # almost always empty, and cheaper to create than a deque
        self._held: list[Op[Any]] = []
        self._dropped: list[OpState] = []
        """Operations recorded as open that the code no longer wants."""
        self._visited: set[str] = set()
        self._last_order = 0
        self._opened = 0
        self.more = False
        """Whether more results are left to deliver in another decision."""
        history.on_closed = self._due.append

    # -- running -------------------------------------------------------------------------------------------------

    def start(self, coroutine: Callable[[Scope], Any], wall: Millis) -> None:
        """Runs the function's first turn, then delivers all results that the history has."""
        watch()
        root = Scope(self)
        context = contextvars.copy_context()
        context.run(current.set, root)
        self.main = self.loop.spawn(root.enter(coroutine), context, MAIN)
        self.pump(wall)

    def pump(self, wall: Millis) -> None:
        """Runs turn after turn until nothing is left to deliver."""
        self.wall, self.more, self._opened = wall, False, 0
        due, overdue = self._due, self._overdue
        if not (due or self.replaying):
            self.now = wall
        if self.loop.ready:
            self._turn()
        while (due or overdue or self.replaying) and self.blocked is None and not (self.main and self.main.done()):
            if overdue:
                state = overdue.pop(0)
            elif due:
                state = due.popleft()
                self._last_order = state.order
                if state.closed_at is not None and state.closed_at > self.now:
                    self.now = state.closed_at
            elif self.collecting:
                return
            else:
                self._end_replay()
                self._turn()
                continue
            op = self.waiting.pop(state.at, None)
            if op is not None:
                self.after = state.at
                self.loop.calls = 0
                op.deliver(state)
                self._turn()
                if self._opened >= ENOUGH and due and not self.replaying:
                    self.more = True
                    return
            elif state.kind == "update":
                self._begin_update(state)
        if self.replaying and self.blocked is None and not self.collecting:
            self._end_replay()  # the function ended: check that the history agrees

    @property
    def run_id(self) -> RunId:
        return self.history.run_id

    @property
    def collecting(self) -> bool:
        """Whether to enter every body to find rollback handlers, recording and starting nothing."""
        return self.types is not None

    @property
    def silent(self) -> bool:
        """Whether the function's log lines are suppressed: it is only inspected, or was evicted."""
        return self.loop.quiet or self.evicted

    @property
    def over(self) -> bool:
        return self.blocked is not None or (self.main is not None and self.main.done())

    @property
    def has_no_open_ops(self) -> bool:
        """Whether every operation's result was delivered, and no caller can be waiting for an update."""
        return not self.waiting and self.answering is None

    def _turn(self) -> None:
        self.loop.run()
        if self.unsettled or self.loop.stuck:
            self._settle()

    def _settle(self) -> None:
        while self.unsettled and not self.replaying and not self.over:
            ended, self.unsettled = self.unsettled, []
            for op in ended:
                state = self.history.ops.get(op.at)
                if state is not None and state.status == "open":
                    op.settle(state)
            self.loop.run()
        if self.loop.stuck:
            self._give_up_spinning()

    def _give_up_spinning(self) -> None:
        self.loop.stuck, self.loop.calls = False, 0
        if self.main is not None and not self.main.done():
            main, self.main = self.main, None
            self._close_code(main.get_coro())
            self.main = self.loop.spawn(_raise(spinning("the workflow")), contextvars.copy_context())
            self.loop.run()

    # -- operations ----------------------------------------------------------------------------------------------

    def open(self, op: Op[Any]) -> None:
        """Called when the code first awaits an operation."""
        self.loop.calls = 0
        state = self.history.ops.get(op.at)
        if state is None and self._live and type(op) is StepOp:  # by far the most common
            self._begin(op)  # pyright: ignore[reportUnknownArgumentType]
        elif type(op) is RemovedOp:
            self._remove(op, state)
        elif state is not None:
            self._take_up(op, state)
        elif type(op) is VersionOp:
            self._gate(op)
        elif not self._live:
            self._held.append(op)
        else:
            self._begin(op)

    def _begin(self, op: Op[Any]) -> None:
        self._opened += 1
        try:
            if self._opened > MAX_OPENED:
                what, fix = f"{op.kind} `{op.name}` is one too many at a time", f"open at most {MAX_OPENED} at once"
                raise bad_option(what, fix)
            event = op.opened()
        except WorkflowCodeError as error:
            op.fail(error)
            return
        record, self.waiting[op.at] = self.record, op
        record(event)
        op.begin(self.history.ops[op.at])

    def _take_up(self, op: Op[Any], state: OpState) -> None:
        self._visited.add(op.at)
        misfit = op.misfit(state) if state.kind == op.kind else f"{state.kind} `{state.at}`"
        if misfit is not None:
            self._diverge(op.at, misfit, op.words, state, op)
            return
        if isinstance(op, VersionOp):
            op.answer(op.value(state))
            return
        self.waiting[op.at] = op
        if self.types is not None:
            self.types[op.at] = op.returns
        if state.status == "open" or (self.collecting and not isinstance(op, StepOp | AgentOp)):
            op.resume(state)
        if state.order and state.order <= self._last_order:
            self._overdue.append(state)

    def _gate(self, op: VersionOp) -> None:
        if self.replaying and self._unvisited() is not None:
            op.answer(1)  # the run is already past this point
        else:
            op.answer(op.latest)
            if self.replaying:
                self._held.append(op)
            elif not self.collecting:
                self.record(op.opened())

    def _remove(self, op: RemovedOp, state: OpState | None) -> None:
        if state is not None and state.kind not in (op.original, "removed"):
            self._diverge(op.at, f"{state.kind} `{state.at}`", f"removed {op.original} `{op.name}`", state)
            return
        if state is not None or op.original == "update":
            self._visited.add(op.at)
            self._visited.update(path for path in self.history.ops if path.startswith(f"{op.at}/"))
            if state is not None and state.status == "open":
                self._drop(state)
            for inner in list(self.history.open_ops()):
                if inner.at.startswith(f"{op.at}/"):
                    self._drop(inner)
        op.answer()

    def cancelled(self, op: Op[Any]) -> None:
        """Called when the workflow's code cancels the task that awaits the operation."""
        if self.evicted:
            return
        self.waiting.pop(op.at, None)
        op.scope.done(op.name)
        if op in self._held:
            self._held.remove(op)
        op.revoke()
        state = self.history.ops.get(op.at)
        if state is not None:
            self._drop(state)

    def _drop(self, state: OpState) -> None:
        if state.status != "open" and not state.received:
            return
        if self.replaying:
            # A log of an older release may validly end before the messages that a losing branch took were given back
            if state.status == "open" or self._again:
                self._dropped.append(state)
            return
        if state.received:
            self._give_back(state)
            return
        for effect in revoking(state, self.token(state.at)):
            self.effect(effect)
        self.record(OpClosed(state.at, "cancelled"))

    def close(
        self, at: str, *, output: Raw = ABSENT, error: ErrorInfo | None = None, winner: str | None = None
    ) -> None:
        """Closes an operation that needs nothing more from outside; its result is delivered in order."""
        self.record(OpClosed(at, "failed" if error else "completed", output, error, winner=winner))

    def feed(self, state: OpState) -> bool:
        """Gives queued messages to an operation that listens for them."""
        found = self.history.messages_for(state)
        if found:
            self.record(OpClosed(state.at, messages=found))
        return bool(found)

    def feed_all(self, name: str | None = None) -> None:
        """Delivers queued messages, or those of one name, to their listeners in the order these were opened."""
        if not self.history.queue:
            return
        for state in self.history.listeners():
            wants = name is None or name in (state.names or ())
            if wants and state.at in self.waiting and self.feed(state):
                for effect in revoking(state, self.token(state.at)):
                    self.effect(effect)

    def give_back_undelivered(self) -> None:
        """Called when the run ends: messages that were taken but not delivered return to the queue."""
        for state in [state for state in self._due if state.received and state.at in self.waiting]:
            self._give_back(state)

    def _give_back(self, state: OpState) -> None:
        self.record(OpClosed(state.at, "cancelled", messages=[message.id for message in state.received or ()]))
        self.feed_all()

    def _begin_update(self, state: OpState) -> None:
        """Delivers an accepted update to its handler."""
        if state.at in self._visited and self.replaying:  # its handler was removed
            return
        self._visited.add(state.at)
        self.after, self.loop.calls = state.at, 0
        self.blocked = begin_update(self, state) or self.blocked
        self._turn()

    def undecodable(self, op: Op[Any], why: str) -> None:
        self.blocked = undecodable(op, why)

    # -- replay --------------------------------------------------------------------------------------------------

    def _end_replay(self) -> None:
        """Called once all recorded results are delivered: checks that the code fits them, and goes live."""
        missing = self._unvisited()
        if missing is not None:
            held = next(iter(self._held), None)
            asked = "nothing" if held is None else f"{held.kind} `{held.name}`"
            if self.main is not None and self.main.done() and held is None:
                asked = end_of(self.main)
            self._diverge(missing.at, f"{missing.kind} `{missing.at}`", asked, missing, held)
            return
        self.replaying = False
        self._live = not self.collecting
        self._visited.clear()
        self.now = max(self.now, self.wall)
        for state in self._dropped:
            self._drop(state)
        self._dropped.clear()
        held, self._held = self._held, []
        for op in held:
            if isinstance(op, VersionOp):
                self.record(op.opened())
            else:
                self._begin(op)
        if self.answering is not None and self._live:
            self.answering.publish_held(self.record)
        self.feed_all()

    def _unvisited(self) -> OpState | None:
        """The first recorded operation that the code has not asked for and that no finished body covers."""
        for path, op in self.history.ops.items():
            if path in self._visited or op.spare or is_covered(self.history, self._visited, path):
                continue
            if self._spares is None or not self._spares.take(op):
                return op
        return None

    def _diverge(self, at: str, expected: str, found: str, state: OpState, asked: Op[Any] | None = None) -> None:
        name, there = (None, False) if asked is None else (asked.name, asked.at == at)
        self.blocked = diverged(self.run_id, at, expected, found, state.kind, name, there=there)

    # -- helpers for operations ----------------------------------------------------------------------------------

    def token(self, at: str) -> TaskToken:
        return token_of(at, self.history.generation)

    def child_id(self, at: str) -> RunId:
        return child_id(self.run_id, at, self.history.generation, self.history.recoveries)

    def count_idle(self, what: str) -> None:
        """Counts an iteration that may open no operation; raises if the loop would spin forever."""
        self.loop.calls += 1
        if self.loop.calls > MAX_CALLBACKS:
            self.loop.calls = 0
            raise spinning(what)

    def _time(self) -> float:
        return self.now / 1000

    def _open_timer(self, when: float, fire: Callable[[], None]) -> Callable[[], None]:
        scope = current.get()
        if scope is None or scope.replay is not self:
            return lambda: None
        if not when - self._time() <= MAX_WAIT:
            raise bad_option(f"a timer of {when - self._time():g} s", "use at most 100 years")
        op = TimerOp(scope, scope.timer_name(), Due(Millis(round(when * 1000))), fire)
        op.start()
        return lambda: None if op.future is None or op.future.done() else void(op.future.cancel())

    def evict(self) -> None:
        """Drops the function. Synchronous code in a `finally` may run; a ctx call there raises EvictedError."""
        self.evicted = True
        self.history.on_closed = None
        if self.main is not None and not (self.main.done() and len(self.loop.alive) <= 1):
            self.loop.drop_tasks()
            for task in reversed(self.loop.alive):
                if not task.done():
                    self._close(task)
        self.loop.release()
        self.waiting.clear()
        self.main = None

    def _close(self, task: TurnTask) -> None:
        self.loop.calls = 0
        self.loop.call_soon(self._close_code, task.get_coro())
        self.loop.run()

    def _close_code(self, coroutine: object) -> None:
        if not close(coroutine):
            log.warning("run %s: its code catches the signal to stop; write `except Exception`", self.run_id)


async def _raise(error: Exception) -> None:
    raise error


def void(_: object) -> None:
    return None
