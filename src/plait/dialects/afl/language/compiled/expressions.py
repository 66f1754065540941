"""Expressions in the compiled form. Parentheses are gone: the tree implies them. `.name` of anything but a reference is
an IndexExpr with that name."""

from __future__ import annotations

from typing import Any, assert_never

from plait.dialects.afl.language.links import Binding
from plait.dialects.afl.language.tree import (
    Argument,
    Binary,
    Concat,
    Constant,
    Expression,
    Group,
    Index,
    InputRef,
    ListLiteral,
    ListType,
    MapLiteral,
    Member,
    StepRef,
    Type,
    Unary,
)

from .emitter import Emitter, Json
from .node_ids import node_id

_LITERALS = {bool: "Boolean", int: "Int", float: "Double", str: "String"}


def expression(emit: Emitter, node: Expression, path: str) -> Json:
    match node:
        case Constant():
            return _literal(emit, node, path)
        case InputRef():
            return emit.node("InputRef", node, path, path=[each.text for each in node.path])
        case StepRef():
            names = [each.text for each in node.path]
            return emit.node("StepRef", node, path, path=names, binding=_binding(emit.links.binding(node)))
        case Binary():
            return emit.node(
                "BinaryExpr",
                node,
                path,
                operator=node.operator,
                left=expression(emit, node.left, f"{path}/left"),
                right=expression(emit, node.right, f"{path}/right"),
            )
        case Unary():
            operand = expression(emit, node.operand, f"{path}/operand")
            return emit.node("UnaryExpr", node, path, operator=node.operator, operand=operand)
        case Concat():
            return emit.node("ConcatExpr", node, path, operands=_all(emit, node.operands, path))
        case Group():
            return expression(emit, node.inner, path)
        case Index():
            return emit.node(
                "IndexExpr",
                node,
                path,
                target=expression(emit, node.target, f"{path}/target"),
                index=expression(emit, node.index, f"{path}/index"),
            )
        case Member():
            key = emit.node("String", node.name, f"{path}/index")
            key["value"] = node.name.text
            return emit.node("IndexExpr", node, path, target=expression(emit, node.target, f"{path}/target"), index=key)
        case ListLiteral():
            return emit.node("ArrayLiteral", node, path) | {"elements": _all(emit, node.elements, path)}
        case MapLiteral():
            entries = [
                {"key": each.key, "value": expression(emit, each.value, f"{path}/{at}")}
                for at, each in enumerate(node.entries)
            ]
            return emit.node("MapLiteral", node, path) | {"entries": entries}
        case _:
            assert_never(node)


def arguments(emit: Emitter, given: tuple[Argument, ...] | list[Argument], path: str) -> list[Json]:
    return [
        {"name": each.name.text, "value": expression(emit, each.value, f"{path}/args/{each.name.text}")}
        | ({"location": emit.location(each)} if emit.options.locations else {})
        for each in given
    ]


def type_of(emit: Emitter, type: Type, path: str) -> Any:
    """A name, qualified if it is one of the program's own; or an ArrayType."""
    if isinstance(type, ListType):
        return emit.node("ArrayType", type, path, elementType=type_of(emit, type.element, f"{path}/element"))
    symbol = emit.links.symbol(type)
    return symbol.qualified if symbol is not None else type.name


def _literal(emit: Emitter, node: Constant, path: str) -> Json:
    if node.value is None:
        return emit.node("Null", node, path)
    found = emit.node(_LITERALS[type(node.value)], node, path)
    found["value"] = node.value
    return found


def _all(emit: Emitter, nodes: tuple[Expression, ...], path: str) -> list[Json]:
    return [expression(emit, each, f"{path}/{at}") for at, each in enumerate(nodes)]


def _binding(binding: Binding | None) -> Json | None:
    if binding is None:
        return None
    found: Json = {"kind": binding.kind}
    if binding.target is not None:
        found["statement"] = node_id(binding.target.path)
    if binding.kind == "nested" and binding.waits_for is not None:
        found["owner"] = node_id(binding.waits_for.path)
    return found
