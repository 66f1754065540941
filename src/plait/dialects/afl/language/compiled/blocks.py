"""Bodies in the compiled form: blocks with their steps, the dependencies of these, and the targets of yields."""

from __future__ import annotations

from collections.abc import Sequence

from plait.dialects.afl.language.checking.calls import implicit_arguments
from plait.dialects.afl.language.tree import (
    AndThen,
    Block,
    Call,
    Catch,
    Mixin,
    Node,
    Script,
    Statement,
    Step,
    SysAssert,
    SysLog,
    When,
    Yield,
)

from .emitter import Emitter, Json
from .expressions import arguments, expression
from .node_ids import node_id


def bodies(emit: Emitter, given: Sequence[AndThen], path: str) -> Json | list[Json] | None:
    """One block, or a list of several."""
    found = [_and_then(emit, each, f"{path}/body/{at}") for at, each in enumerate(given)]
    return found[0] if len(found) == 1 else found or None


def catch(emit: Emitter, node: Catch | None, path: str) -> Json | None:
    if node is None:
        return None
    where = f"{path}/catch"
    return emit.node("CatchClause", node, where, **_content(emit, node.body, where))


def script(emit: Emitter, node: Script | None, path: str) -> Json | None:
    if node is None:
        return None
    language = node.language.text if node.language is not None else "python"
    return emit.node("ScriptBlock", node, path, language=language, code=node.code)


def call(emit: Emitter, node: Call, path: str) -> Json:
    symbol = emit.links.symbol(node)
    return emit.node(
        "CallExpr",
        node,
        path,
        target=node.target.text,
        resolved=symbol.qualified if symbol is not None else None,
        args=arguments(emit, node.arguments, path),
        mixins=[mixin(emit, each, f"{path}/mixins/{at}") for at, each in enumerate(node.mixins)],
        implicits=arguments(emit, implicit_arguments(emit.links, node), f"{path}/implicits"),
    )


def mixin(emit: Emitter, node: Mixin, path: str) -> Json:
    symbol = emit.links.symbol(node)
    return emit.node(
        "MixinCall",
        node,
        path,
        target=node.target.text,
        resolved=symbol.qualified if symbol is not None else node.target.text,
        args=arguments(emit, node.arguments, path),
        alias=node.alias.text if node.alias is not None else None,
        implicits=arguments(emit, implicit_arguments(emit.links, node), f"{path}/implicits"),
    )


def _and_then(emit: Emitter, node: AndThen, path: str) -> Json:
    foreach = None
    if node.foreach is not None:
        source = node.foreach.source
        iterable = expression(emit, source, f"{path}/foreach")
        foreach = {"variable": node.foreach.variable.text, "iterable": iterable}
    found = emit.node("AndThenBlock", node, path, foreach=foreach, **_content(emit, node.body, path))
    if node.foreach is not None:
        waits = _waits(emit, node.foreach)
        if waits:
            found.setdefault("dependencies", {})["foreach"] = waits
    return found


def _content(emit: Emitter, node: Block | When | Script, path: str) -> Json:
    match node:
        case Script():
            return {"script": script(emit, node, f"{path}/script")}
        case When():
            waits = _waits(emit, node)
            return {
                "when": emit.node("WhenBlock", node, f"{path}/when", cases=_cases(emit, node, path)),
                "dependencies": {"when": waits} if waits else None,
            }
        case Block():
            return _block(emit, node, path)


def _cases(emit: Emitter, node: When, path: str) -> list[Json]:
    found: list[Json] = []
    for at, case in enumerate(node.cases):
        where = f"{path}/case/{at}"
        judged = (
            {"default": True}
            if case.condition is None
            else {"condition": expression(emit, case.condition, f"{where}/condition")}
        )
        found.append(emit.node("WhenCase", case, where, **judged, **_block(emit, case.block, where)))
    return found


def _block(emit: Emitter, node: Block, path: str) -> Json:
    waits: Json = {}
    steps: list[Json] = []
    for at, each in enumerate(node.statements):
        where = f"{path}/{each.name.text}" if isinstance(each, Step) else f"{path}/sys/{at}"
        steps.append(_statement(emit, each, where))
        _note_waits(emit, each, where, waits)
    yields: list[Json] = []
    for at, each in enumerate(node.yields):
        where = f"{path}/yield/{at}"
        yields.append(_yield(emit, each, where))
        _note_waits(emit, each, where, waits)
    found: Json = {"steps": steps, "dependencies": waits}
    if len(yields) == 1:
        found["yield"] = yields[0]
    elif yields:
        found["yields"] = yields
    return found


def _statement(emit: Emitter, node: Statement, path: str) -> Json:
    match node:
        case Step():
            return emit.node(
                "StepStmt",
                node,
                path,
                name=node.name.text,
                call=call(emit, node.call, f"{path}/call"),
                body=bodies(emit, node.bodies, path),
                catch=catch(emit, node.catch, path),
            )
        case SysLog():
            return emit.node("SysStmt", node, path, operation="log", args=arguments(emit, node.arguments, path))
        case SysAssert():
            condition = expression(emit, node.condition, f"{path}/condition")
            return emit.node("SysStmt", node, path, operation="assert", condition=condition)


def _yield(emit: Emitter, node: Yield, path: str) -> Json:
    capture = emit.links.captures.get(id(node))
    shown: Json | None = None
    if capture is not None:
        shown = {"level": capture.level}
        if capture.mixin is not None:
            shown["mixin"] = capture.mixin
        if capture.alias is not None:
            shown["alias"] = capture.alias
    return emit.node("YieldStmt", node, path, call=call(emit, node.call, f"{path}/call"), capture=shown)


def _note_waits(emit: Emitter, node: Node, path: str, waits: Json) -> None:
    found = _waits(emit, node)
    if found:
        waits[node_id(path)] = found


def _waits(emit: Emitter, node: Node) -> list[str]:
    return [node_id(each.path) for each in emit.links.waiting(node)]
