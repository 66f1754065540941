"""Expressions, types and parameters of a compiled program as syntax trees."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from typing import Any

from plait.dialects.afl.language.limits import MAX_EXPRESSION_DEPTH
from plait.dialects.afl.language.operators import PRECEDENCE
from plait.dialects.afl.language.tree import (
    Argument,
    Binary,
    Concat,
    Constant,
    Entry,
    Expression,
    Index,
    InputRef,
    ListLiteral,
    ListType,
    MapLiteral,
    Name,
    Parameter,
    StepRef,
    Type,
    TypeName,
    Unary,
)

from .document import Part

_UNARY = ("-", "+", "!")
_BINARY = frozenset(PRECEDENCE) - {"++"}
_BITS = 2**63


def expression(part: Part, depth: int = 1) -> Expression:
    if depth > MAX_EXPRESSION_DEPTH:
        raise part.too_deep()
    start, end = part.span()
    match part.type:
        case "String" | "Int" | "Double" | "Boolean" | "Null":
            return Constant(start, end, _literal(part))
        case "InputRef":
            return InputRef(start, end, _path(part))
        case "StepRef":
            return StepRef(start, end, _path(part))
        case "BinaryExpr":
            operator = _operator(part, _BINARY)
            left, right = (expression(part.part(side), depth + 1) for side in ("left", "right"))
            return Binary(start, end, operator, left, right)
        case "UnaryExpr":
            operator = _operator(part, _UNARY)
            return Unary(start, end, operator, expression(part.part("operand"), depth + 1))
        case "ConcatExpr":
            return Concat(start, end, _all(part.parts("operands"), depth))
        case "ArrayLiteral":
            return ListLiteral(start, end, _all(part.parts("elements"), depth))
        case "MapLiteral":
            return MapLiteral(start, end, tuple(_entry(each, depth) for each in part.parts("entries")))
        case "IndexExpr":
            target, index = (expression(part.part(side), depth + 1) for side in ("target", "index"))
            return Index(start, end, target, index)
        case _:
            raise part.wrong("an expression")


def _all(parts: Sequence[Part], depth: int) -> tuple[Expression, ...]:
    return tuple([expression(each, depth + 1) for each in parts])


def _operator(part: Part, known: Container[str]) -> str:
    operator = part.text("operator")
    if operator not in known:
        raise part.malformed("operator", f"is no operator: '{operator[:20]}'")
    return operator


def _entry(part: Part, depth: int) -> Entry:
    value = expression(part.part("value"), depth + 1)
    return Entry(value.start, value.end, part.text("key"), True, value)


def _literal(part: Part) -> Any:
    value = part.value("value")
    wanted = {"String": str, "Int": int, "Double": float, "Boolean": bool, "Null": type(None)}[part.type]
    if part.type == "Double" and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)  # some languages write 1 as 1.0 in JSON
    if type(value) is not wanted:
        raise part.malformed("value", f"is no {part.type}")
    if isinstance(value, float) and not math.isfinite(value):
        raise part.malformed("value", "is no number")
    if isinstance(value, int) and abs(value) > _BITS:
        raise part.malformed("value", "has more than 64 bits")
    return value


def _path(part: Part) -> tuple[Name, ...]:
    start, end = part.span()
    found = part.strings("path")
    if not found or any("." in each for each in found):
        raise part.malformed("path", "is no path of names")
    return tuple(Name(start, end, each) for each in found)


def arguments(parts: Sequence[Part]) -> tuple[Argument, ...]:
    return tuple(Argument(*each.span(), each.name("name"), expression(each.part("value"))) for each in parts)


def parameters(parts: Sequence[Part]) -> tuple[Parameter, ...]:
    return tuple(_parameter(each) for each in parts)


def _parameter(part: Part) -> Parameter:
    default = part.optional("default")
    value = expression(default) if default is not None else None
    return Parameter(*part.span(), part.name("name"), _type(part, "type"), value)


def _type(part: Part, field: str) -> Type:
    """A name, or an ArrayType."""
    start, end = part.span()
    if isinstance(part.value(field), str):
        return TypeName(start, end, part.name(field, qualified=True).text)
    inner = part.part(field)
    inner.expect("ArrayType")
    return ListType(*inner.span(), _type(inner, "elementType"))


def name(text: str, at: int) -> Name:
    return Name(at, at, text)
