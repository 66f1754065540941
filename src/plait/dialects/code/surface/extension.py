"""Workflows on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from plait.cli.extension import Checked, CheckRequest, Extension, Startable
from plait.dialects.code.definition import Workflow, is_step, is_workflow
from plait.kernel.view import Node, RunView


class CodeExtension(Extension):
    noun = "workflow"
    declares = "workflows"
    replays = True

    def declared(self, module: ModuleType) -> Mapping[str, Workflow[..., Any]]:
        return {name: found for name, found in vars(module).items() if is_workflow(found)}

    def functions(self, module: ModuleType) -> Iterable[object]:
        return [found for found in vars(module).values() if is_step(found)]

    def startable(self, found: Sequence[object]) -> Startable | None:
        return found[0] if len(found) == 1 and is_workflow(found[0]) else None

    async def check(self, request: CheckRequest) -> Checked | None:
        from .check_workflows import check_workflows

        modules = [module for module in request.modules if self.declared(module)]
        return await check_workflows(modules, request) if modules else None

    def blocked_advice(self, run: str) -> list[str]:
        return [
            "put the line above into the code; `plait check MODULE` says whether it fits then",
            f"then load the code, or, if it is loaded: plait retry {run}",
        ]

    def blocked_fix(self, again: str) -> str:
        return f"put that line into the code, then: {again}"

    def nodes(self, view: RunView) -> list[Node]:
        """Operations that were open when the run ended count as cancelled."""
        if view.status == "running":
            return view.nodes
        return [node if node.ended_at is not None else replace(node, status="cancelled") for node in view.nodes]
