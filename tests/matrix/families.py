"""A parent and a child of each dialect, for all pairs of them.

The parent does `before`, runs the child, and does `after`; the child does `first` and `second`. Each adds one to the
number that it gets from the one before, so that the last has counted all four. Each can be compensated, if the family
is `undoable`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from plait import Context, Undo, afl, goals, graph, refs, step, workflow
from plait.catalog import catalog_step
from plait.dialects.afl.handlers import Registration, child
from plait.dialects.graph.handlers import Handler
from plait.kernel.bundle import Startable
from tests.matrix.world import World

DIALECTS = ("code", "goals", "graph", "refs", "afl")
PAIRS = [(one, other) for one in DIALECTS for other in DIALECTS]
CODE_CHILD = "code-child"
CHILD_INPUT = "before"
CHILD_OUTPUT = "second"


class Family:
    """One pair: `parent` is what is started, `definitions` all that an engine must know for it."""

    def __init__(self, one: str, other: str, world: World, *, undoable: bool) -> None:
        self.world = world
        self._undoable = undoable
        self.definitions: list[object] = []
        for name in ("before", "first", "second", "after"):
            self._declare(name)
        child_of: dict[str, Callable[[], Startable]] = {
            "code": self._code_child,
            "goals": self._goals_child,
            "graph": self._graph_child,
            "refs": self._refs_child,
            "afl": self._afl_child,
        }
        parent_of: dict[str, Callable[[Startable], Startable]] = {
            "code": self._code_parent,
            "goals": self._goals_parent,
            "graph": self._graph_parent,
            "refs": self._refs_parent,
            "afl": self._afl_parent,
        }
        self.parent = parent_of[one](child_of[other]())

    def _declare(self, name: str) -> None:
        """For `refs` and `goals`, for `graph`, and for `afl`."""
        undo, facet = f"undo-{name}", name.title()
        for each in (name, undo):
            self.definitions.append(step(name=each)(self.world.function(each)))
            self.definitions.append(Handler(each, self.world.handler(each)))
        compensate = f"m.Undo{facet}" if self._undoable else ""
        self.definitions.append(Registration(facet, self.world.handler(name), compensate=compensate))
        self.definitions.append(Registration(f"Undo{facet}", self.world.handler(undo)))

    # -- code ----------------------------------------------------------------------------------------------------

    async def _step(self, ctx: Context, name: str, given: object) -> dict[str, int]:
        async def do() -> dict[str, int]:
            return await self.world.do(name, given)

        async def undo(undo: Undo) -> None:
            await self.world.do(f"undo-{name}", undo.output)

        return await (ctx.step(name, do, rollback=undo) if self._undoable else ctx.step(name, do))

    def _code_child(self) -> Startable:
        @workflow(name=CODE_CHILD)
        async def run(ctx: Context, given: dict[str, Any]) -> dict[str, int]:
            return await self._step(ctx, "second", await self._step(ctx, "first", given))

        self.definitions.append(run)
        return run

    def _code_parent(self, child: Startable) -> Startable:
        @workflow(name="code-parent")
        async def run(ctx: Context, given: dict[str, Any]) -> dict[str, int]:
            begun = await self._step(ctx, "before", given)
            return await self._step(ctx, "after", await ctx.child("run", child, {CHILD_INPUT: begun["n"]}))

        self.definitions.append(run)
        return run

    # -- goals ---------------------------------------------------------------------------------------------------

    def _catalog(self, name: str, needs: str) -> None:
        made = catalog_step(f"to-{name}").required(needs).output(name)
        made = made.python(name, compensate=f"undo-{name}" if self._undoable else "")
        self.definitions.append(made.no_retries())

    def _goals_child(self) -> Startable:
        self._catalog("first", "before")
        self._catalog("second", "first")
        return goals("to-second")

    def _goals_parent(self, child: Startable) -> Startable:
        found = child.reference()
        runs = catalog_step("to-run").required("before").output("given", inner=CHILD_OUTPUT)
        self.definitions.append(runs.run(found.dialect, found.definition).no_retries())
        self._catalog("before", "n")
        self._catalog("after", "given")
        return goals("to-after")

    # -- graph ---------------------------------------------------------------------------------------------------

    def _graph(self, name: str, *nodes: dict[str, Any]) -> Startable:
        ids = [node["id"] for node in nodes]
        edges = [{"from": source, "to": target} for source, target in pairwise(ids)]
        failing = "compensate" if self._undoable else "fail"
        return graph({"name": name, "nodes": list(nodes), "edges": edges, "on_failure": failing})

    def _node(self, name: str) -> dict[str, Any]:
        undo = {"compensator": {"action": f"undo-{name}", "retry": 1}} if self._undoable else {}
        return {"id": name, "type": "task", "config": {"handler": name}, **undo}

    def _graph_child(self) -> Startable:
        return self._graph("child", self._node("first"), self._node("second"))

    def _graph_parent(self, child: Startable) -> Startable:
        found = child.reference()
        config = {"dialect": found.dialect, "definition": found.definition, "input": {CHILD_INPUT: "$payload.n"}}
        runs = {"id": "run", "type": "run", "config": config, "retry": {"max_attempts": 1}}
        return self._graph("parent", self._node("before"), runs, self._node("after"))

    # -- refs ----------------------------------------------------------------------------------------------------

    def _wired(self, name: str, reads: str) -> dict[str, Any]:
        undo = {"compensate": {"action": {"function": f"undo-{name}"}, "input": {"given": f"@{name}"}}}
        action = {"function": name}
        return {"name": name, "action": action, "input": {"given": reads}, **(undo if self._undoable else {})}

    def _refs_child(self) -> Startable:
        return refs({"steps": [self._wired("first", f"@input.{CHILD_INPUT}"), self._wired("second", "@first")]})

    def _refs_parent(self, child: Startable) -> Startable:
        found = child.reference()
        action = {"workflow": {"dialect": found.dialect, "definition": found.definition}}
        runs = {"name": "run", "action": action, "input": {CHILD_INPUT: "@before.n"}}
        return refs({"steps": [self._wired("before", "@input.n"), runs, self._wired("after", "@run")]})

    # -- afl -----------------------------------------------------------------------------------------------------

    def _afl_child(self) -> Startable:
        return afl(_AFL_CHILD, "m.Child")

    def _afl_parent(self, child_definition: Startable) -> Startable:
        return afl(_AFL_PARENT, "m.Parent", handlers={"Run": child(child_definition)})


_AFL_CHILD = """
namespace m {
    event facet First(given: Json) => (n: Long)
    event facet Second(given: Json) => (n: Long)
    event facet UndoFirst(given: Json, result: Json)
    event facet UndoSecond(given: Json, result: Json)
    workflow Child(before: Json) => (second: Json) andThen {
        a = First(given = $.before)
        b = Second(given = a.n)
        yield Child(second = b.n)
    }
}
"""
_AFL_PARENT = """
namespace m {
    event facet Before(given: Json) => (n: Long)
    event facet Run(before: Json) => (second: Json)
    event facet After(given: Json) => (n: Long)
    event facet UndoBefore(given: Json, result: Json)
    event facet UndoAfter(given: Json, result: Json)
    workflow Parent(n: Json) => (after: Json) andThen {
        b = Before(given = $.n)
        c = Run(before = b.n)
        d = After(given = c.second)
        yield Parent(after = d.n)
    }
}
"""
