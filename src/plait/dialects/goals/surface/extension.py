"""Goals on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from plait.cli.extension import Checked, CheckRequest, Extension, Startable
from plait.dialects.goals.definition import Goals
from plait.kernel.definitions import Plan
from plait.kernel.view import Edge, Node, RunView

from .declared import DeclaredStep, id_of, is_step, steps_of

_LOAD = "load the module that has the function: plait serve MODULE, or plait run MODULE:STEP"


class GoalsExtension(Extension):
    noun = "goals"
    declares = "steps"
    suffixes = (".json",)
    named_inputs = True

    def declared(self, module: ModuleType) -> Mapping[str, DeclaredStep]:
        return steps_of(module)

    def startable(self, found: Sequence[object]) -> Startable | None:
        """Steps that can be started as goals."""
        steps = [each for each in found if is_step(each)]
        return Goals(tuple(map(id_of, steps))) if steps and len(steps) == len(found) else None

    def read(self, text: str) -> Goals:
        return Goals(tuple(filter(None, text.split(","))))

    def planned(self, names: Sequence[str]) -> Startable:
        return Goals(tuple(names))

    def say_plan(self, plan: Plan) -> None:
        from .plan_view import say_plan

        say_plan(plan)

    async def check(self, request: CheckRequest) -> Checked | None:
        from .check_steps import check_in
        from .step_files import in_file, in_module

        written = [
            *(each for name in request.files if name.endswith(self.suffixes) for each in in_file(name)),
            *(each for module in request.modules for each in in_module(module)),
        ]
        if not written:
            return None
        return await check_in(written, request.where, register=request.register, update=request.update)

    def blocked_advice(self, run: str) -> list[str]:
        return [
            _LOAD,
            f"then, if it does not continue by itself: plait retry {run}",
        ]

    def blocked_fix(self, again: str) -> str:
        return _LOAD

    def fork_edits(self, edits: dict[str, Any]) -> dict[str, Any]:
        return {"attributes": edits} if edits else {}

    def nodes(self, view: RunView) -> list[Node]:
        """All steps, which exist from the start, sorted by dependency."""
        steps = [node for node in view.nodes if node.kind not in ("init", "rollback")]
        return [*_by_need(steps, view.edges), *(node for node in view.nodes if node.kind == "rollback")]

    def say_details(self, details: Mapping[str, Any], limit: int | None) -> None:
        from .plan_view import say_attributes

        say_attributes(details, limit)


def _by_need(nodes: list[Node], edges: Iterable[Edge]) -> list[Node]:
    """Dependencies first; otherwise the order is kept."""
    known = {node.id for node in nodes}
    needed = {node.id: {edge.source for edge in edges if edge.target == node.id} & known for node in nodes}
    found: list[Node] = []
    while nodes:
        ready = [node for node in nodes if not needed[node.id]] or nodes
        found += ready
        done = {node.id for node in ready}
        nodes = [node for node in nodes if node.id not in done]
        needed = {node.id: needed[node.id] - done for node in nodes}
    return found
