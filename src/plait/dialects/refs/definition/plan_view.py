"""A compiled definition for display: its steps by level, the dependencies of each, and warnings."""

from __future__ import annotations

from typing import Any

from .compile import Compiled
from .edges import edges_of


def shown(compiled: Compiled) -> dict[str, Any]:
    plan = compiled.plan
    return {
        "hash": plan.hash,
        "mode": plan.mode,
        "levels": [list(level) for level in plan.levels],
        "steps": [
            {
                "name": step.name,
                "kind": step.kind,
                "action": step.action.name or step.action.workflow or "",
                "needs": sorted(step.needs),
                "conditional": step.when is not None,
                "forEach": None if step.for_each is None else step.for_each.ref.text,
            }
            for step in plan.order
        ],
        "edges": [
            {"source": source, "target": step.name, "label": label}
            for step in plan.order
            for source, label in edges_of(step, plan.declared)
        ],
        "outputs": list(plan.terminals),
        "problems": [
            {"code": note.code, "pointer": note.pointer, "message": note.message} for note in compiled.warnings
        ],
    }
