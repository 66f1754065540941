"""Nodes that are child runs, of any dialect."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel.cause import cause_of, of_child
from plait.kernel.effects import CancelTask, FailTask, RetryTask, StartChild
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.inputs import ChildFinished
from plait.kernel.queue_options import defined
from plait.kernel.task import Task

from .child_ids import child_id
from .decision_builder import DecisionBuilder
from .events import ChildRetried
from .failure import fail
from .settle import settle
from .state import Execution
from .templates import config_of
from .topology import NodePlan

CHILD = "graph.child"
_encode = msgspec.json.Encoder().encode


def start_child(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> None:
    child = child_of(builder, plan, execution)
    builder.effect(child)
    if plan.ir.config.get("wait", True) is False:
        settle(builder, execution, Raw(_encode({"run_id": caller_id(child.run_id)})))


def child_of(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> StartChild:
    config: dict[str, Any] = msgspec.json.decode(config_of(builder, plan, execution))
    given = Raw(_encode(config["input"])) if "input" in config else execution.payload
    run_id = child_id(builder.context.info.run_id, execution)
    dialect, definition = config.get("dialect", ""), config.get("definition")
    return StartChild(execution.task, run_id, dialect, definition, given, queueing=defined(config))


def child_task(builder: DecisionBuilder, execution: Execution) -> Task:
    """A task that nobody executes: it stands for the child where the kernel counts attempts."""
    plan = builder.plan(execution)
    return Task(execution.task, plan.ir.name or plan.id, CHILD, None, plan.policy, "", plan.id)


def child_finished(builder: DecisionBuilder, child: ChildFinished) -> None:
    """A child that failed is a failed attempt. One that was cancelled, or can't be started, is not retried: another
    attempt would end the same."""
    if builder.run.state.status != "running":
        return  # cancelled with the run, which is over: there is nothing to retry or discard
    execution = builder.run.by_task(child.token)
    if execution is None or execution.dead or child.run_id != child_id(builder.context.info.run_id, execution):
        return
    if child.status == "completed":
        if execution.retrying:  # the child itself was retried
            builder.effect(CancelTask(execution.task))
        settle(builder, execution, child.output, attempt=execution.child)
    elif not execution.retrying:
        why = f"it was {child.status}" if child.error is None else cause_of(child.error).text or child.error.message
        what = f"child run `{caller_id(child.run_id)}` of `{execution.node}` {child.status}: {why}"
        failed = of_child(child, "graph.child_failed", what)
        if child.status == "failed":
            builder.effect(FailTask(child_task(builder, execution), execution.child, failed))
        else:
            fail(builder, execution, failed, execution.child)


def retry_due(builder: DecisionBuilder, token: TaskToken) -> None:
    """Starts another attempt; for a child that is another run."""
    execution = builder.run.by_task(token)
    if execution is None or builder.plan(execution).work != "run":
        builder.effect(RetryTask(token))
        return
    builder.effect(CancelTask(token))
    builder.record(ChildRetried(execution.node, execution.id, execution.child + 1))
    builder.ready.append(execution)
