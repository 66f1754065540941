"""A parent and a child of each dialect: each doubles a number, fails, or waits for ever, as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from plait import Context, CriticalError, Engine, afl, goals, graph, refs, step, workflow
from plait.catalog import catalog_step
from plait.dialects.afl.definition import Afl
from plait.dialects.afl.handlers import ChildTarget
from plait.dialects.graph.handlers import Handler
from plait.kernel.bundle import Reference

DIALECTS = ("code", "goals", "graph", "refs", "afl")


async def act(do: str, n: int) -> dict[str, Any]:
    if do == "fail":
        raise CriticalError("told to fail")
    if do == "wait":
        await asyncio.Event().wait()
    return {"doubled": 2 * n}


@step(name="act")
async def acting(do: str, n: int) -> dict[str, Any]:
    return await act(do, n)


async def _handled(payload: dict[str, Any]) -> dict[str, Any]:
    return await act(payload["do"], payload["n"])


@workflow(name="code-child")
async def code_child(ctx: Context, given: dict[str, Any]) -> dict[str, Any]:
    return await ctx.step("act", act, given["do"], given["n"])


_CHILD = """
namespace m {
    event facet Act(do: String, n: Long) => (doubled: Long)
    workflow Child(do: String, n: Long) => (doubled: Long) andThen {
        a = Act(do = $.do, n = $.n)
        yield Child(doubled = a.doubled)
    }
}
"""
_PARENT = """
namespace m {
    event facet Begin(do: String, n: Long) => (doubled: Long)
    workflow Parent(do: String, n: Long) => (given: Json) andThen {
        b = Begin(do = $.do, n = $.n)
        yield Parent(given = b)
    }
}
"""


def children() -> dict[str, tuple[str, Any]]:
    """Each by dialect, as JSON names it."""
    node = {"id": "act", "type": "task", "config": {"handler": "act"}}
    steps = [{"name": "act", "action": {"function": "act"}, "input": {"do": "@input.do", "n": "@input.n"}}]
    return {
        "code": ("code", "code-child"),
        "goals": ("goals", {"goals": ["goal-act"]}),
        "graph": ("graph", {"name": "child", "nodes": [node], "edges": []}),
        "refs": ("refs", {"steps": steps}),
        "afl": ("afl", {"source": _CHILD, "workflow": "m.Child"}),
    }


def parent(dialect: str, child: str) -> Any:
    """A definition whose only work is a run of the other dialect."""
    kind, definition = children()[child]
    match dialect:
        case "code":
            return _CODE[child]
        case "goals":
            return goals(f"goal-run-{child}")
        case "graph":
            node = {"id": "run", "type": "run", "config": {"dialect": kind, "definition": definition}}
            return graph({"name": "parent", "nodes": [node], "edges": []})
        case "refs":
            action = {"workflow": {"dialect": kind, "definition": definition}}
            reads = {"do": "@input.do", "n": "@input.n"}
            return refs({"steps": [{"name": "run", "action": action, "input": reads}]})
        case _:
            return afl(_PARENT, "m.Parent", handlers={"Begin": ChildTarget(Reference(kind, definition, child))})


def _code_parent(child: str) -> Any:
    kind, definition = children()[child]
    made: dict[str, Callable[[Any], Any]] = {"graph": graph, "refs": refs, "afl": Afl}
    startable: Any = code_child if kind == "code" else goals("goal-act") if kind == "goals" else made[kind](definition)

    @workflow(name=f"code-parent-{child}")
    async def run(ctx: Context, given: dict[str, Any]) -> Any:
        return await ctx.child("run", startable, given)

    return run


_CODE = {child: _code_parent(child) for child in DIALECTS}


def engine() -> Engine:
    declared: list[object] = [acting, code_child, *_CODE.values(), Handler("act", _handled)]
    inputs = catalog_step("goal-act").required("do").required("n").output("doubled")
    declared.append(inputs.python("act").no_retries())
    for child, (kind, definition) in children().items():
        given = "act" if child == "graph" else "doubled"  # a graph gives what its last nodes do, by node
        starts = catalog_step(f"goal-run-{child}").required("do").required("n").output(given)
        declared.append(starts.run(kind, definition).no_retries())
    found = Engine("memory:", definitions=declared)
    found.afl.handler("Act", _handled)
    return found
