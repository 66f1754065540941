"""Nodes that wait: for a time, or for a message. Messages that no node waits for yet are queued, oldest first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel.effects import ClearTimer, SetTimer
from plait.kernel.errors import Busy, Conflict
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.inputs import Message

from .decision_builder import DecisionBuilder, error
from .events import MessageQueued, MessageTaken, WaitStarted
from .failure import fail
from .settle import settle
from .state import WAIT, Execution
from .templates import config_of
from .topology import NodePlan

MAX_QUEUED = 1_000
TIMED_OUT = Raw(b'{"timed_out":true}')


def wait(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> None:
    config: dict[str, Any] = msgspec.json.decode(config_of(builder, plan, execution))
    name = str(config.get("message") or "")
    if name and (queued := builder.run.state.messages.get(name)):
        body = queued[0]
        builder.record(MessageTaken(name, execution.id))
        settle(builder, execution, body)
        return
    try:
        until = _until(config, builder.now, name)
    except ValueError as problem:
        fail(builder, execution, error("bad_time", f"`{plan.id}`: {problem}"))
        return
    builder.record(WaitStarted(plan.id, execution.id, until, name))
    if until is not None:
        builder.effect(SetTimer(wait_timer(execution), until))


def wait_timer(execution: Execution) -> TaskToken:
    return TaskToken(WAIT + execution.task)


def _until(config: dict[str, Any], now: Millis, name: str) -> Millis | None:
    seconds: Any = config.get("timeout_s") if name else config.get("seconds")
    if seconds is not None:
        return Millis(now + round(float(seconds) * 1000))
    if name:
        return None
    until: Any = config.get("until")
    if isinstance(until, int | float):
        return Millis(round(until))
    found = datetime.fromisoformat(str(until))
    return Millis(round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000))


def wait_over(builder: DecisionBuilder, token: str) -> None:
    execution = builder.run.by_task(token)
    if execution is not None and execution.waiting and not execution.dead:
        settle(builder, execution, TIMED_OUT if execution.message else execution.payload)


def message(builder: DecisionBuilder, given: Message) -> None:
    """Delivers a message to the node that has waited longest, or queues it."""
    run, state = builder.run, builder.run.state
    if given.name not in run.plan.messages:
        known = ", ".join(sorted(run.plan.messages)) or "none"
        raise Conflict(
            "graph.unknown_message",
            f"no node waits for a message `{given.name}`",
            why=f"messages of this graph: {known}",
            fix="send one of these, or add a `wait` node",
        )
    waiting = run.listeners.get(given.name)
    if not waiting:
        if len(state.messages.get(given.name, ())) >= MAX_QUEUED:
            raise Busy("graph.too_many_messages", f"{MAX_QUEUED:,} messages `{given.name}` are not taken yet")
        builder.record(MessageQueued(given.name, given.body))
        return
    execution = state.executions[next(iter(waiting))]
    if execution.until is not None:
        builder.effect(ClearTimer(wait_timer(execution)))
    settle(builder, execution, given.body)
