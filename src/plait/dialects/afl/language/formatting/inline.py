"""The formatting of single lines: expressions, calls, parameters. Literals stay as written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from plait.dialects.afl.language.source_file import SourceText
from plait.dialects.afl.language.tree import (
    Argument,
    Binary,
    Call,
    Concat,
    Constant,
    Entry,
    Expression,
    Group,
    Index,
    InputRef,
    ListLiteral,
    ListType,
    MapLiteral,
    Member,
    Mixin,
    Node,
    Parameter,
    StepRef,
    Type,
    Unary,
)

WIDTH = 100
INDENT = "    "


class Inline:
    def __init__(self, source: SourceText) -> None:
        self._text = source.text

    def written(self, node: Node) -> str:
        return self.between(node.start, node.end)

    def between(self, start: int, end: int) -> str:
        return self._text[start:end]

    def expression(self, node: Expression) -> str:
        match node:
            case Constant():
                return self.written(node)
            case InputRef():
                return "$." + ".".join(each.text for each in node.path)
            case StepRef():
                return ".".join(each.text for each in node.path)
            case Binary():
                return f"{self.expression(node.left)} {node.operator} {self.expression(node.right)}"
            case Unary():
                return self._unary(node)
            case Concat():
                return " ++ ".join(map(self.expression, node.operands))
            case Group():
                return f"({self.expression(node.inner)})"
            case Index():
                return f"{self.expression(node.target)}[{self.expression(node.index)}]"
            case Member():
                return f"{self.expression(node.target)}.{node.name.text}"
            case ListLiteral():
                return f"[{', '.join(map(self.expression, node.elements))}]"
            case MapLiteral():
                entries = (f"{self._key(each)}: {self.expression(each.value)}" for each in node.entries)
                return f"#{{{', '.join(entries)}}}"
            case _:
                assert_never(node)

    def type(self, node: Type) -> str:
        return f"[{self.type(node.element)}]" if isinstance(node, ListType) else node.name

    def parameter(self, node: Parameter) -> str:
        default = f" = {self.expression(node.default)}" if node.default is not None else ""
        return f"{node.name.text}: {self.type(node.type)}{default}"

    def argument(self, node: Argument) -> str:
        return f"{node.name.text} = {self.expression(node.value)}"

    def parameters(self, nodes: Sequence[Parameter]) -> str:
        return f"({', '.join(map(self.parameter, nodes))})"

    def arguments(self, nodes: Sequence[Argument]) -> str:
        return f"({', '.join(map(self.argument, nodes))})"

    def call(self, node: Call, indent: str, before: str) -> str:
        """`before` is the line so far. A long call has one argument per line."""
        line = f"{node.target.text}{self.arguments(node.arguments)}{''.join(map(self.mixin, node.mixins))}"
        if len(indent) + len(before) + len(line) <= WIDTH or "\n" in line:
            return line
        mixins = "".join(f"\n{indent}{INDENT}{self.mixin(each).lstrip()}" for each in node.mixins)
        return f"{node.target.text}{broken(map(self.argument, node.arguments), indent)}{mixins}"

    def mixin(self, node: Mixin) -> str:
        alias = f" as {node.alias.text}" if node.alias is not None else ""
        return f" with {node.target.text}{self.arguments(node.arguments)}{alias}"

    def _unary(self, node: Unary) -> str:
        operand = self.expression(node.operand)
        space = " " if node.operator == "+" and operand.startswith("+") else ""  # `++` is an operator of its own
        return f"{node.operator}{space}{operand}"

    def _key(self, entry: Entry) -> str:
        return self._quoted(entry.start) if entry.quoted else entry.key

    def _quoted(self, start: int) -> str:
        end = start + 1
        while self._text[end] != '"':
            end += 2 if self._text[end] == "\\" else 1
        return self._text[start : end + 1]


def broken(parts: Iterable[str], indent: str) -> str:
    """In parentheses, one item per line."""
    found = list(parts)
    if not found:
        return "()"
    inner = f",\n{indent}{INDENT}".join(found)
    return f"(\n{indent}{INDENT}{inner}\n{indent})"
