"""Graphs on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, cast

from plait.cli.extension import Checked, CheckRequest, Extension, Startable
from plait.dialects.graph.graph import NAME, Graph, graph
from plait.dialects.graph.handlers import Handler
from plait.kernel.definitions import Plan


class GraphExtension(Extension):
    noun = "graph"
    declares = "graphs and handlers"

    def declared(self, module: ModuleType) -> Mapping[str, object]:
        return {name: found for name, found in vars(module).items() if _is_declared(found)}

    def startable(self, found: Sequence[object]) -> Startable | None:
        return found[0] if len(found) == 1 and isinstance(found[0], Graph) else None

    def recognises(self, content: Mapping[str, Any]) -> bool:
        return "nodes" in content

    def definition(self, content: dict[str, Any]) -> Graph:
        return graph(content)

    def plan_alone(self, definition: Startable, given: Any) -> Plan:
        from plait.dialects.graph.definition.compile import compile_graph
        from plait.dialects.graph.definition.ir_view import shown

        compiled = compile_graph(cast("Graph", definition).definition)
        notes = [note.message for note in compiled.warnings]
        return Plan(
            dialect=NAME,
            definition=definition.label,
            version=compiled.ir.version,
            input=given,
            notes=notes,
            body=shown(compiled.ir),
        )

    def say_plan(self, plan: Plan) -> None:
        from .plan_view import say_plan

        say_plan(plan)

    async def check(self, request: CheckRequest) -> Checked | None:
        from .check_graphs import check_graphs

        return await check_graphs(request.files, request.where) if request.files else None


def _is_declared(found: object) -> bool:
    return isinstance(found, Graph | Handler)
