"""Workflows of steps on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, cast

from plait.cli.extension import Checked, CheckRequest, Extension, Startable
from plait.dialects.refs.refs import Refs, refs
from plait.kernel.definitions import Plan


class RefsExtension(Extension):
    noun = "workflow"
    declares = "workflows of steps"
    resumes_ended = True

    def declared(self, module: ModuleType) -> Mapping[str, object]:
        return {name: found for name, found in vars(module).items() if isinstance(found, Refs)}

    def startable(self, found: Sequence[object]) -> Startable | None:
        return found[0] if len(found) == 1 and isinstance(found[0], Refs) else None

    def recognises(self, content: Mapping[str, Any]) -> bool:
        steps = content.get("steps")
        if "use" in content:
            return True
        return isinstance(steps, list) and any(_is_step(each) for each in cast("list[Any]", steps))

    def definition(self, content: dict[str, Any]) -> Refs:
        return refs(content)

    def plan_alone(self, definition: Startable, given: Any) -> Plan | None:
        from plait.dialects.refs.bundle import plan_of
        from plait.dialects.refs.preparation import Prepared
        from plait.dialects.refs.running.plans import Plans

        found = cast("Refs", definition)
        if "use" in found.definition:
            return None
        prepared = Prepared(Plans().made(dict(found.definition)))
        return plan_of(found, prepared, given, [note.message for note in prepared.compiled.warnings])

    def say_plan(self, plan: Plan) -> None:
        from .plan_view import say_plan

        say_plan(plan)

    async def check(self, request: CheckRequest) -> Checked | None:
        from .check_workflows import check_workflows

        return await check_workflows(request.files, request.where) if request.files else None


def _is_step(found: Any) -> bool:
    """Whether these are steps of this dialect: catalog steps have no action."""
    return isinstance(found, dict) and "action" in cast("dict[str, Any]", found)
