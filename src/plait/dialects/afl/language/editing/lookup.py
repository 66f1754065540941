"""The meaning of the name at a place: its declaration, and its description."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from plait.dialects.afl.language.links import StepInfo
from plait.dialects.afl.language.program import Program
from plait.dialects.afl.language.source_file import SourceText
from plait.dialects.afl.language.symbols import Symbol
from plait.dialects.afl.language.tree import (
    AndThen,
    Argument,
    Call,
    Facet,
    InputRef,
    Mixin,
    Name,
    Namespace,
    Node,
    Parameter,
    StepRef,
    TypeName,
    Use,
    Yield,
)

from .signature import described, parameter_text, signature


@dataclass(frozen=True)
class Meaning:
    """The meaning of a name: `source` and `span` are its declaration, `text` describes it (Markdown)."""

    source: SourceText
    span: tuple[int, int]
    text: str


def meaning_at(program: Program, file: str, offset: int) -> Meaning | None:
    parsed = next((each for each in program.files if each.source.name == file), None)
    if parsed is None:
        return None
    path = list(_path_to(parsed.tree, offset))
    for at in range(len(path) - 1, -1, -1):
        found = _meaning(program, parsed.source, path[: at + 1], offset)
        if found is not None:
            return found
    return None


def _path_to(node: Node, offset: int) -> Iterator[Node]:
    """The nodes that contain the offset, from the whole tree to the smallest."""
    yield node
    for child in _children(node):
        if child.start <= offset <= child.end:
            yield from _path_to(child, offset)
            return


def _children(node: Node) -> Iterator[Node]:
    for name in node.__struct_fields__:
        value: Any = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            for each in cast("tuple[Any, ...]", value):
                if isinstance(each, Node):
                    yield each


def _meaning(program: Program, source: SourceText, path: Sequence[Node], offset: int) -> Meaning | None:
    node = path[-1]
    match node:
        case Call() | Mixin() if _holds(node.target, offset):
            return _of_symbol(program.links.symbol(node))
        case TypeName():
            return _of_symbol(program.links.symbol(node))
        case StepRef():
            return _of_step(program, source, node, path, offset)
        case InputRef():
            return _of_input(source, node, path)
        case Argument() if _holds(node.name, offset):
            return _of_argument(program, path, node)
        case Facet() if _holds(node.name, offset):
            qualified = next((each for each in program.symbols.by_name.values() if each.declaration is node), None)
            return _of_symbol(qualified)
        case Use():
            return _of_namespace(program, node)
        case _:
            return None


def _of_symbol(symbol: Symbol | None) -> Meaning | None:
    if symbol is None:
        return None
    return Meaning(symbol.space.source, symbol.declaration.name.span, described(symbol))


def _of_step(program: Program, source: SourceText, ref: StepRef, path: Sequence[Node], offset: int) -> Meaning | None:
    binding = program.links.binding(ref)
    if binding is None:
        return None
    if binding.kind == "foreach":
        variable = _variable(path, ref.path[0].text)
        return Meaning(source, variable.span, f"foreach variable `{variable.text}`") if variable is not None else None
    info = binding.target
    if info is None:
        return None
    if len(ref.path) > 1 and _holds(ref.path[1], offset):
        return _of_attribute(program, info, ref.path[1].text)
    return Meaning(source, info.step.name.span, _step_text(program, info))


def _of_attribute(program: Program, info: StepInfo, name: str) -> Meaning | None:
    symbol = program.links.symbol(info.step.call)
    declared = symbol and (symbol.returns.get(name) or symbol.parameters.get(name))
    if symbol is None or not declared:
        return None
    return _of_parameter(symbol.space.source, declared)


def _of_input(source: SourceText, ref: InputRef, path: Sequence[Node]) -> Meaning | None:
    """A foreach variable, or a parameter of the enclosing declaration."""
    name = ref.path[0].text
    variable = _variable(path, name)
    if variable is not None:
        return Meaning(source, variable.span, f"foreach variable `{name}`")
    facet = next((each for each in path if isinstance(each, Facet)), None)
    declared = next((each for each in facet.parameters if each.name.text == name), None) if facet is not None else None
    return _of_parameter(source, declared) if declared is not None else None


def _of_argument(program: Program, path: Sequence[Node], argument: Argument) -> Meaning | None:
    call = next((each for each in reversed(path) if isinstance(each, Call | Mixin)), None)
    symbol = program.links.symbol(call) if call is not None else None
    if symbol is None:
        return None
    name = argument.name.text
    yields = any(isinstance(each, Yield) for each in path)
    first, second = (symbol.returns, symbol.parameters) if yields else (symbol.parameters, symbol.returns)
    declared = first.get(name) or second.get(name)
    return _of_parameter(symbol.space.source, declared) if declared is not None else None


def _of_parameter(source: SourceText, declared: Parameter) -> Meaning:
    return Meaning(source, declared.name.span, f"```afl\n{parameter_text(source, declared)}\n```")


def _of_namespace(program: Program, use: Use) -> Meaning | None:
    for parsed in program.files:
        for member in parsed.tree.members:
            if isinstance(member, Namespace) and member.name.text == use.name.text:
                text = f"namespace `{member.name.text}`"
                if member.doc is not None:
                    text += f"\n\n{member.doc.description}"
                return Meaning(parsed.source, member.name.span, text)
    return None


def _variable(path: Sequence[Node], name: str) -> Name | None:
    for node in reversed(path):
        if isinstance(node, AndThen) and node.foreach is not None and node.foreach.variable.text == name:
            return node.foreach.variable
    return None


def _step_text(program: Program, info: StepInfo) -> str:
    symbol = program.links.symbol(info.step.call)
    called = f"\n\n```afl\n{signature(symbol)}\n```" if symbol is not None else ""
    return f"step `{info.step.name.text}`{called}"


def _holds(node: Node, offset: int) -> bool:
    return node.start <= offset <= node.end
