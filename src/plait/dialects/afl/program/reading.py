"""From the compiled JSON to the parts of a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from .parts import (
    NOWHERE,
    Arg,
    Block,
    Call,
    Case,
    Catch,
    Declaration,
    DeclKind,
    Expr,
    Mixin,
    Param,
    Place,
    Prompt,
    Refs,
    Script,
    Statement,
    Sys,
    Yield,
)

Json = Mapping[str, Any]

_KINDS: Mapping[str, DeclKind] = {
    "FacetDecl": "facet",
    "EventFacetDecl": "event",
    "WorkflowDecl": "workflow",
    "SchemaDecl": "schema",
}


def declaration(node: Json, namespace: str) -> Declaration:
    kind = _KINDS[node["type"]]
    name = f"{namespace}.{node['name']}" if namespace else str(node["name"])
    body: Any = node.get("body")
    bodies = cast("Sequence[Any]", body if isinstance(body, list) else [] if body is None else [body])
    prompt = next((each for each in bodies if each["type"] == "PromptBlock"), None)
    return Declaration(
        name=name,
        kind=kind,
        namespace=namespace,
        params=_params(node.get("fields") if kind == "schema" else node.get("params")),
        returns=_params(node.get("returns")),
        mixins=tuple(mixin(each) for each in node.get("mixins") or ()),
        script=_script(node.get("pre_script")),
        bodies=tuple(block(each) for each in bodies if each is not prompt),
        catch=_catch(node.get("catch")),
        prompt=_prompt(prompt),
        place=_place(node),
        doc=_doc(node.get("doc")),
    )


def call(node: Json) -> Call:
    args = _args(node.get("args"))
    mixins = tuple(mixin(each) for each in node.get("mixins") or ())
    refs = (*refs_of([arg.value for arg in args]), *(ref for each in mixins for ref in each.refs))
    target = str(node.get("resolved") or node["target"])
    return Call(target, args, mixins, _args(node.get("implicits")), tuple(dict.fromkeys(refs)), _place(node))


def mixin(node: Json) -> Mixin:
    args = _args(node.get("args"))
    target = str(node.get("resolved") or node["target"])
    alias, implicits = str(node.get("alias") or ""), _args(node.get("implicits"))
    return Mixin(target, args, alias, implicits, refs_of([arg.value for arg in args]))


def block(node: Json) -> Block:
    """An `AndThenBlock`, or the block of a case or a catch."""
    if node.get("script") is not None:
        return Block("script", script=_script(node["script"]), place=_place(node))
    if node.get("when") is not None:
        return _when(node["when"], _place(node))
    steps = tuple(_statement(each) for each in node.get("steps") or () if each["type"] == "StepStmt")
    sys = tuple(_sys(each) for each in node.get("steps") or () if each["type"] != "StepStmt")
    yields = tuple(_yield(each) for each in _yields(node))
    found = node.get("foreach")
    named = {each.name: each for each in steps}
    entries = {each.id: (place, each) for place, each in enumerate((*steps, *sys, *yields))}
    if found is None:
        return Block("steps", steps, sys, yields, named, entries, place=_place(node))
    iterable, variable, refs = found["iterable"], str(found["variable"]), refs_of([found["iterable"]])
    return Block("foreach", steps, sys, yields, named, entries, variable, iterable, refs, place=_place(node))


def refs_of(exprs: Sequence[Expr]) -> Refs:
    """The paths of all step references, each once."""
    found: dict[tuple[str, ...], None] = {}
    for expr in exprs:
        for path in _walk(expr):
            found[path] = None
    return tuple(found)


def _walk(node: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(node, Mapping):
        expr = cast("Json", node)
        if expr.get("type") == "StepRef":
            yield tuple(str(part) for part in expr["path"])
        else:
            for value in expr.values():
                yield from _walk(value)
    elif isinstance(node, list):
        for each in cast("list[Any]", node):
            yield from _walk(each)


def _doc(node: Json | None) -> str:
    return "" if node is None else str(node.get("description") or "")


def _place(node: Json) -> Place:
    return node.get("location") or NOWHERE


def _when(node: Json, place: Place) -> Block:
    cases = tuple(_case(each) for each in node["cases"])
    refs = tuple(dict.fromkeys(ref for case in cases for ref in case.refs))
    return Block("when", cases=cases, refs=refs, place=place)


def _case(node: Json) -> Case:
    condition: Json | None = node.get("condition")
    where: Json = {} if condition is None else condition.get("location") or {}
    text = f"line {where['line']}" if "line" in where else ""
    return Case(condition, () if condition is None else refs_of([condition]), block(node), text)


def _catch(node: Json | None) -> Catch | None:
    return None if node is None else Catch(block(node))


def _statement(node: Json) -> Statement:
    body: Any = node.get("body")
    bodies = cast("Sequence[Any]", body if isinstance(body, list) else [] if body is None else [body])
    return Statement(
        id=str(node["id"]),
        name=str(node["name"]),
        call=call(node["call"]),
        bodies=tuple(block(each) for each in bodies),
        catch=_catch(node.get("catch")),
        place=_place(node),
    )


def _yields(node: Json) -> Sequence[Json]:
    if node.get("yields"):
        return cast("Sequence[Json]", node["yields"])
    return [node["yield"]] if node.get("yield") else []


def _yield(node: Json) -> Yield:
    capture: Json = node.get("capture") or {}
    level, mixin, alias = int(capture.get("level", 0)), capture.get("mixin"), capture.get("alias")
    return Yield(str(node["id"]), call(node["call"]), level, str(mixin or ""), str(alias or ""), _place(node))


def _sys(node: Json) -> Sys:
    args = _args(node.get("args"))
    condition = node.get("condition")
    refs = refs_of([*(arg.value for arg in args), *([] if condition is None else [condition])])
    return Sys(str(node["id"]), "assert" if condition is not None else "log", args, condition, refs)


def _args(nodes: Sequence[Json] | None) -> tuple[Arg, ...]:
    return tuple(Arg(str(each["name"]), each["value"]) for each in nodes or ())


def _params(nodes: Sequence[Json] | None) -> tuple[Param, ...]:
    return tuple(Param(str(each["name"]), each.get("type"), each.get("default")) for each in nodes or ())


def _script(node: Json | None) -> Script | None:
    return None if node is None else Script(str(node.get("language") or "python"), str(node["code"]))


def _prompt(node: Json | None) -> Prompt | None:
    if node is None:
        return None
    return Prompt(str(node.get("template") or ""), str(node.get("system") or ""), str(node.get("model") or ""))
