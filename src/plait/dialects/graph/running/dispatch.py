"""Starting an execution: depending on its node's type it is settled at once, becomes a task, waits, or asks people."""

from __future__ import annotations

from typing import assert_never

from plait.kernel.errors import PlaitError

from .approvals import ask, ask_before
from .children import start_child
from .decision_builder import INLINE_AT_ONCE, DecisionBuilder, error
from .failure import fail
from .inline import inline_output
from .judging import judging_task
from .misfits import first_misfit
from .opa import unasked
from .settle import settle
from .state import Execution
from .tasks import work_task
from .templates import TemplateError
from .throttling import held_back
from .waits import wait


def start_ready(builder: DecisionBuilder) -> None:
    """Starts all queued executions, and those that follow from them."""
    while builder.ready and not builder.over:
        execution = builder.ready.popleft()
        if execution.due and held_back(builder, execution):
            continue
        if builder.plan(execution).work == "inline":
            builder.inline += 1
            if builder.inline > INLINE_AT_ONCE:
                builder.decision.more = True  # continued in the next decision
                continue
        try:
            start(builder, execution)
        except TemplateError as missing:
            fail(builder, execution, error("template_unresolved", f"config of `{execution.node}`: {missing}"))


def start(builder: DecisionBuilder, execution: Execution) -> None:
    plan = builder.plan(execution)
    if plan.ir.capabilities.requires_approval and not execution.approved:
        ask_before(builder, execution)
        return
    if plan.input_schema and (misfit := first_misfit(plan.input_schema, execution.payload)):
        fail(builder, execution, error("input_invalid", f"the payload of `{plan.id}` does not fit its type: {misfit}"))
        return
    match plan.work:
        case "inline":
            try:
                output = inline_output(builder, plan, execution)
            except PlaitError as problem:
                fail(builder, execution, error("transform_failed", f"`{plan.id}`: {problem.text}"))
            else:
                settle(builder, execution, output)
        case "wait":
            wait(builder, plan, execution)
        case "human":
            if (pointer := unasked(builder, plan, execution)) is not None:
                builder.effect(judging_task(builder, execution, pointer))
            else:
                ask(builder, plan, execution)
        case "run":
            start_child(builder, plan, execution)
        case "call" | "http" | "agent" | "script" | "pipeline" | "tool" | "migration":
            task = work_task(builder, execution)
            assert task is not None
            builder.effect(task)
        case _:
            assert_never(plan.work)
