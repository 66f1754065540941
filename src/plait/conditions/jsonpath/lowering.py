"""Compiles a parsed query to functions.

A `Find` goes from the nodes selected so far to the next ones, a `Value` returns the value of an expression (or
`NOTHING`), a `Test` its truth; the last two take the node that a filter tests, which is `@`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from jsonpath import JSONPath
from jsonpath.filter import (
    BaseExpression,
    FilterExpression,
    FilterExpressionLiteral,
    FilterQuery,
    FunctionExtension,
    InfixExpression,
    Nil,
    PrefixExpression,
    RelativeFilterQuery,
    RootFilterQuery,
)
from jsonpath.segments import JSONPathRecursiveDescentSegment, JSONPathSegment
from jsonpath.selectors import Filter, IndexSelector, JSONPathSelector, NameSelector, SliceSelector, WildcardSelector

from plait.conditions.regex import COMPILING, BadPattern

from . import patterns
from .evaluation import NOTHING, Run

Nodes = list[Any]
Find = Callable[[Run, Nodes], Nodes]
Select = Callable[[Run, Any, Nodes], None]
Value = Callable[[Run, Any], Any]
Test = Callable[[Run, Any], bool]


class Lowering:
    """Lowers one query, and collects the names that it looks up in the document itself."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def path(self, path: JSONPath, *, absolute: bool = True) -> Find:
        if absolute and path.segments and not isinstance(path.segments[0], JSONPathRecursiveDescentSegment):
            selectors = path.segments[0].selectors
            self.names += [each.name for each in selectors if isinstance(each, NameSelector)]
        finds = [self._segment(each) for each in path.segments]

        def find(run: Run, nodes: Nodes) -> Nodes:
            for each in finds:
                nodes = each(run, nodes)
            return nodes

        return find

    def test(self, expression: BaseExpression, *, top: bool = False) -> Test:
        """`top`: outside of any filter, where `@` has no meaning."""
        match expression:
            case FilterExpression():
                return self.test(expression.expression, top=top)
            case PrefixExpression():
                inner = self.test(expression.right, top=top)
                return lambda run, node: not inner(run, node)
            case InfixExpression() if expression.logical:
                return self._joined(expression, top)
            case InfixExpression():
                return self._compared(expression, top)
            case FilterQuery():
                found = self._nodes(expression, top)
                return lambda run, node: bool(found(run, node))
            case FunctionExtension():
                return self._call(expression, top)
            case _:
                raise ValueError(f"{expression} is no condition")

    def _joined(self, expression: InfixExpression, top: bool) -> Test:
        left, right = self.test(expression.left, top=top), self.test(expression.right, top=top)
        if expression.operator == "&&":
            return lambda run, node: left(run, node) and right(run, node)
        return lambda run, node: left(run, node) or right(run, node)

    def _compared(self, expression: InfixExpression, top: bool) -> Test:
        left, right = self._value(expression.left, top), self._value(expression.right, top)
        match expression.operator:
            case "==":
                return lambda run, node: run.equal(left(run, node), right(run, node))
            case "!=":
                return lambda run, node: not run.equal(left(run, node), right(run, node))
            case "<":
                return lambda run, node: run.less(left(run, node), right(run, node))
            case ">":
                return lambda run, node: run.less(right(run, node), left(run, node))
            case "<=":
                return lambda run, node: _at_most(run, left(run, node), right(run, node))
            case ">=":
                return lambda run, node: _at_most(run, right(run, node), left(run, node))
            case other:
                raise ValueError(f"{other} is no comparison")

    def _value(self, expression: BaseExpression, top: bool) -> Value:
        match expression:
            case FilterExpressionLiteral():
                constant = cast("FilterExpressionLiteral[Any]", expression).value
                return lambda run, node: constant
            case Nil():
                return lambda run, node: None
            case FilterQuery():
                found = self._nodes(expression, top)
                return lambda run, node: _only(found(run, node))
            case FunctionExtension():
                return self._call(expression, top)
            case _:
                raise ValueError(f"{expression} can't be compared")

    def _nodes(self, expression: FilterQuery, top: bool) -> Callable[[Run, Any], Nodes]:
        match expression:
            case RootFilterQuery():
                find = self.path(expression.path)
                return lambda run, node: find(run, [run.root])
            case RelativeFilterQuery() if not top:
                find = self.path(expression.path, absolute=False)
                return lambda run, node: find(run, [node])
            case _:
                raise ValueError("`@` has a meaning only in a filter; use `$`")

    def _call(self, expression: FunctionExtension, top: bool) -> Value:
        name, args = expression.name, expression.args
        if name in ("count", "value"):
            query = args[0]
            if not isinstance(query, FilterQuery):
                raise ValueError(f"{name}() takes a query")
            found = self._nodes(query, top)
            return (lambda run, node: len(found(run, node))) if name == "count" else self._value(query, top)
        values = [self._value(each, top) for each in args]
        if name == "length":
            return lambda run, node: _length(values[0](run, node))
        return self._pattern(name, args[1], values)

    def _pattern(self, name: str, pattern: BaseExpression, values: list[Value]) -> Value:
        """`match` or `search`. A literal pattern is checked with the query."""
        known = isinstance(pattern, FilterExpressionLiteral)
        if known:
            _check_pattern(cast("FilterExpressionLiteral[Any]", pattern).value)
        whole, compiling = name == "match", 1 if known else COMPILING

        def test(run: Run, node: Any) -> bool:
            run.take(compiling)
            return _matches(run, values[0](run, node), values[1](run, node), whole)

        return test

    def _segment(self, segment: JSONPathSegment) -> Find:
        selects = [self._selector(each) for each in segment.selectors]
        descends = isinstance(segment, JSONPathRecursiveDescentSegment)

        def find(run: Run, nodes: Nodes) -> Nodes:
            found: Nodes = []
            for node in _descended(run, nodes) if descends else nodes:
                run.take(len(selects))
                for select in selects:
                    select(run, node, found)
            return found

        return find

    def _selector(self, selector: JSONPathSelector) -> Select:
        match selector:
            case NameSelector():
                return _by_name(selector.name)
            case IndexSelector():
                return _by_index(selector.index)
            case SliceSelector():
                return _by_slice(selector.slice)
            case WildcardSelector():
                return _all
            case Filter():
                return _by_test(self.test(selector.expression))
            case _:
                raise ValueError(f"{selector} is no selector")


