"""Graphs on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plait.cli.extension import Checked, CheckRequest, Extension, Startable
from plait.dialects.graph.graph import NAME, Graph, graph
from plait.kernel.definitions import Plan


class GraphExtension(Extension):
    noun = "graph"
    declares = "handlers"

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
