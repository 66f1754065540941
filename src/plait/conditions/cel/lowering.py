"""Compiles the tree of an expression to functions, and collects the nodes that it reads."""

from __future__ import annotations

import math
from collections.abc import Sequence

from plait.conditions.findings import listed, suggestion

from .errors import CelSyntaxError
from .evaluation import Value
from .fields import indexed, selected, tested
from .folds import Over, exists_one, mapped, quantified
from .functions import FUNCTIONS, KNOWN, MATCHES, Function, matching
from .operators import BINARY, UNARY, choice
from .syntax import Call, Fold, List, Literally, Map, Name, Node, Select, children


def cost(node: Node | None) -> int:
    """Steps of one evaluation, without the items of macros: those are counted when they run."""
    if node is None:
        return 0
    if isinstance(node, Fold):
        return 1 + cost(node.over)
    return 1 + sum(map(cost, children(node)))


class Lowering:
    """Lowers one expression, and collects the nodes that it reads."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._scope: list[str] = []
        self.variables = 0
        self.reads: set[str] = set()
        self.reads_all = False

    def value(self, node: Node) -> Value:
        match node:
            case Literally():
                return self._literal(node)
            case Name():
                self.reads_all = self.reads_all or node.name == "ctx"
                return self._name(node)
            case Select():
                operand = self._operand(node.operand, node.field)
                return tested(operand, node.field) if node.test else selected(operand, node.field, node.operand)
            case Call():
                return self._call(node)
            case List():
                items = [self.value(each) for each in node.items]
                return lambda run: [each(run) for each in items]
            case Map():
                return self._map(node)
            case Fold():
                return self._fold(node)

    def _operand(self, node: Node, field: object) -> Value:
        """The operand of a field access. Only here is it known which node `ctx` is used for."""
        if isinstance(node, Name) and node.name == "ctx" and isinstance(field, str):
            self.reads.add(field)
            return self._name(node)
        return self.value(node)

    def _literal(self, node: Literally) -> Value:
        value = node.value
        if isinstance(value, float) and not math.isfinite(value):
            raise CelSyntaxError("this number is not finite", node.at + 1)
        return lambda run: value

    def _name(self, node: Name) -> Value:
        name = node.name
        if name in self._scope:
            slot = len(self._scope) - 1 - self._scope[::-1].index(name)
            return lambda run: run.variables[slot]
        if name not in self._names:
            fix = suggestion(name, self._names, f"use {', '.join(self._names)}")
            raise CelSyntaxError(f"unknown name `{name}`", node.at + 1, fix)
        return lambda run: run.names[name]

    def _call(self, node: Call) -> Value:
        name, arguments = node.function, node.arguments
        if name == "_[_]":
            operand, key = arguments
            field = key.value if isinstance(key, Literally) else None
            return indexed(self._operand(operand, field), self.value(key), operand)
        values = [self.value(each) for each in arguments]
        if name in BINARY:
            return BINARY[name](*values)
        if name in UNARY:
            return UNARY[name](*values)
        if name == "_?_:_":
            return choice(*values)
        if (name, len(values)) in MATCHES:
            return matching(arguments[1], *values)
        return _called(_function(node), values)

    def _map(self, node: Map) -> Value:
        entries = [(_key(key), self.value(item)) for key, item in node.entries]
        return lambda run: {key: value(run) for key, value in entries}

    def _fold(self, node: Fold) -> Value:
        if node.variable in self._names:
            fix = "choose another name for the variable"
            raise CelSyntaxError(f"`{node.variable}` is a name already", node.at + 1, fix)
        value, slot = self.value(node.over), len(self._scope)
        over = Over(value, slot, 1 + cost(node.test) + cost(node.body), _name_of(node))
        self._scope.append(node.variable)
        self.variables = max(self.variables, len(self._scope))
        test = self.value(node.test) if node.test is not None else None
        body = self.value(node.body) if node.body is not None else None
        self._scope.pop()
        return _folded(node, over, test, body)


def _key(node: Node) -> str:
    if isinstance(node, Literally) and isinstance(node.value, str):
        return node.value
    raise CelSyntaxError("the keys of a map are literal strings", node.at + 1)


def _name_of(node: Fold) -> str:
    is_filter = node.test is not None and isinstance(node.body, Name) and node.body.name == node.variable
    return "filter" if is_filter else node.macro


def _folded(node: Fold, over: Over, test: Value | None, body: Value | None) -> Value:
    if body is not None:
        return mapped(over, test, body)
    assert test is not None
    if node.macro == "exists_one":
        return exists_one(over, test)
    return quantified(over, test, decisive=node.macro == "exists")


def _function(node: Call) -> Function:
    found = FUNCTIONS.get((node.function, len(node.arguments)))
    if found is not None:
        return found
    name = node.function.lstrip(".")
    if name in KNOWN:
        raise CelSyntaxError(f"`{name}` is not called like this", node.at + 1, _usage(name))
    fix = suggestion(name, KNOWN, f"there are {listed(KNOWN)}")
    raise CelSyntaxError(f"unknown function `{name}`", node.at + 1, fix)


def _usage(name: str) -> str:
    match name:
        case "size" | "string" | "int" | "double" | "bool":
            return f"write {name}(value)"
        case "has":
            return "write has(value.field)"
        case "all" | "exists" | "exists_one" | "filter" | "map":
            return f"write list.{name}(item, expression)"
        case _:
            return f"write text.{name}(part)"


def _called(function: Function, values: Sequence[Value]) -> Value:
    if len(values) == 1:
        (only,) = values
        return lambda run: function(only(run), run)
    first, second = values
    return lambda run: function(first(run), second(run), run)
