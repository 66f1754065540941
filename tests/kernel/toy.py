"""A second dialect, as small as one can be, so that the kernel can't come to know the first.

A definition is a list of moves, done one after the other; every move is a decision of its own that says
`more` until the run has to wait for something:

    task(name)           calls a function                    count(n)    waits until messages brought the counter to n
    nap(ms)              sets a timer                        ask(who)    asks a person
    child(program)       starts a run of this dialect        tell(...)   sends a message
    fail(text)           ends the run as failed              crash()     raises inside `decide`
    answer(value)        answers all who wonder

A message `add` adds to the counter and is answered with it; one called `wonder` is answered by the next `answer`. A
patch replaces the moves that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, cast

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.approval import Escalation
from plait.kernel.bundle import ForkPlan, Resolved
from plait.kernel.definitions import Description, Numbering, Plan
from plait.kernel.effects import (
    Answer,
    Block,
    CancelChild,
    CancelTask,
    ClearTimer,
    Decision,
    Effect,
    Finish,
    RequestApproval,
    SendMessage,
    SetTimer,
    StartChild,
    WithdrawApproval,
)
from plait.kernel.errors import Conflict, ErrorInfo, InvalidInput, NotFound, RunBlocked
from plait.kernel.events import Event, Recorded, RunFailed, RunStarted
from plait.kernel.ids import Millis, RunId, TaskToken, run_key
from plait.kernel.inputs import (
    Cancel,
    ChildFinished,
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
from plait.kernel.machine import Machine, RunInfo, TaskFacts
from plait.kernel.retry import ONCE, Retry
from plait.kernel.task import Attempt, Policy, Task
from plait.kernel.view import Edge, Node, Reason

MoveKind = Literal["task", "nap", "count", "ask", "child", "tell", "fail", "crash", "answer"]


class Move(msgspec.Struct, frozen=True, omit_defaults=True):
    kind: MoveKind
    name: str = ""
    amount: int = 0
    undo: str = ""
    attempts: int = 1
    program: list[Move] = []
    approvers: tuple[str, ...] = ()
    escalations: tuple[Escalation, ...] = ()


def task(name: str, undo: str = "", attempts: int = 1) -> Move:
    return Move("task", name, undo=undo, attempts=attempts)


def nap(ms: int) -> Move:
    return Move("nap", amount=ms)


def count(n: int) -> Move:
    return Move("count", amount=n)


def ask(who: str, required: int = 1, approvers: tuple[str, ...] = (), escalations: tuple[Escalation, ...] = ()) -> Move:
    return Move("ask", who, required, approvers=approvers, escalations=escalations)


def child(*program: Move, id: str = "") -> Move:
    return Move("child", id, program=list(program))


def tell(run_id: str, amount: int) -> Move:
    return Move("tell", run_id, amount)


def fail(text: str) -> Move:
    return Move("fail", text)


def crash() -> Move:
    return Move("crash")


def answer(value: object) -> Move:
    return Move("answer", bytes(values.encode(value)).decode())


# -- events ----------------------------------------------------------------------------------------------------------


class MoveBegun(Event, frozen=True, tag="move.begun"):
    number: int


class MoveEnded(Event, frozen=True, tag="move.ended"):
    number: int
    output: Raw = values.NULL
    error: ErrorInfo | None = None


class Counted(Event, frozen=True, tag="counted"):
    id: str
    amount: int


class Wondered(Event, frozen=True, tag="wondered"):
    id: str


class Answered(Event, frozen=True, tag="answered"):
    ids: list[str]


class Patched(Event, frozen=True, tag="patched"):
    program: list[Move]


class Again(Event, frozen=True, tag="again"):
    """The move that failed is done again."""


class Forked(Event, frozen=True, tag="forked"):
    source: str


ToyEvent = MoveBegun | MoveEnded | Counted | Wondered | Answered | Patched | Again | Forked

Calls = dict[str, Callable[..., Any]]

KIND = "toy"


class ToyExecutor:
    """Calls functions by name; an unknown name is its own result."""

    kinds = (KIND,)

    def __init__(self, calls: Calls | None = None) -> None:
        self.calls: Calls = {} if calls is None else calls

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        found = self.calls.get(task.input)
        if found is None:
            return task.input
        result = found()
        return await result if hasattr(result, "__await__") else result


class _State(msgspec.Struct):
    program: list[Move] = []
    at: int = 0
    begun: bool = False
    begun_at: Millis = Millis(0)
    counter: int = 0
    seen: list[str] = []
    wondering: list[str] = []
    """Who waits for an answer."""
    outputs: list[Any] = []
    undo: list[tuple[int, str]] = []
    failed: bool = False
    seqs: list[int] = []
    """The sequence number at which each move began."""
    seq: int = 0


class ToyMachine:
    accepts_late_results = finishes_cancelled_work = keeps_late_messages = gates_retries = reload_on_takeover = (
        compacts
    ) = False
    stops_at_failed_compensation = compensates_failures = True
    adds_dead_letters = False

    def __init__(self, info: RunInfo) -> None:
        self.info = info
        self.state = _State()
        self.closed = False

    # -- folding -----------------------------------------------------------------------------------------------------

    def evolve(self, event: Event, at: Millis) -> None:
        state = self.state
        state.seq += 1
        match event:
            case RunStarted():
                state.program = msgspec.convert(event.data["program"], list[Move])
            case MoveBegun():
                state.begun, state.begun_at = True, at
                state.seqs.append(state.seq)
            case MoveEnded():
                self._ended(event)
            case Counted():
                state.counter += event.amount
                state.seen.append(event.id)
            case Wondered():
                state.wondering.append(event.id)
                state.seen.append(event.id)
            case Answered():
                state.wondering = [id for id in state.wondering if id not in event.ids]
            case Patched():
                state.program = state.program[: state.at + state.begun] + event.program
            case Again():
                state.failed = False
            case RunFailed():
                state.failed = True
            case _:
                pass

    def _ended(self, event: MoveEnded) -> None:
        state, move = self.state, self.state.program[event.number]
        state.begun, state.at = False, event.number + 1
        state.outputs.append(values.decode(event.output))
        if move.undo and event.error is None:
            state.undo.append((event.number, move.undo))

    def snapshot(self) -> Raw:
        return Raw(values.plain(self.state))

    def restore(self, snapshot: Raw) -> None:
        self.state = msgspec.json.decode(snapshot, type=_State)

    def weight(self) -> int:
        return len(self.state.program)

    def backlog(self) -> int:
        return len(self.state.seen)

    # -- deciding ----------------------------------------------------------------------------------------------------

    def decide(self, input: Any, now: Millis) -> Decision:
        self._now = now
        self._decision = Decision()
        match input:
            case Start() | Loaded() | Continue():
                self._go_on()
            case TaskResult() | TimerFired() | ChildFinished():
                self._result(input)
            case Message():
                self._message(input)
            case Decided():
                self._decided(input)
            case Patch():
                self._patch(input)
            case Cancel():
                self._stop()
            case Resume(mode="retry" | "settle"):
                self._retry(input)
            case Resume(mode="rewind"):
                raise Conflict("toy.no_rewind", "a toy run can't be rewound")
            case _:
                pass
        return self._decision

    def _record(self, event: Event) -> None:
        self._decision.events.append(event)
        self.evolve(event, self._now)

    def _effect(self, effect: Effect) -> None:
        self._decision.effects.append(effect)

    def _go_on(self) -> None:
        """One move; then `more`, until something must be waited for."""
        state = self.state
        if state.failed or state.begun:
            return
        if state.at == len(state.program):
            self._effect(Finish("completed", values.encode({"counter": state.counter, "outputs": state.outputs})))
            return
        move = state.program[state.at]
        if move.kind == "crash":
            raise RuntimeError("the machine has a bug")
        self._record(MoveBegun(state.at))
        for effect in self._under_way():
            self._effect(effect)
        if move.kind == "tell":
            target = run_key(self.info.namespace, move.name)
            self._effect(SendMessage(f"tell:{state.at}", target, "add", values.encode(move.amount)))
            self._end(None)
        elif move.kind == "answer":
            for id in state.wondering:
                self._effect(Answer(id, Raw(move.name.encode())))
            self._record(Answered(list(state.wondering)))
            self._end(None)
        elif move.kind == "fail":
            self._fail(ErrorInfo("toy.failed", move.name))
        elif move.kind == "count" and state.counter >= move.amount:
            self._end(state.counter)

    def _end(self, output: object, error: ErrorInfo | None = None) -> None:
        self._record(MoveEnded(self.state.at, values.encode(output), error))
        self._decision.more = True

    def _fail(self, error: ErrorInfo) -> None:
        self._effect(Finish("failed", error=error))

    def _result(self, result: TaskResult | TimerFired | ChildFinished) -> None:
        if not self._expects(result.token):
            return
        if isinstance(result, TimerFired):
            self._end("rested")
        elif result.error is not None:
            self._fail(result.error)
        else:
            self._end(values.decode(result.output))

    def _message(self, message: Message) -> None:
        if message.id in self.state.seen:
            return
        if message.name == "wonder":
            self._record(Wondered(message.id))
            self._decision.replies_later = message.asks
            return
        if message.name != "add":
            raise InvalidInput("toy.unknown_message", f"a counter can't {message.name}")
        self._record(Counted(message.id, values.decode(message.body)))
        move = self._move()
        if move is not None and move.kind == "count" and self.state.counter >= move.amount:
            self._end(self.state.counter)
        self._decision.reply = values.encode(self.state.counter)

    def _decided(self, decided: Decided) -> None:
        if not self._expects(decided.token):
            raise Conflict("toy.decided", "nobody asks that any more")
        self._effect(WithdrawApproval(decided.token))
        self._end(decided.decision)

    def _patch(self, patch: Patch) -> None:
        try:
            moves = msgspec.convert(patch.operations, list[Move])
        except msgspec.ValidationError as error:
            raise InvalidInput("toy.unknown_move", str(error)) from None
        self._record(Patched(moves))
        self._decision.more = True

    def _retry(self, resume: Resume) -> None:
        if not self.state.failed or resume.verdict == "discard":
            return
        self._decision.reopen = "retry"
        self._record(Again())
        self._decision.retried = [self._token()]
        for effect in self._under_way():
            self._effect(effect)

    def _stop(self) -> None:
        move, token = self._move(), self._token()
        match move.kind if move is not None else None:
            case "task":
                self._effect(CancelTask(token))
            case "nap":
                self._effect(ClearTimer(token))
            case "ask":
                self._effect(WithdrawApproval(token))
            case "child":
                self._effect(CancelChild(self._child_id()))
            case _:
                pass

    # -- what must be under way --------------------------------------------------------------------------------------

    def pending(self, now: Millis, *, recovered: bool) -> list[Effect]:
        return [] if self.state.failed else self._under_way()

    def _under_way(self) -> list[Effect]:
        move, token = self._move(), self._token()
        match move.kind if move is not None else None:
            case "task":
                return [self._task(token, cast("Move", move))]
            case "nap":
                return [SetTimer(token, Millis(self.state.begun_at + cast("Move", move).amount))]
            case "ask":
                asked = cast("Move", move)
                voting = {"required": asked.amount, "approvers": asked.approvers, "escalations": asked.escalations}
                return [RequestApproval(token, "May I?", asked.name, **voting)]
            case "child":
                data = {"program": cast("Move", move).program}
                return [StartChild(token, self._child_id(), "toy", msgspec.to_builtins(data))]
            case _:
                return []

    def _task(self, token: TaskToken, move: Move) -> Task:
        retry = ONCE if move.attempts == 1 else Retry(max_attempts=move.attempts, backoff="fixed", first=1.0)
        return Task(token, f"task `{move.name}`", KIND, move.name, Policy(retry), token)

    def compensations(self) -> list[Task]:
        return [
            Task(TaskToken(f"undo:{number}"), f"undo `{name}`", KIND, name, Policy(), f"undo:{number}")
            for number, name in self.state.undo
        ]

    def _move(self) -> Move | None:
        return self.state.program[self.state.at] if self.state.begun else None

    def _token(self) -> TaskToken:
        return TaskToken(f"move:{self.state.at}")

    def _expects(self, token: TaskToken) -> bool:
        return self.state.begun and not self.state.failed and token == self._token()

    def _child_id(self) -> RunId:
        move = self._move()
        if move is not None and move.name:
            return run_key(self.info.namespace, move.name)
        return RunId(f"{self.info.run_id}.{self.state.at}")

    # -- showing -----------------------------------------------------------------------------------------------------

    def nodes(self, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]:
        state = self.state
        nodes = [
            Node(
                id=f"move:{number}",
                kind=move.kind,
                label=move.name or move.kind,
                status="completed" if number < state.at else "running" if number == state.at else "pending",
            )
            for number, move in enumerate(state.program)
        ]
        return nodes, [Edge(a.id, b.id) for a, b in pairwise(nodes)]

    def waiting(self, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]:
        move = self._move()
        return [Reason(move.kind, f"{move.kind} {move.name or move.amount}", self._token())] if move else []

    def details(self) -> None:
        return None

    def close(self) -> None:
        self.closed = True


class ToyBundle:
    name = "toy"
    events: Any = ToyEvent
    rewinds = False
    retries_compensated = False
    edits_agents = False
    edits_outputs = False
    hears_after_end = False
    numbering: Numbering = "count"
    surface = ""

    def __init__(self, calls: Calls | None = None) -> None:
        self.calls: Calls = {} if calls is None else calls
        self.executors = [ToyExecutor(self.calls)]

    def accepts(self, definition: object) -> bool:
        return isinstance(definition, list)

    def read(self, definition: str | dict[str, Any]) -> object:
        """`{"program": [...]}`"""
        if isinstance(definition, str):
            raise NotFound("toy.no_name", f"no toy is called `{definition}`", fix="send a program")
        if not isinstance(definition.get("program"), list):
            raise InvalidInput("toy.no_program", "a toy is a program", fix='send {"program": [...]}')
        return definition["program"]

    def declare(self, definition: object) -> bool:
        return False

    async def check_definition(self, definition: dict[str, Any], namespace: str) -> Sequence[str]:
        self.read(definition)
        return ()

    async def resolve(self, definition: object, input: object, namespace: str = "default") -> Resolved:
        if any(move == "unknown" for move in cast("list[Any]", definition)):
            raise InvalidInput("toy.unknown_move", "there is no such move")
        return Resolved("toy", None, values.encode(input), msgspec.to_builtins({"program": definition}))

    def returns(self, definition: str, version: str | None) -> Any:
        return Any

    def failure(self, error: ErrorInfo) -> None:
        return None

    def blocked(self, run_id: str, error: ErrorInfo) -> RunBlocked:
        return RunBlocked(run_id, error)

    async def open(self, *, working: bool) -> None:
        return None

    async def drain(self) -> None:
        return None

    async def close(self) -> None:
        return None

    async def plan(self, definition: object, input: object, namespace: str) -> Plan:
        return Plan(dialect=self.name, definition="toy")

    def describe(self) -> list[Description]:
        return []

    def machine(self, info: RunInfo) -> ToyMachine:
        return ToyMachine(info)

    def restore(self, info: RunInfo, snapshot: Raw) -> ToyMachine:
        machine = self.machine(info)
        machine.restore(snapshot)
        return machine

    def inseparable(self, event: Recorded, following: Recorded) -> bool:
        return False

    def fork(self, machine: Machine, at: int | str | None, edits: Mapping[str, Any]) -> ForkPlan:
        state = cast("ToyMachine", machine).state
        return ForkPlan(at if isinstance(at, int) else state.seq, Forked(cast("ToyMachine", machine).info.run_id))

    def rewind_point(self, machine: Machine, at: str | None) -> int:
        raise Conflict("toy.no_rewind", "a toy run can't be rewound")


def blocked(text: str) -> Block:
    return Block(ErrorInfo("toy.blocked", text, kind="blocked"))
