"""Nodes that are runs themselves, of any dialect."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel.cause import cause_of
from plait.kernel.effects import StartChild
from plait.kernel.ids import caller_id
from plait.kernel.inputs import ChildFinished

from .child_ids import child_id
from .decision_builder import DecisionBuilder, error
from .failure import fail
from .settle import settle
from .state import Execution
from .templates import config_of
from .topology import NodePlan

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
    return StartChild(execution.task, run_id, config.get("dialect", ""), config.get("definition"), given)


def child_finished(builder: DecisionBuilder, child: ChildFinished) -> None:
    execution = builder.run.by_task(child.token)
    if execution is None or execution.dead or child.run_id != child_id(builder.context.info.run_id, execution):
        return
    if child.status == "completed":
        settle(builder, execution, child.output)
        return
    why = f"it was {child.status}" if child.error is None else cause_of(child.error).text or child.error.message
    what = f"child run `{caller_id(child.run_id)}` of `{execution.node}` {child.status}: {why}"
    fail(builder, execution, error("child_failed", what, child.error))
