"""Nodes that are settled in the decision that reaches them: `decision`, and `transform` without a script."""

from __future__ import annotations

from msgspec import Raw

from .decision_builder import DecisionBuilder
from .state import Execution
from .templates import filled
from .topology import NodePlan


def inline_output(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> Raw:
    """Raises a `TemplateError` if a value is missing."""
    if plan.ir.type == "decision":
        return execution.payload
    return filled(builder, plan.ir.config["output"], execution)
