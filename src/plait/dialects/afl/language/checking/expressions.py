"""The types of expressions, and what operators refuse. Unknown types are never reported."""

from __future__ import annotations

from typing import assert_never

from plait.dialects.afl.language.scopes import Scope
from plait.dialects.afl.language.static_types import (
    BOOLEAN,
    DOUBLE,
    LONG,
    NULL,
    STRING,
    ListOf,
    MapValue,
    StaticType,
    is_number,
    is_object,
    shown,
)
from plait.dialects.afl.language.tree import (
    Binary,
    Concat,
    Constant,
    Expression,
    Group,
    Index,
    InputRef,
    ListLiteral,
    MapLiteral,
    Member,
    Node,
    StepRef,
    Unary,
)

from .check import Check
from .references import check_fields, check_input, check_step

_ARITHMETIC = frozenset("+-*/%")
_LITERALS: dict[type, StaticType] = {bool: BOOLEAN, int: LONG, float: DOUBLE, str: STRING, type(None): NULL}


def infer(check: Check, expression: Expression, scope: Scope) -> StaticType:
    match expression:
        case Constant():
            return _LITERALS[type(expression.value)]
        case InputRef():
            return check_input(check, expression, scope)
        case StepRef():
            return check_step(check, expression, scope)
        case Binary():
            left = infer(check, expression.left, scope)
            right = infer(check, expression.right, scope)
            return _binary(check, expression, left, right)
        case Unary():
            return _unary(check, expression, infer(check, expression.operand, scope))
        case Concat():
            for each in expression.operands:
                infer(check, each, scope)
            return STRING
        case Group():
            return infer(check, expression.inner, scope)
        case Index():
            target = infer(check, expression.target, scope)
            infer(check, expression.index, scope)
            return target.element if isinstance(target, ListOf) else None
        case Member():
            return check_fields(check, infer(check, expression.target, scope), (expression.name,), "it")
        case ListLiteral():
            types = [infer(check, each, scope) for each in expression.elements]
            same = types and all(each == types[0] for each in types)
            return ListOf(types[0] if same else None)
        case MapLiteral():
            for entry in expression.entries:
                infer(check, entry.value, scope)
            return MapValue()
        case _:
            assert_never(expression)


def _binary(check: Check, node: Binary, left: StaticType, right: StaticType) -> StaticType:
    operator = node.operator
    sides = ((node.left, left), (node.right, right))
    if operator in _ARITHMETIC:
        for side, type in sides:
            _refuse(check, side, type, "TYPE_ARITHMETIC", operator)
        if operator == "/":
            return DOUBLE
        if left == DOUBLE or right == DOUBLE:
            return DOUBLE
        return LONG if is_number(left) and is_number(right) else None
    if operator in ("&&", "||"):
        for side, type in sides:
            if type not in (None, BOOLEAN, NULL):
                check.error(
                    side,
                    "TYPE_BOOLEAN_OPERAND_REQUIRED",
                    f"'{operator}' needs Boolean, got {shown(type)}",
                    "compare it with something",
                )
    elif operator in ("<", "<=", ">", ">="):
        for side, type in sides:
            _refuse(check, side, type, "TYPE_ORDERED_COMPARISON", operator, strings=True)
    elif operator in ("startsWith", "endsWith"):
        for side, type in sides:
            if type not in (None, STRING):
                check.error(
                    side,
                    "TYPE_STRING_MATCH_OPERAND",
                    f"'{operator}' needs String, got {shown(type)}",
                    "make it text with '++'",
                )
    elif operator in ("in", "not in", "contains"):
        holder, type = sides[0] if operator == "contains" else sides[1]
        if is_number(type) or type in (BOOLEAN, NULL):
            check.error(
                holder,
                "TYPE_CONTAINMENT_OPERAND",
                f"'{operator}' needs a list, a map or a String to look in, got {shown(type)}",
                "put the values in a list",
            )
    return BOOLEAN


def _unary(check: Check, node: Unary, type: StaticType) -> StaticType:
    if node.operator == "!":
        if type not in (None, BOOLEAN, NULL):
            check.error(
                node.operand,
                "TYPE_NOT_OPERAND_REQUIRED",
                f"'!' needs Boolean, got {shown(type)}",
                "compare it with something",
            )
        return BOOLEAN
    _refuse(check, node.operand, type, "TYPE_NEGATE", node.operator)
    return type if is_number(type) else None


def _refuse(check: Check, node: Node, type: StaticType, code: str, operator: str, *, strings: bool = False) -> None:
    if type == STRING and not strings:
        hint = "use '++'" if operator == "+" else "use a number"
        check.error(node, f"{code}_STRING", f"'{operator}' with String operand", hint)
    elif type == BOOLEAN:
        check.error(node, f"{code}_BOOLEAN", f"'{operator}' with Boolean operand", "use a number")
    elif is_object(type) or isinstance(type, ListOf):
        hint = "read one of its fields" if is_object(type) else "read one of its elements"
        check.error(node, f"{code}_SCHEMA", f"'{operator}' with {shown(type)} operand", hint)
