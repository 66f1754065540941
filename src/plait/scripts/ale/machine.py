"""Runs code. Calls of a script are kept on our own stack, so their depth can be limited and tail calls take no space.

An entry of that stack waits for a value, and is one of
- a `Return`: a body that continues with the value where it called,
- a generator: a core function that asked for the value of a call or for a lazy cell,
- a `Lazy`: the value is its cell and is stored in it,
- a `Handler`: nothing waits; an error is caught here.
"""

from __future__ import annotations

from types import GeneratorType
from typing import Any, NamedTuple, cast

from . import code as ops
from . import quick
from .calls import call_data
from .code import Code, Instruction
from .errors import AleLimitError, AleRuntimeError, Place
from .failures import miscounted
from .kinds import Builtin, Case, Cell, Frame, Lazy, Procedure, Tail, Value, Vector
from .limits import Meter


class Return(NamedTuple):
    """A body that waits for the value of a call."""

    code: Code
    at: int
    frame: Frame


class Handler(NamedTuple):
    """Where a `try` continues after an error, and the state to restore."""

    code: Code
    at: int
    frame: Frame
    slot: int
    height: int
    """The height of the value stack."""


_WAITING: Any = GeneratorType  # its type parameters can't be known here
_READY = object()
"""Stands for a function to call when the value is already there."""


def run(meter: Meter, code: Code, frame: Frame) -> Value:
    """The value of a body in a frame."""
    machine = _Machine(meter, code, frame)
    while True:
        try:
            return machine.go()
        except AleRuntimeError as error:
            machine.recover(error)
        except AleLimitError as error:
            error.place(machine.place())
            raise


def force(meter: Meter, steps: Any) -> Value:
    """The value of a core function that waits for the machine."""

    def wait(_: Meter) -> Any:
        return steps

    code = Code()
    code.add(ops.TAIL_QUICK, quick.constant(Builtin("", 0, 0, wait, suspends=True)), quick.arguments(()))
    return run(meter, code, [meter, None])


