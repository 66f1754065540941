"""What observers on Redis may see of a run: commands that copy changes made by events. Plait never reads it back.

    ir:<run>                       the graph that is executed, as JSON
    counter:<run>                  tokens in flight
    applied:<run>                  op keys that have been applied
    context:<run>                  <node>:output, <node>:duration_ms and <node>:decision
    pending_tokens:<run>:<node>    senders whose tokens wait at a join
    pending_approvals:<run>        ids of open approvals
    approval:<id>                  one approval
    loop:<run>:<node>              current_iteration

They expire a day after the run has ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from plait.kernel.events import Event, RunCancelled, RunCompleted, RunFailed, RunReopened, RunStarted
from plait.kernel.ids import Millis

from .events import (
    AgentDecided,
    ApprovalCancelled,
    ApprovalCreated,
    ApprovalDecided,
    JoinFired,
    LoopContinued,
    LoopExited,
    NodeConsumed,
    NodeEmitted,
    PatchApplied,
    RunMigrated,
    TokenDiscarded,
)
from .graph_run import GraphRun

Command = tuple[Any, ...]
"""A Redis command: its name, the key, and the other arguments."""

_KEPT = 86_400
"""Seconds after the end of the run."""
_encode = msgspec.json.Encoder().encode
_ENDED = (RunCompleted, RunFailed, RunCancelled)


def mirrored(run: GraphRun, run_id: str, events: Sequence[Event], at: Millis) -> list[Command]:
    found = [command for event in events for command in _changes(run, run_id, event, at)]
    if found or any(isinstance(event, RunStarted | RunReopened) for event in events):
        found.append(("SET", f"counter:{run_id}", run.state.counter))
    if any(isinstance(event, _ENDED) for event in events):
        found += [("EXPIRE", key, _KEPT) for key in _keys(run, run_id)]
    return found


def _changes(run: GraphRun, run_id: str, event: Event, at: Millis) -> Iterator[Command]:
    match event:
        case RunStarted() | PatchApplied() | RunMigrated():
            yield "SET", f"ir:{run_id}", _encode(run.plan.ir)
        case NodeConsumed():
            yield "SADD", f"applied:{run_id}", *event.op_keys
            if event.output:
                yield "HSET", f"context:{run_id}", f"{event.node_id}:output", bytes(event.output)
                yield "HSET", f"context:{run_id}", f"{event.node_id}:duration_ms", event.duration_ms
        case AgentDecided():
            decision = {"next_nodes": event.next_nodes, "reasoning": event.reasoning}
            yield "HSET", f"context:{run_id}", f"{event.node_id}:decision", _encode(decision)
        case NodeEmitted():
            yield "SADD", f"applied:{run_id}", event.op_key
            for node in event.to_nodes:
                if (plan := run.plan.nodes.get(node)) is not None and plan.ir.wait_for_all:
                    yield "SADD", f"pending_tokens:{run_id}:{node}", event.node_id
        case TokenDiscarded():
            yield "SADD", f"applied:{run_id}", *event.op_keys
        case JoinFired():
            yield "SREM", f"pending_tokens:{run_id}:{event.node_id}", *event.arrived
        case LoopContinued():
            yield "HSET", f"loop:{run_id}:{event.node_id}", "current_iteration", event.iteration
        case LoopExited():
            yield "DEL", f"loop:{run_id}:{event.node_id}"
        case ApprovalCreated() | ApprovalDecided() | ApprovalCancelled():
            yield from _approval(run_id, event, at)
        case _:
            pass


def _approval(
    run_id: str, event: ApprovalCreated | ApprovalDecided | ApprovalCancelled, at: Millis
) -> Iterator[Command]:
    key, open_ones = f"approval:{event.approval_id}", f"pending_approvals:{run_id}"
    match event:
        case ApprovalCreated():
            yield "SADD", open_ones, event.approval_id
            about = ("run_id", run_id, "node_id", event.node_id, "status", "pending", "created_at", at)
            yield "HSET", key, *about, "timeout_at", event.timeout_at or "", "approvers", ",".join(event.approvers)
        case ApprovalDecided():
            yield "SREM", open_ones, event.approval_id
            status = "timeout" if event.decision == "timeout" else "decided"
            yield "HSET", key, "status", status, "decision", event.decision, "decided_by", event.decided_by
            yield "EXPIRE", key, _KEPT
        case ApprovalCancelled():
            yield "SREM", open_ones, event.approval_id
            yield "HSET", key, "status", "cancelled"
            yield "EXPIRE", key, _KEPT


def _keys(run: GraphRun, run_id: str) -> Iterator[str]:
    for name in ("ir", "counter", "applied", "context", "pending_approvals"):
        yield f"{name}:{run_id}"
    for node, plan in run.plan.nodes.items():
        if plan.ir.wait_for_all:
            yield f"pending_tokens:{run_id}:{node}"
        if plan.ir.loop is not None:
            yield f"loop:{run_id}:{node}"
