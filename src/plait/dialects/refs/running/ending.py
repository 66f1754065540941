"""The end of a run: what it returns, or why it failed."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw

from plait.kernel.effects import CancelChild, Finish
from plait.kernel.errors import ErrorInfo
from plait.kernel.values import ABSENT

from .child_ids import child_id
from .children import is_waited_child
from .decision_builder import DecisionBuilder
from .events import RefsEnded, StepFailed
from .failures import error

_encode = msgspec.json.Encoder().encode
DEADLINE = "deadline_exceeded"


def complete_all(builder: DecisionBuilder) -> None:
    """Completes the run because every step is settled."""
    terminals, run = builder.plan.terminals, builder.run
    if len(terminals) == 1:
        output = run.work(terminals[0]).output
    else:
        output = Raw(_encode({name: run.work(name).output for name in terminals}))
    end(builder, "all", output)


def end(
    builder: DecisionBuilder,
    how: Literal["all", "return", "bail", "stop"],
    output: Raw,
    step: str = "",
    returns: Raw = ABSENT,
) -> None:
    builder.record(RefsEnded(how, output, step, returns))
    builder.effect(Finish("completed", output, partial=builder.run.has_failed()))
    builder.over = True


def fail_run(builder: DecisionBuilder, why: ErrorInfo) -> None:
    builder.effect(Finish("failed", error=why))
    builder.over = True


def expire(builder: DecisionBuilder) -> None:
    """Fails the run because its deadline has passed."""
    cancel_children(builder, "the run exceeded its deadline")
    fail_run(builder, error(DEADLINE, "Run exceeded its deadline"))


def is_expired(builder: DecisionBuilder) -> bool:
    deadline = builder.state.deadline
    return deadline is not None and builder.now >= deadline and builder.state.status == "running"


def cancel_children(builder: DecisionBuilder, why: str) -> None:
    """Cancels the children that the run waits for; their steps have failed, whatever they still report."""
    for name, index, work in list(builder.run.under_way()):
        step = builder.plan.steps[name]
        if is_waited_child(step, work):
            builder.effect(CancelChild(child_id(builder.context.info.run_id, name, index, work.generation), why))
            builder.record(StepFailed(name, error("cancelled", f"the child run was cancelled: {why}"), index))
