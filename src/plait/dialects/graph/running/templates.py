"""Templates in the config of a node and in a run's output, filled in on demand."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.dialects.graph.definition.templates import Scope, Template, Unresolved

from .decision_builder import DecisionBuilder
from .state import Execution
from .topology import NodePlan

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class TemplateError(Exception):
    """A template has a hole without a value."""


def config_of(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> Raw:
    """The config of a node for one execution."""
    template = builder.run.plan.templates[plan.id]
    return Raw(_encode(filled(builder, template, execution))) if template.holes else plan.config


def filled(builder: DecisionBuilder, template: Template, execution: Execution | None = None) -> Any:
    outputs = {node: output for node in template.reads if (output := builder.output_of(node)) is not None}
    scope = Scope(
        nodes={node: _decode(output) for node, output in outputs.items()},
        input=builder.input(),
        payload=None if execution is None else _decode(execution.payload),
    )
    try:
        return template.resolve(scope)
    except Unresolved as missing:
        raise TemplateError(str(missing)) from None
