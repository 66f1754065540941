"""The end of a run, checked after every decision: no token is left, or none that can move without a person."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel.cause import of_operation
from plait.kernel.effects import Finish
from plait.kernel.errors import ErrorInfo

from .decision_builder import DecisionBuilder, error
from .state import Execution
from .templates import TemplateError, filled

_encode = msgspec.json.Encoder().encode


def complete(builder: DecisionBuilder) -> None:
    run, state = builder.run, builder.run.state
    if builder.over or state.approvals or run.active:
        return
    if state.counter == 0:
        _completed(builder)
    elif run.plan.ir.on_failure != "hold" and (failed := next(iter(run.dead()), None)) is not None:
        builder.effect(Finish("failed", error=node_failed(builder, failed)))
        builder.over = True


def _completed(builder: DecisionBuilder) -> None:
    builder.over = True
    try:
        output = _output(builder)
    except TemplateError as missing:
        builder.effect(Finish("failed", error=error("template_unresolved", f"the run's output: {missing}")))
    else:
        builder.effect(Finish("completed", output))


def _output(builder: DecisionBuilder) -> Raw:
    if builder.run.plan.ir.output is not None:
        return Raw(_encode(filled(builder, builder.run.plan.output)))
    context = builder.run.state.context
    found: dict[str, Any] = {node: record.output for node, record in context.items() if record.ends_path}
    return Raw(_encode(found))


def node_failed(builder: DecisionBuilder, execution: Execution) -> ErrorInfo:
    """The message names the node; the cause within it is about the node, so that no reader sees it named twice."""
    node, name = execution.node, builder.plan(execution).ir.name or execution.node
    found = execution.error or error("failed", "it failed")
    cause = of_operation(found, node, name, execution.attempts)
    return ErrorInfo("graph.node_failed", f"node `{node}` failed: {found.message}", cause=cause, ops=[node], label=name)
