"""Decodes the output of CEL's parser: a `cel.expr.ParsedExpr` in the wire format of Protocol Buffers.

Its few message types don't justify a dependency on that package; field numbers are those of `cel/expr/syntax.proto`.
Macros come expanded into comprehensions: each has a distinct form, by which it is recognised here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, cast

from .errors import CelSyntaxError
from .syntax import Call, Fold, List, Literally, Map, Name, Node, Select

_SIGN = 1 << 63


class Message:
    """One message: its fields by number, each with all of its values."""

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, list[int | bytes]] = {}
        for number, value in _fields(data):
            self._fields.setdefault(number, []).append(value)

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def number(self, field: int) -> int:
        found = cast("int", self._fields.get(field, [0])[-1])
        return found - (1 << 64) if found >= _SIGN else found

    def raw(self, field: int) -> bytes:
        return cast("bytes", self._fields.get(field, [b""])[-1])

    def text(self, field: int) -> str:
        return self.raw(field).decode()

    def message(self, field: int) -> Message:
        return Message(self.raw(field))

    def messages(self, field: int) -> list[Message]:
        return [Message(cast("bytes", each)) for each in self._fields.get(field, [])]


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        match key & 7:
            case 0:
                value, at = _varint(data, at)
                yield key >> 3, value
            case 1:
                yield key >> 3, data[at : at + 8]
                at += 8
            case 2:
                size, at = _varint(data, at)
                yield key >> 3, data[at : at + size]
                at += size
            case other:
                raise ValueError(f"wire type {other}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def tree_of(serialized: bytes, place: Callable[[int], int]) -> Node:
    """`serialized` is an `Any` that holds the `ParsedExpr`; `place` maps the parser's positions to those in the
    text."""
    parsed = Message(serialized).message(2)
    places = {each.number(1): place(each.number(2)) for each in parsed.message(3).messages(4)}
    return _Decoding(places).node(parsed.message(2))


class _Decoding:
    def __init__(self, places: dict[int, int]) -> None:
        self._places = places

    def node(self, expr: Message) -> Node:
        at = self._places.get(expr.number(2), 0)
        if 4 in expr:
            return Name(at, expr.message(4).text(1))
        if 5 in expr:
            select = expr.message(5)
            return Select(at, self.node(select.message(1)), select.text(2), bool(select.number(3)))
        if 6 in expr:
            return self._call(at, expr.message(6))
        if 7 in expr:
            return List(at, self._all(expr.message(7).messages(1)))
        if 8 in expr:
            return self._map(at, expr.message(8))
        if 9 in expr:
            return self._fold(at, expr.message(9))
        return Literally(at, _constant(at, expr.message(3)))

    def _all(self, found: list[Message]) -> tuple[Node, ...]:
        return tuple(map(self.node, found))

    def _call(self, at: int, call: Message) -> Call:
        arguments = self._all(call.messages(3))
        if 1 in call:
            return Call(at, f".{call.text(2)}", (self.node(call.message(1)), *arguments))
        return Call(at, call.text(2), arguments)

    def _map(self, at: int, created: Message) -> Map:
        if 1 in created:
            raise CelSyntaxError(f"there is no type `{created.text(1)}`", at + 1)
        entries = created.messages(2)
        return Map(at, tuple((self.node(each.message(3)), self.node(each.message(4))) for each in entries))

    def _fold(self, at: int, fold: Message) -> Fold:
        variable, over = fold.text(1), self.node(fold.message(2))
        start, step = self.node(fold.message(4)), self.node(fold.message(6))
        match start, step:
            case Literally(value=True), Call(function="_&&_", arguments=(_, test)):
                return Fold(at, "all", variable, over, test, None)
            case Literally(value=False), Call(function="_||_", arguments=(_, test)):
                return Fold(at, "exists", variable, over, test, None)
            case Literally(), Call(function="_?_:_", arguments=(test, _, _)):
                return Fold(at, "exists_one", variable, over, test, None)
            case List(), Call(function="_+_", arguments=(_, List(items=(body,)))):
                return Fold(at, "map", variable, over, None, body)
            case List(), Call(
                function="_?_:_", arguments=(test, Call(function="_+_", arguments=(_, List(items=(body,)))), _)
            ):
                return Fold(at, "map", variable, over, test, body)
            case _:
                raise CelSyntaxError("this macro is unknown", at + 1)


def _constant(at: int, constant: Message) -> Any:
    if 2 in constant:
        return bool(constant.number(2))
    if 3 in constant:
        return constant.number(3)
    if 4 in constant:
        return _unsigned(at, constant.number(4))
    if 5 in constant:
        return struct.unpack("<d", constant.raw(5))[0]
    if 7 in constant:
        raise CelSyntaxError("bytes are no JSON value", at + 1, "write the text without `b`")
    return constant.text(6) if 6 in constant else None


def _unsigned(at: int, number: int) -> int:
    if number < 0:
        raise CelSyntaxError("this number is beyond 64 bits", at + 1)
    return number
