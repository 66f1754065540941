"""Nodes that are settled in the decision that reaches them: `decision`, and `transform` without a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from plait.kernel import values

from .decision_builder import DecisionBuilder
from .state import Execution
from .templates import filled
from .topology import NodePlan

if TYPE_CHECKING:
    from .expressions import Computation

_decode = msgspec.json.Decoder().decode


def inline_output(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> Raw:
    """Raises a `TemplateError` if a value is missing, and `InvalidInput` if it can't be computed."""
    if plan.ir.type == "decision":
        return execution.payload
    expression = builder.run.plan.expressions.get(plan.id)
    if expression is not None:
        return values.encode(_computed(builder, expression, execution))
    config: dict[str, Any] = filled(builder, builder.run.plan.templates[plan.id], execution)
    return values.encode(config["output"])


def _computed(builder: DecisionBuilder, expression: Computation, execution: Execution) -> Any:
    reads = frozenset(builder.run.state.context) if expression.reads_all else expression.reads
    payload = _decode(execution.payload)
    names = {"payload": payload, "output": payload, "ctx": builder.records(reads), "input": builder.input()}
    return expression.value(names, execution.node)
