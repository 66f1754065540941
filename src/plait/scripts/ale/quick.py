"""Expressions as Python closures: the fast part of the interpreter.

Each maker takes the closures of the parts and returns the closure of the whole. The most common calls have special
closures with a fast path for small integers; everything else goes to the core function. Errors carry their place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from .calls import call_data
from .code import Quick
from .errors import AleError, AleRuntimeError, Place
from .kinds import Builtin, Case, Frame, Keyword, Object, Procedure, Value
from .limits import TOO_BIG

UNSET = object()
"""The content of a slot whose name has no value yet."""

_PROCEDURE_BYTES = 256

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_BY_ONE = {"inc": 1, "dec": -1}
_SIMPLE = frozenset({str, int, bool, float, Keyword, type(None)})
_COMPARISON: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def constant(value: Value) -> Quick:
    return lambda frame: value


def local(out: int, slot: int) -> Quick:
    if out == 0:
        return lambda frame: frame[slot]
    if out == 1:
        return lambda frame: frame[1][slot]
    if out == 2:
        return lambda frame: frame[1][1][slot]

    def far(frame: Frame) -> Value:
        for _ in range(out):
            frame = frame[1]
        return frame[slot]

    return far


def early(found: Quick, name: str, place: Place) -> Quick:
    """A name that may have no value yet."""

    def checked(frame: Frame) -> Value:
        value = found(frame)
        if value is UNSET:
            raise AleRuntimeError("no_value_yet", f"name has no value yet: {name}", place)
        return value

    return checked


def choice(test: Quick, then: Quick, other: Quick) -> Quick:
    return lambda frame: then(frame) if test(frame) is not False else other(frame)


def conjunction(parts: Sequence[Quick]) -> Quick:
    *firsts, last = parts

    def every(frame: Frame) -> Value:
        for part in firsts:
            if part(frame) is False:
                return False
        return last(frame)

    return every


def disjunction(parts: Sequence[Quick]) -> Quick:
    *firsts, last = parts

    def some(frame: Frame) -> Value:
        for part in firsts:
            value = part(frame)
            if value is not False:
                return value
        return last(frame)

    return some


def assignment(slot: int, value: Quick) -> Quick:
    def assign(frame: Frame) -> None:
        frame[slot] = value(frame)

    return assign


def reraise(slot: int) -> Quick:
    def again(frame: Frame) -> None:
        if frame[slot] is not None:
            raise frame[slot]

    return again


def message(slot: int) -> Quick:
    """The text of the error in a slot."""
    return lambda frame: frame[slot].message


def sequence(parts: Sequence[Quick]) -> Quick:
    *firsts, last = parts

    def run(frame: Frame) -> Value:
        for part in firsts:
            part(frame)
        return last(frame)

    return run


def procedure(cases: tuple[Case, ...], name: str) -> Quick:
    def make(frame: Frame) -> Procedure:
        frame[0].hold(_PROCEDURE_BYTES)
        return Procedure(cases, frame, name)

    return make


def arguments(parts: Sequence[Quick]) -> Quick:
    """The arguments of a call, as a tuple."""
    match parts:
        case []:
            return lambda frame: ()
        case [one]:
            return lambda frame: (one(frame),)
        case [one, two]:
            return lambda frame: (one(frame), two(frame))
        case [one, two, three]:
            return lambda frame: (one(frame), two(frame), three(frame))
        case _:
            return lambda frame: tuple([part(frame) for part in parts])


def core_call(builtin: Builtin, args: Sequence[Quick], place: Place) -> Quick:
    """A call of a core function that does not suspend, with a valid number of arguments."""
    if len(args) == 2 and builtin.name in _COMPARISON:
        return _comparison(_COMPARISON[builtin.name], builtin, args[0], args[1], place)
    if len(args) == 2 and builtin.name in _ARITHMETIC:
        return _arithmetic(_ARITHMETIC[builtin.name], builtin, args[0], args[1], place)
    if len(args) == 2 and builtin.name == "eq":
        return _equality(builtin, args[0], args[1], place)
    if len(args) == 1 and builtin.name in _BY_ONE:
        return _by_one(_BY_ONE[builtin.name], builtin, args[0], place)
    if len(args) == 1:
        return _unary(builtin, args[0], place)
    return _any_call(builtin, tuple(args), place)


def _comparison(
    operation: Callable[[Any, Any], Any], builtin: Builtin, left: Quick, right: Quick, place: Place
) -> Quick:
    def compare(frame: Frame) -> Value:
        a = left(frame)
        b = right(frame)
        if type(a) is int and type(b) is int:
            return operation(a, b)
        try:
            return builtin.run(frame[0], a, b)
        except AleError as error:
            error.place(place)
            raise

    return compare


def _arithmetic(
    operation: Callable[[Any, Any], Any], builtin: Builtin, left: Quick, right: Quick, place: Place
) -> Quick:
    def compute(frame: Frame) -> Value:
        a = left(frame)
        b = right(frame)
        if type(a) is int and type(b) is int:
            result = operation(a, b)
            if -TOO_BIG < result < TOO_BIG:
                return result
        try:
            return builtin.run(frame[0], a, b)
        except AleError as error:
            error.place(place)
            raise

    return compute


def _by_one(step: int, builtin: Builtin, arg: Quick, place: Place) -> Quick:
    def count(frame: Frame) -> Value:
        value = arg(frame)
        if type(value) is int and -TOO_BIG < value + step < TOO_BIG:
            return value + step
        try:
            return builtin.run(frame[0], value)
        except AleError as error:
            error.place(place)
            raise

    return count


def _equality(builtin: Builtin, left: Quick, right: Quick, place: Place) -> Quick:
    def compare(frame: Frame) -> Value:
        a = left(frame)
        b = right(frame)
        if type(a) in _SIMPLE:
            return type(a) is type(b) and a == b
        try:
            return builtin.run(frame[0], a, b)
        except AleError as error:
            error.place(place)
            raise

    return compare


def _unary(builtin: Builtin, arg: Quick, place: Place) -> Quick:
    run = builtin.run

    def call(frame: Frame) -> Value:
        value = arg(frame)
        try:
            return run(frame[0], value)
        except AleError as error:
            error.place(place)
            raise

    return call


def _any_call(builtin: Builtin, args: tuple[Quick, ...], place: Place) -> Quick:
    run = builtin.run

    def call(frame: Frame) -> Value:
        values = [arg(frame) for arg in args]
        try:
            return run(frame[0], *values)
        except AleError as error:
            error.place(place)
            raise

    return call


def data_call(head: Value, args: tuple[Quick, ...], place: Place) -> Quick:
    """A call whose head is known to be data."""
    if type(head) is Keyword and len(args) == 1:
        return _field(head, args[0], place)

    def call(frame: Frame) -> Value:
        values = tuple([arg(frame) for arg in args])
        try:
            return call_data(frame[0], head, values)
        except AleError as error:
            error.place(place)
            raise

    return call


def _field(key: Keyword, whole: Quick, place: Place) -> Quick:
    def get(frame: Frame) -> Value:
        value = whole(frame)
        if type(value) is Object:
            return value.entries.get(key)
        try:
            return call_data(frame[0], key, (value,))
        except AleError as error:
            error.place(place)
            raise

    return get
