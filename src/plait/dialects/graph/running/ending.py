"""Ending a run: whatever the outcome, its open approvals are withdrawn."""

from __future__ import annotations

from plait.kernel.effects import CancelChild, Finish
from plait.kernel.errors import ErrorInfo

from .child_ids import child_id
from .decision_builder import DecisionBuilder
from .events import ApprovalCancelled


def fail_run(builder: DecisionBuilder, error: ErrorInfo) -> None:
    builder.over = True
    stop(builder)
    builder.effect(Finish("failed", error=error))


def stop(builder: DecisionBuilder) -> None:
    """Stops what is in flight outside of this run and would outlive it."""
    state = builder.run.state
    for approval in list(state.approvals.values()):
        builder.record(ApprovalCancelled(approval.id, approval.node))
    for execution in state.executions.values():
        if builder.plan(execution).work == "run" and not (execution.dead or execution.retrying):
            builder.effect(CancelChild(child_id(builder.context.info.run_id, execution)))
