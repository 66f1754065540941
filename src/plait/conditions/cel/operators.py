"""Operators: from lowered operands to a lowered result."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from plait.conditions.budget import Budget

from . import numbers
from .errors import CelError
from .evaluation import Run, Value
from .numbers import is_number

_TEXT_BITS: Final = 6
"""Characters copied or searched in one step, as a power of two."""


def kind_of(value: Any) -> str:
    """The name of a value's type, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "a map"
        case _:
            return "a number"


def mismatch(where: str, *found: Any) -> CelError:
    return CelError("type_mismatch", f"{where} can't take {' and '.join(map(kind_of, found))}")


def both(left: Value, right: Value) -> Value:
    return _decided(left, right, False, "`&&`")


def either(left: Value, right: Value) -> Value:
    return _decided(left, right, True, "`||`")


def _decided(left: Value, right: Value, decisive: bool, name: str) -> Value:
    """`&&` and `||`: an error on one side does not matter if the other side decides."""

    def decide(run: Run) -> bool:
        try:
            first = left(run)
            if first is decisive:
                return decisive
            if type(first) is not bool:
                raise mismatch(name, first)
        except CelError:
            if _is(right, run, decisive):
                return decisive
            raise
        second = right(run)
        if type(second) is not bool:
            raise mismatch(name, second)
        return second

    return decide


def _is(value: Value, run: Run, wanted: bool) -> bool:
    try:
        return value(run) is wanted
    except CelError:
        return False


def negation(operand: Value) -> Value:
    def negate(run: Run) -> bool:
        found = operand(run)
        if type(found) is not bool:
            raise mismatch("`!`", found)
        return not found

    return negate


def choice(test: Value, yes: Value, no: Value) -> Value:
    def choose(run: Run) -> Any:
        found = test(run)
        if type(found) is not bool:
            raise mismatch("`? :`", found)
        return yes(run) if found else no(run)

    return choose


def equality(left: Value, right: Value) -> Value:
    return lambda run: run.equal(left(run), right(run))


def inequality(left: Value, right: Value) -> Value:
    return lambda run: not run.equal(left(run), right(run))


def ordering(compare: Callable[[Any, Any], bool], name: str) -> Callable[[Value, Value], Value]:
    def lower(left: Value, right: Value) -> Value:
        def test(run: Run) -> bool:
            return ordered(compare, name, left(run), right(run), run)

        return test

    return lower


def ordered(compare: Callable[[Any, Any], bool], name: str, left: Any, right: Any, budget: Budget) -> bool:
    """Numbers, strings and booleans are ordered, each among themselves."""
    if is_number(left) and is_number(right):
        return compare(left, right)
    if type(left) is type(right) and isinstance(left, str | bool):
        budget.take(len(left) >> _TEXT_BITS if isinstance(left, str) else 0)
        return compare(left, right)
    raise mismatch(f"`{name}`", left, right)


def addition(left: Value, right: Value) -> Value:
    def add(run: Run) -> Any:
        first, second = left(run), right(run)
        if is_number(first) and is_number(second):
            return _computed(operator.add, first, second)
        if type(first) is str and type(second) is str:
            run.take(len(first) + len(second) >> _TEXT_BITS)
            return first + second
        if type(first) is list and type(second) is list:
            run.take(len(first) + len(second))  # pyright: ignore[reportUnknownArgumentType]
            return [*first, *second]
        raise mismatch("`+`", first, second)

    return add


def arithmetic(compute: Callable[[Any, Any], int | float], name: str) -> Callable[[Value, Value], Value]:
    def lower(left: Value, right: Value) -> Value:
        def calculate(run: Run) -> int | float:
            first, second = left(run), right(run)
            if is_number(first) and is_number(second):
                return _computed(compute, first, second)
            raise mismatch(f"`{name}`", first, second)

        return calculate

    return lower


def minus(operand: Value) -> Value:
    def negate(run: Run) -> int | float:
        found = operand(run)
        if not is_number(found):
            raise mismatch("`-`", found)
        return numbers.fitting(-found)

    return negate


def _computed(compute: Callable[[Any, Any], int | float], left: Any, right: Any) -> int | float:
    try:
        return numbers.fitting(compute(left, right))
    except OverflowError:  # an integer too large for a float
        raise numbers.overflow() from None


def membership(item: Value, holder: Value) -> Value:
    return lambda run: is_in(item(run), holder(run), run)


def is_in(item: Any, holder: Any, budget: Budget) -> bool:
    """Whether it is an element of a list, or a key of a map."""
    if isinstance(holder, list):
        return any(budget.equal(item, each) for each in holder)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(holder, dict):
        return isinstance(item, str) and item in holder
    raise mismatch("`in`", item, holder)


def contains(holder: Any, part: Any, budget: Budget) -> bool:
    """Whether it is a part of a string, or an element of a list."""
    if isinstance(holder, str) and isinstance(part, str):
        budget.take(len(holder) + len(part) >> _TEXT_BITS)
        return part in holder
    if isinstance(holder, list):
        return is_in(part, holder, budget)
    raise mismatch("`contains`", holder, part)


BINARY: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "_&&_": both,
    "_||_": either,
    "_==_": equality,
    "_!=_": inequality,
    "_<_": ordering(operator.lt, "<"),
    "_<=_": ordering(operator.le, "<="),
    "_>_": ordering(operator.gt, ">"),
    "_>=_": ordering(operator.ge, ">="),
    "_+_": addition,
    "_-_": arithmetic(operator.sub, "-"),
    "_*_": arithmetic(operator.mul, "*"),
    "_/_": arithmetic(numbers.divided, "/"),
    "_%_": arithmetic(numbers.remainder, "%"),
    "@in": membership,
}
UNARY: Final[dict[str, Callable[[Value], Value]]] = {"!_": negation, "-_": minus}
