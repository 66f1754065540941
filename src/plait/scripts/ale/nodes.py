"""The intermediate form of a text, all special forms reduced to a few: built by the compiler, emitted as instructions.

A node whose parts are all quick is quick itself, up to a height that is safe for Python's stack. Above that, and
wherever a procedure is called, it becomes instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import code as ops
from . import quick as quicks
from .code import Code, Quick
from .errors import Place
from .flat import Task
from .kinds import Builtin, Case, Keyword, List, Object, Set, Value, Vector

_MAX_HEIGHT = 30


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Any expression. `cost` is the number of steps of its quick form, if it has one."""

    place: Place
    quick: Quick | None
    cost: int
    height: int


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Node):
    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Node):
    test: Node
    then: Node
    other: Node


@dataclass(frozen=True, slots=True, eq=False)
class Logic(Node):
    """`and` and `or`: evaluates the parts until one is `keep`."""

    parts: Sequence[Node]
    keep: int


@dataclass(frozen=True, slots=True, eq=False)
class Assignment(Node):
    """Assigns a value to a slot. It occurs in a sequence, never last."""

    slot: int
    value: Node


@dataclass(frozen=True, slots=True, eq=False)
class Sequential(Node):
    parts: Sequence[Node]


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    head: Node
    args: Sequence[Node]


@dataclass(frozen=True, slots=True, eq=False)
class Guarded(Node):
    """Runs the body; after an error, which is stored in a slot, the handler. `always` runs after both; then an error
    that is still in the slot is raised again."""

    slot: int
    body: Node
    handler: Node
    always: Node | None


def constant(place: Place, value: Value) -> Constant:
    return Constant(place, quicks.constant(value), 0, 0, value)


def local(place: Place, out: int, slot: int, early: str | None = None) -> Node:
    """A local; with a name if it may have no value yet."""
    found = quicks.local(out, slot)
    return Node(place, found if early is None else quicks.early(found, early, place), 0, 0)


def procedure(place: Place, cases: tuple[Case, ...], name: str) -> Node:
    return Node(place, quicks.procedure(cases, name), 1, 0)


def choice(place: Place, test: Node, then: Node, other: Node) -> Choice:
    quick = None
    height = _height(test, then, other)
    if test.quick and then.quick and other.quick and height <= _MAX_HEIGHT:
        quick = quicks.choice(test.quick, then.quick, other.quick)
    return Choice(place, quick, 1 + test.cost + then.cost + other.cost, height, test, then, other)


def every(place: Place, parts: Sequence[Node]) -> Node:
    """`and`."""
    if not parts:
        return constant(place, True)
    quick = _all_quick(parts)
    made = quicks.conjunction(quick) if quick else None
    return Logic(place, made, 1 + _cost(parts), _height(*parts), parts, ops.KEEP_FALSE)


def some(place: Place, parts: Sequence[Node]) -> Node:
    """`or`."""
    if not parts:
        return constant(place, False)
    quick = _all_quick(parts)
    made = quicks.disjunction(quick) if quick else None
    return Logic(place, made, 1 + _cost(parts), _height(*parts), parts, ops.KEEP_TRUE)


def assignment(place: Place, slot: int, value: Node) -> Assignment:
    quick = quicks.assignment(slot, value.quick) if value.quick and value.height < _MAX_HEIGHT else None
    return Assignment(place, quick, value.cost, value.height + 1, slot, value)


def sequential(place: Place, parts: Sequence[Node]) -> Node:
    if len(parts) < 2:
        return parts[0] if parts else constant(place, None)
    quick = _all_quick(parts)
    return Sequential(place, quicks.sequence(quick) if quick else None, 1 + _cost(parts), _height(*parts), parts)


def call(place: Place, head: Node, args: Sequence[Node]) -> Call:
    made = None
    quick = _all_quick(args) if args else []
    if quick is not None and isinstance(head, Constant):
        if isinstance(head.value, Builtin) and _fits(head.value, len(args)):
            made = quicks.core_call(head.value, quick, place)
        elif isinstance(head.value, Keyword | str | bool | int | Object | Set | Vector | List):
            made = quicks.data_call(head.value, tuple(quick), place)
    return Call(place, made, 1 + _cost(args), _height(*args), head, args)