class _Machine:
    """The state of one run. `go` keeps it in locals while it runs, and stores it when an error ends it."""

    __slots__ = ("at", "code", "frame", "meter", "stack", "values")

    def __init__(self, meter: Meter, code: Code, frame: Frame) -> None:
        self.meter = meter
        self.code = code
        self.frame = frame
        self.at = 0
        self.stack: list[Any] = []
        self.values: list[Value] = []

    def place(self) -> Place:
        """The script's current position; during a core function, the position of its call."""
        if self.stack and not isinstance(self.stack[-1], (Return, Handler)):
            for entry in reversed(self.stack):
                if isinstance(entry, Return):
                    return entry.code.places[entry.at - 1]
        return self.code.places[self.at - 1]

    def recover(self, error: AleRuntimeError) -> None:
        """Continues at the innermost handler; without one, the error leaves the script."""
        error.place(self.place())
        while self.stack:
            entry = self.stack.pop()
            if type(entry) is Handler:
                self.code, self.at, self.frame = entry.code, entry.at, entry.frame
                del self.values[entry.height :]
                self.frame[entry.slot] = error
                return
        raise error

    def go(self) -> Value:
        """The loop. It is long on purpose: a call per instruction would double its cost."""
        meter, values = self.meter, self.values
        stack: list[Any] = self.stack
        code, at, frame = self.code, self.at, self.frame
        instructions: list[Instruction] = code.instructions
        depth = meter.limits.depth
        fn: Value
        args: tuple[Value, ...]
        value: Value
        try:
            while True:
                op, a, b, cost = instructions[at]
                at += 1
                meter.fuel -= cost
                if meter.fuel < 0:
                    meter.refill()
                if op == ops.BRANCH:
                    if a(frame) is False:
                        at = b
                    continue
                value = None
                if op == ops.TAIL_QUICK:
                    fn = a(frame)
                    args = b(frame)
                elif op == ops.RETURN_QUICK:
                    fn, args, value = _READY, (), a(frame)
                elif op == ops.CALL_QUICK:
                    fn = a(frame)
                    args = b(frame)
                    stack.append(Return(code, at, frame))
                elif op == ops.PUSH:
                    values.append(a(frame))
                    continue
                elif op == ops.SET_QUICK:
                    frame[a] = b(frame)
                    continue
                elif op == ops.CALL or op == ops.TAIL:
                    first = len(values) - a
                    args = tuple(values[first:])
                    fn = values[first - 1]
                    del values[first - 1 :]
                    if op == ops.CALL:
                        stack.append(Return(code, at, frame))
                elif op == ops.RETURN:
                    fn, args, value = _READY, (), values.pop()
                else:
                    at = self._rare(op, a, b, at, code, frame)
                    continue
                while True:  # until a body continues: in a call, or where it waited
                    if fn is not _READY:
                        if len(stack) > depth:
                            raise AleLimitError("depth_limit", "recursion too deep")
                        if type(fn) is Procedure:
                            takes, rest, code, blank = fn.cases[0]
                            if takes == len(args) and not rest:
                                frame = [meter, fn.frame, *args, *blank]
                            else:
                                code, frame = entered(meter, fn, args)
                            instructions = code.instructions
                            at = 0
                            break
                        value = called(meter, fn, args) if type(fn) is Builtin else call_data(meter, fn, args)
                        if type(value) is Tail:
                            fn, args = value.fn, value.args
                            continue
                        fn = _READY
                        if type(value) is _WAITING:
                            stack.append(value)
                            value = None
                    if not stack:
                        return value
                    entry = stack[-1]
                    if type(entry) is Return:
                        stack.pop()
                        code, at, frame = entry
                        instructions = code.instructions
                        values.append(value)
                        break
                    if type(entry) is Lazy:
                        stack.pop()
                        entry.cell = cast("Cell", value)
                        entry.thunk = None
                        continue
                    try:
                        request = entry.send(value)
                    except StopIteration as stop:
                        stack.pop()
                        value = stop.value
                        if type(value) is Tail:
                            fn, args = value.fn, value.args
                        continue
                    if type(request) is Lazy:
                        value = self._cell(request)
                    else:
                        fn, args = request
                        meter.visit(1)
        finally:
            self.code, self.at, self.frame = code, at, frame

    def _rare(self, op: int, a: Any, b: Any, at: int, code: Code, frame: Frame) -> int:
        """Rare instructions. Returns the index of the next one."""
        values = self.values
        if op == ops.SET:
            frame[a] = values.pop()
        elif op == ops.POP:
            values.pop()
        elif op == ops.JUMP or (op == ops.BRANCH_POP and values.pop() is False):
            return b
        elif op == ops.KEEP_FALSE or op == ops.KEEP_TRUE:
            if (values[-1] is False) is (op == ops.KEEP_FALSE):
                return b
            values.pop()
        elif op == ops.TRY:
            self.stack.append(Handler(code, b, frame, a, len(values)))
        elif op == ops.END_TRY:
            self.stack.pop()
        return at

    def _cell(self, lazy: Lazy) -> Value:
        """The cell of a lazy sequence; if it must wait for others, pushes an entry that waits and returns nothing
        yet."""
        if lazy.cell is not None or lazy.thunk is None:
            return lazy.cell
        if len(self.stack) > self.meter.limits.depth:
            raise AleLimitError("depth_limit", "recursion too deep")
        self.stack.append(lazy)
        value = lazy.thunk(self.meter)
        if type(value) is _WAITING:
            self.stack.append(value)
            return None
        return value


def called(meter: Meter, fn: Builtin, args: tuple[Value, ...]) -> Value:
    if len(args) < fn.least or (fn.most is not None and len(args) > fn.most):
        raise miscounted(len(args), fn.least, fn.most)
    return fn.run(meter, *args)


def entered(meter: Meter, fn: Procedure, args: tuple[Value, ...]) -> tuple[Code, Frame]:
    """The body for this number of arguments, and a new frame for it."""
    for case in fn.cases:
        if case.rest:
            if len(args) >= case.takes:
                rest = args[case.takes :]
                return case.code, [meter, fn.frame, *args[: case.takes], Vector(rest, 0, len(rest)), *case.blank]
        elif len(args) == case.takes:
            return case.code, [meter, fn.frame, *args, *case.blank]
    raise _misfit(fn.cases, len(args))


def _misfit(cases: tuple[Case, ...], got: int) -> AleRuntimeError:
    counts = [case.takes for case in cases]
    return miscounted(got, min(counts), None if any(case.rest for case in cases) else max(counts))