def _by_name(name: str) -> Select:
    def select(_: Run, node: Any, found: Nodes) -> None:
        if isinstance(node, dict) and name in node:
            found.append(node[name])

    return select


def _by_index(index: int) -> Select:
    def select(_: Run, node: Any, found: Nodes) -> None:
        if isinstance(node, list):
            items = cast("list[Any]", node)
            if -len(items) <= index < len(items):
                found.append(items[index])

    return select


def _by_slice(part: slice) -> Select:
    def select(run: Run, node: Any, found: Nodes) -> None:
        if isinstance(node, list) and part.step != 0:
            taken = cast("list[Any]", node)[part]
            run.take(len(taken))
            found += taken

    return select


def _all(run: Run, node: Any, found: Nodes) -> None:
    children = _children(node)
    run.take(len(children))
    found += children


def _by_test(test: Test) -> Select:
    def select(run: Run, node: Any, found: Nodes) -> None:
        children = _children(node)
        run.take(len(children))
        found += [child for child in children if test(run, child)]

    return select


def _children(node: Any) -> Nodes:
    if isinstance(node, dict):
        return list(cast("dict[str, Any]", node).values())
    return cast("list[Any]", node) if isinstance(node, list) else []


def _descended(run: Run, nodes: Nodes) -> Iterable[Any]:
    """Each node and all of its descendants, parents first."""
    stack = nodes[::-1]
    while stack:
        node = stack.pop()
        yield node
        children = _children(node)
        run.take(len(children))
        stack += reversed(children)


def _at_most(run: Run, left: Any, right: Any) -> bool:
    return run.less(left, right) or run.equal(left, right)


def _only(nodes: Nodes) -> Any:
    return nodes[0] if len(nodes) == 1 else NOTHING


def _length(value: Any) -> Any:
    return len(cast("list[Any]", value)) if isinstance(value, str | list | dict) else NOTHING


def _matches(run: Run, text: Any, pattern: Any, whole: bool) -> bool:
    """Whether a text, or a part of it, matches a pattern. False if either is not a string or the pattern is invalid."""
    if not isinstance(text, str) or not isinstance(pattern, str):
        return False
    try:
        found = patterns.compiled(pattern)
    except BadPattern:
        return False
    run.take(found.steps(text))
    return found.fullmatch(text) if whole else found.search(text)


def _check_pattern(pattern: Any) -> None:
    if isinstance(pattern, str):
        try:
            patterns.compiled(pattern)
        except BadPattern as error:
            raise ValueError(f"the pattern {pattern[:40]!r} is none: {error}") from None