def guarded(place: Place, slot: int, body: Node, handler: Node, always: Node | None) -> Guarded:
    return Guarded(place, None, 1, 0, slot, body, handler, always)


def _fits(builtin: Builtin, count: int) -> bool:
    return not builtin.suspends and builtin.least <= count and (builtin.most is None or count <= builtin.most)


def _all_quick(parts: Sequence[Node]) -> list[Quick] | None:
    found = [part.quick for part in parts if part.quick]
    return found if len(found) == len(parts) and _height(*parts) <= _MAX_HEIGHT else None


def _cost(parts: Sequence[Node]) -> int:
    return sum(part.cost for part in parts)


def _height(*parts: Node) -> int:
    return 1 + max((part.height for part in parts), default=0)


def emit(code: Code, node: Node, *, last: bool = False) -> Task[None]:
    """Adds the instructions of a node. They leave its value on the value stack, or, if it is last, return it."""
    if node.quick:
        code.add(ops.RETURN_QUICK if last else ops.PUSH, node.quick, cost=node.cost, place=node.place)
        return
    match node:
        case Choice():
            yield _emit_choice(code, node, last=last)
        case Logic():
            yield _emit_logic(code, node, last=last)
        case Sequential():
            for part in node.parts[:-1]:
                yield _emit_statement(code, part)
            yield emit(code, node.parts[-1], last=last)
        case Call():
            yield _emit_call(code, node, last=last)
        case Guarded():
            yield _emit_guarded(code, node)
            if last:
                code.add(ops.RETURN)
        case _:
            raise AssertionError(node)


def _emit_choice(code: Code, node: Choice, *, last: bool) -> Task[None]:
    if node.test.quick:
        skip = code.add(ops.BRANCH, node.test.quick, cost=1 + node.test.cost, place=node.test.place)
    else:
        yield emit(code, node.test)
        skip = code.add(ops.BRANCH_POP, cost=1, place=node.place)
    yield emit(code, node.then, last=last)
    end = None if last else code.add(ops.JUMP)
    code.land(skip)
    yield emit(code, node.other, last=last)
    if end is not None:
        code.land(end)


def _emit_logic(code: Code, node: Logic, *, last: bool) -> Task[None]:
    exits: list[int] = []
    for part in node.parts[:-1]:
        yield emit(code, part)
        exits.append(code.add(node.keep, cost=1, place=node.place))
    yield emit(code, node.parts[-1], last=last)
    for jump in exits:
        code.land(jump)
    if last:
        code.add(ops.RETURN)


def _emit_statement(code: Code, node: Node) -> Task[None]:
    if not isinstance(node, Assignment):
        yield emit(code, node)
        code.add(ops.POP)
    elif node.value.quick:
        code.add(ops.SET_QUICK, node.slot, node.value.quick, cost=1 + node.value.cost, place=node.place)
    else:
        yield emit(code, node.value)
        code.add(ops.SET, node.slot, cost=1, place=node.place)


def _emit_call(code: Code, node: Call, *, last: bool) -> Task[None]:
    parts = [part.quick for part in (node.head, *node.args) if part.quick]
    if len(parts) == 1 + len(node.args):
        op = ops.TAIL_QUICK if last else ops.CALL_QUICK
        code.add(
            op, parts[0], quicks.arguments(parts[1:]), cost=1 + node.head.cost + _cost(node.args), place=node.place
        )
        return
    for part in (node.head, *node.args):
        yield emit(code, part)
    code.add(ops.TAIL if last else ops.CALL, len(node.args), cost=1, place=node.place)


def _emit_guarded(code: Code, node: Guarded) -> Task[None]:
    """Nothing is emitted twice, or nested forms would grow exponentially: both paths meet before `always`."""
    start = code.add(ops.TRY, node.slot, cost=1, place=node.place)
    yield emit(code, node.body)
    code.add(ops.END_TRY)
    code.add(ops.SET_QUICK, node.slot, quicks.constant(None))
    end = code.add(ops.JUMP)
    code.land(start)
    yield emit(code, node.handler)
    code.land(end)
    if node.always is not None:
        yield _emit_statement(code, node.always)
        yield _emit_statement(code, reraise(node.place, node.slot))


def reraise(place: Place, slot: int) -> Node:
    """Raises the error in a slot again, if there is one."""
    return Node(place, quicks.reraise(slot), 0, 0)
