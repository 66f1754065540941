"""A checked program as JSON."""

from __future__ import annotations

from typing import Any

from plait.dialects.afl.language.program import Program
from plait.dialects.afl.language.symbols import Member
from plait.dialects.afl.language.tree import Doc, Facet, Implicit, Namespace, Parameter, Prompt, Schema

from .blocks import bodies, call, catch, mixin, script
from .emitter import EmitOptions, Emitter, Json
from .expressions import expression, type_of

_TYPES = {"facet": "FacetDecl", "event": "EventFacetDecl", "workflow": "WorkflowDecl"}


def emit_program(program: Program, options: EmitOptions) -> list[Json]:
    """The declarations, in source order; a namespace appears as often as it is opened."""
    kept = {id(each.declaration): each for each in program.symbols.members}
    found: list[Json] = []
    opened: dict[str, int] = {}
    counted: dict[str, int] = {}
    for parsed in program.files:
        emit = Emitter(parsed.source, program.links, options)
        for member in parsed.tree.members:
            if not isinstance(member, Namespace):
                if id(member) in kept:
                    found.append(_declaration(emit, kept[id(member)], counted))
                continue
            name = member.name.text
            opened[name] = opened.get(name, 0) + 1
            found.append(
                emit.node(
                    "Namespace",
                    member,
                    f"{name}#{opened[name]}",
                    name=name,
                    uses=[use.name.text for use in member.uses],
                    declarations=[
                        _declaration(emit, kept[id(each)], counted) for each in member.members if id(each) in kept
                    ],
                    doc=_doc(member.doc),
                )
            )
    return found


def _declaration(emit: Emitter, member: Member, counted: dict[str, int]) -> Json:
    node = member.declaration
    path = member.space.qualified(node.name.text)
    match node:
        case Facet():
            return _facet(emit, node, path)
        case Schema():
            return emit.node(
                "SchemaDecl",
                node,
                path,
                name=node.name.text,
                fields=_parameters(emit, node.fields, f"{path}/fields"),
                doc=_doc(node.doc),
            )
        case Implicit():
            path = f"{path}/implicit"
            counted[path] = counted.get(path, 0) + 1
            where = f"{path}/{counted[path]}"
            return emit.node(
                "ImplicitDecl", node, where, name=node.name.text, call=call(emit, node.call, f"{where}/call")
            )


def _facet(emit: Emitter, node: Facet, path: str) -> Json:
    return emit.node(
        _TYPES[node.kind],
        node,
        path,
        name=node.name.text,
        params=_parameters(emit, node.parameters, f"{path}/params"),
        returns=_parameters(emit, node.returns, f"{path}/returns"),
        mixins=[mixin(emit, each, f"{path}/mixins/{at}") for at, each in enumerate(node.mixins)],
        pre_script=script(emit, node.script, f"{path}/script"),
        body=_prompt(emit, node.prompt, f"{path}/prompt") or bodies(emit, node.bodies, path),
        catch=catch(emit, node.catch, path),
        doc=_doc(node.doc),
    )


def _parameters(emit: Emitter, given: tuple[Parameter, ...], path: str) -> list[Json]:
    found: list[Json] = []
    for each in given:
        where = f"{path}/{each.name.text}"
        item: Json = {"name": each.name.text, "type": type_of(emit, each.type, f"{where}/type")}
        if each.default is not None:
            item["default"] = expression(emit, each.default, f"{where}/default")
        if emit.options.locations:
            item["location"] = emit.location(each)
        found.append(item)
    return found


def _prompt(emit: Emitter, node: Prompt | None, path: str) -> Json | None:
    if node is None:
        return None
    entries: dict[str, Any] = {each.key.text: each.text.value for each in node.entries}
    return emit.node("PromptBlock", node, path, **entries)


def _doc(doc: Doc | None) -> Json | None:
    if doc is None:
        return None
    found: Json = {"description": doc.description}
    if doc.parameters:
        found["params"] = [{"name": name, "description": text} for name, text in doc.parameters]
    if doc.returns:
        found["returns"] = [{"name": name, "description": text} for name, text in doc.returns]
    return found
