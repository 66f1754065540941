"""Evaluates a compiled expression.

    evaluate({"type": "BinaryExpr", "operator": "+", …}, scope)

Pure: it reads inputs, steps and variables through the scope, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from .errors import ExpressionError, ReferenceFailed
from .operators import arithmetic, compare, contains, equal, kind_of, matches, truth, within_range
from .text import text_of

Expression = Mapping[str, Any]
"""A node of the compiled form."""


class Scope(Protocol):
    """The meaning of names at the expression's place. Each method raises KeyError for an unknown name."""

    def input(self, name: str) -> Any:
        """`$.name`"""
        ...

    def step(self, reference: Expression) -> Mapping[str, Any]:
        """The attributes of the step that a StepRef names, returns over params; `reference["binding"]` tells which."""
        ...

    def variable(self, name: str) -> Any:
        """The current element of the foreach with this variable."""
        ...


def evaluate(expression: Expression, scope: Scope) -> Any:
    """A JSON value; raises ExpressionError if there is none."""
    match expression["type"]:
        case "String" | "Int" | "Double" | "Boolean":
            return _literal(expression["value"])
        case "Null":
            return None
        case "InputRef":
            return _input(expression["path"], scope)
        case "StepRef":
            return _step(expression, scope)
        case "BinaryExpr":
            return _binary(expression, scope)
        case "UnaryExpr":
            return _unary(expression["operator"], expression["operand"], scope)
        case "ConcatExpr":
            return "".join(text_of(evaluate(each, scope)) for each in expression["operands"])
        case "ArrayLiteral":
            return [evaluate(each, scope) for each in expression.get("elements", ())]
        case "MapLiteral":
            return {each["key"]: evaluate(each["value"], scope) for each in expression.get("entries", ())}
        case "IndexExpr":
            return item(evaluate(expression["target"], scope), evaluate(expression["index"], scope))
        case other:
            raise ExpressionError(f"'{other}' is no expression")


def holds(expression: Expression, scope: Scope) -> bool:
    """The verdict of a condition: of a `case`, or of `sys.assert`."""
    return truth(evaluate(expression, scope), "case")


def item(target: Any, index: Any) -> Any:
    """`target[index]`: of a list by integer, negative from the end; of a map by key."""
    match target:
        case list():
            if not isinstance(index, int) or isinstance(index, bool):
                raise ExpressionError(f"A list is read by an integer, not by {kind_of(index)}")
            values = cast("list[Any]", target)
            if not -len(values) <= index < len(values):
                raise ReferenceFailed(f"Index {index} is not in a list of {len(values)}")
            return values[index]
        case dict():
            return property_of(cast("dict[str, Any]", target), index)
        case None:
            raise ReferenceFailed("Cannot access property on null")
        case _:
            raise ExpressionError(f"{kind_of(target).capitalize()} has nothing to read by index")


def property_of(value: Any, name: Any) -> Any:
    """`value.name`"""
    if value is None:
        raise ReferenceFailed("Cannot access property on null")
    if not isinstance(value, Mapping) or not isinstance(name, str) or name not in value:
        raise ReferenceFailed(f"Property '{name}' not found")
    return cast("Mapping[str, Any]", value)[name]


def _literal(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        within_range(value, "the literal")
    return value


def _input(path: Sequence[str], scope: Scope) -> Any:
    try:
        value = scope.input(path[0])
    except KeyError:
        raise ReferenceFailed(f"Input parameter '{path[0]}' not found") from None
    for name in path[1:]:
        value = property_of(value, name)
    return value


def _step(expression: Expression, scope: Scope) -> Any:
    path: Sequence[str] = expression["path"]
    name, rest = path[0], path[1:]
    try:
        if expression.get("binding", {}).get("kind") == "foreach":
            value = scope.variable(name)
        else:
            value = dict(scope.step(expression))
            if rest:
                value, rest = _attribute(value, name, rest[0]), rest[1:]
    except KeyError:
        raise ReferenceFailed(f"Step '{name}' not found") from None
    for each in rest:
        value = property_of(value, each)
    return value


def _attribute(attributes: Mapping[str, Any], step: str, name: str) -> Any:
    if name not in attributes:
        raise ReferenceFailed(f"Attribute '{name}' not found on step '{step}'")
    return attributes[name]


def _binary(expression: Expression, scope: Scope) -> Any:
    operator: str = expression["operator"]
    left = evaluate(expression["left"], scope)
    if operator == "&&":
        return truth(left, operator) and truth(evaluate(expression["right"], scope), operator)
    if operator == "||":
        return truth(left, operator) or truth(evaluate(expression["right"], scope), operator)
    right = evaluate(expression["right"], scope)
    match operator:
        case "+" | "-" | "*" | "/" | "%":
            return arithmetic(operator, left, right)
        case "==":
            return equal(left, right)
        case "!=":
            return not equal(left, right)
        case "<" | "<=" | ">" | ">=":
            return compare(operator, left, right)
        case "in":
            return contains(right, left, operator)
        case "not in":
            return not contains(right, left, operator)
        case "contains":
            return contains(left, right, operator)
        case _:
            return matches(operator, left, right)


def _unary(operator: str, operand: Expression, scope: Scope) -> Any:
    if operator == "-" and operand["type"] == "Int":
        return within_range(-operand["value"], operator)  # the lowest integer has no positive counterpart
    value = evaluate(operand, scope)
    if operator == "!":
        return not truth(value, operator)
    if operator == "-":
        return arithmetic("-", 0, value) if isinstance(value, int) else -arithmetic("+", 0.0, value)
    return arithmetic("+", 0, value)
