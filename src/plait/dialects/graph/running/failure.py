"""Attempts that fail for good: the tokens stay counted as a dead letter, until a person retries or discards it."""

from __future__ import annotations

from plait.kernel.effects import AddDeadLetter, FailTask
from plait.kernel.errors import ErrorInfo
from plait.kernel.run import letter_id

from .decision_builder import DecisionBuilder
from .events import NodeFailed, TokenDeadLettered
from .state import Execution
from .tasks import work_task


def attempt_failed(
    builder: DecisionBuilder, execution: Execution, attempt: int, error: ErrorInfo, *, retryable: bool
) -> None:
    """Fails an attempt whose result is unusable. If `retryable`, the node's policy decides what follows."""
    task = work_task(builder, execution) if retryable else None
    if task is None:
        fail(builder, execution, error, attempt)
    else:
        builder.effect(FailTask(task, attempt, error))


def fail(builder: DecisionBuilder, execution: Execution, error: ErrorInfo, attempts: int = 1) -> None:
    node, letter = execution.node, letter_id(builder.context.info.run_id, execution.task)
    tokens = execution.tokens if len(execution.tokens) > 1 else []
    builder.record(NodeFailed(node, execution.id, error, attempts, tokens))
    builder.record(TokenDeadLettered(node, execution.id, letter, error.message, attempts))
    label = builder.plan(execution).ir.name or node
    builder.effect(AddDeadLetter(execution.task, label, attempts, error))
