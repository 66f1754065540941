"""Folds events into a run, one by one. It decides nothing, and never fails on what was once recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from plait.dialects.graph.definition.patch import added_agents
from plait.kernel.events import (
    Event,
    RollbackStarted,
    RollbackStep,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReopened,
    RunStarted,
    TaskRetryScheduled,
)
from plait.kernel.ids import Millis
from plait.kernel.values import ABSENT

from . import events as e
from .graph_run import GraphRun
from .state import (
    Choice,
    Done,
    Execution,
    GraphStart,
    GraphState,
    Judgement,
    NodeRecord,
    OpenApproval,
    PathStep,
    Token,
    token_id,
)
from .topologies import Topologies
from .topology import Topology

_encode = msgspec.json.Encoder().encode
START = "start"
"""Stands for the parent of the first tokens."""


def begun(event: RunStarted, at: Millis, topologies: Topologies) -> GraphRun:
    """The initial run: a token at every entry node. Token ids derive from its seed, which a fork shares because its log
    names the same tokens."""
    data: Any = event.data
    start = data if isinstance(data, GraphStart) else _recorded(data)
    state = GraphState(start.definition, event.input, start.wf_version, at)
    run = GraphRun(state, topologies.of(start.definition))
    for index, node in enumerate(start.entry_nodes):
        run.arrive(Token(token_id(str(event.seed), START, node, index), node, "", event.input, 1, at))
    state.counter = state.emitted = start.counter_after
    return run


def _recorded(data: dict[str, Any]) -> GraphStart:
    return msgspec.convert({**data, "definition": Raw(_encode(data["definition"]))}, GraphStart)


class Folding:
    """What folding needs beside the run."""

    __slots__ = ("at", "run", "topologies")

    def __init__(self, run: GraphRun, topologies: Topologies) -> None:
        self.run = run
        self.topologies = topologies
        self.at = Millis(0)

    def fold(self, event: Event, at: Millis) -> None:
        self.run.state.seq += 1
        self.at = at
        change = _FOLDS.get(type(event))
        if change is not None:
            change(self, event)

    # -- nodes -----------------------------------------------------------------------------------------------------

    def consumed(self, event: e.NodeConsumed) -> None:
        run, state = self.run, self.run.state
        execution = state.executions[event.token_id]
        origin = state.tokens[event.token_id].origin
        run.consume(execution)
        state.counter = event.counter_after
        state.path.append(PathStep(event.token_id, event.node_id, origin, event.hop, event.iteration, self.at))
        if event.output:
            self.complete(execution, event.output, event.attempt)
        elif run.plan.nodes[event.node_id].work == "human":
            record = state.context.setdefault(event.node_id, NodeRecord())
            record.payload, record.started_at = execution.payload, execution.started_at

    def complete(self, execution: Execution, output: Raw, attempt: int) -> None:
        """Records the node's latest success."""
        state, node = self.run.state, execution.node
        before, started_at = state.context.get(node), execution.started_at
        state.context[node] = NodeRecord(
            output,
            self.at,
            self.at - started_at,
            attempt,
            execution.iteration() if execution.loops else 1,
            1 if before is None else before.executions + 1,
            True,  # ends a path unless it emits
            execution.payload,
            started_at,
        )
        if self.run.plan.nodes[node].compensates:
            state.done.append(Done(execution.id, node, execution.payload, output))

    def emitted(self, event: e.NodeEmitted) -> None:
        run, state = self.run, self.run.state
        record = state.context[event.node_id]
        record.ends_path = False
        payload, nodes, back = record.output, run.plan.nodes, event.via == "loop"
        for target, token in zip(event.to_nodes, event.tokens, strict=True):
            around = nodes[target].loops
            loops = {loop: i for loop, i in event.loops.items() if loop in around and i > 1} if event.loops else {}
            run.arrive(Token(token, target, event.node_id, payload, event.hop, self.at, loops, back))
        if back:
            run.look_at_joins_again()
        elif event.via != "edges":
            state.choices[event.node_id] = Choice(event.via, tuple(event.to_nodes))
        state.counter = event.counter_after
        state.emitted += event.delta

    def executed(self, event: e.NodeExecuted) -> None:
        execution = self.run.state.executions[event.token_id]
        execution.output, execution.attempts, execution.accepted = event.output, event.attempt, 0
        execution.chosen, execution.reasoning = event.next_nodes, event.reasoning

    def accepted(self, event: e.NodeAccepted) -> None:
        execution = self.run.state.executions[event.token_id]
        execution.accepted, execution.until = event.attempt, event.until

    def judged(self, event: e.ConditionJudged) -> None:
        execution = self.run.state.executions[event.token_id]
        execution.verdicts = execution.verdicts | {event.where: Judgement(event.value, event.code, event.message)}

    def branch_taken(self, event: e.BranchTaken) -> None:
        self.run.state.choices[event.node_id] = Choice("branch", tuple(event.next_nodes))

    def agent_decided(self, event: e.AgentDecided) -> None:
        decision = Raw(_encode({"next_nodes": event.next_nodes, "reasoning": event.reasoning}))
        self.run.state.context[event.node_id].decision = decision

    def failed(self, event: e.NodeFailed) -> None:
        execution = self.run.state.executions[event.token_id]
        execution.error, execution.attempts, execution.accepted = event.error, event.attempts, 0

    def retry_scheduled(self, event: TaskRetryScheduled) -> None:
        execution = self.run.by_task(event.token)
        if execution is not None:
            execution.attempts, execution.accepted = event.attempt, 0

    def child_retried(self, event: e.ChildRetried) -> None:
        self.run.state.executions[event.token_id].child = event.attempt

    def dead_lettered(self, event: e.TokenDeadLettered) -> None:
        execution = self.run.state.executions[event.token_id]
        if not execution.dead:
            execution.dead = True
            self.run.active -= 1

    def reprocessed(self, event: e.TokenReprocessed) -> None:
        execution = self.run.state.executions[event.token_id]
        execution.dead, execution.generation, execution.error = False, event.generation, None
        execution.output, execution.verdicts, execution.attempts, execution.child = ABSENT, {}, 0, 1
        execution.until, execution.message, execution.chosen, execution.reasoning = None, "", None, ""
        execution.waiting, execution.started_at = False, self.at
        self.run.active += 1

    def discarded(self, event: e.TokenDiscarded) -> None:
        self.run.consume(self.run.state.executions[event.token_id])
        self.run.state.counter = event.counter_after

    def joined(self, event: e.JoinFired) -> None:
        self.run.fire((event.node_id, tuple(event.round)), event.token_ids, self.at)

    # -- waits and approvals -----------------------------------------------------------------------------------------

    def wait_started(self, event: e.WaitStarted) -> None:
        execution = self.run.state.executions[event.token_id]
        execution.waiting, execution.until, execution.message = True, event.until, event.name
        if event.name:
            self.run.listen(execution)

    def throttled(self, event: e.TokenThrottled) -> None:
        execution = self.run.state.executions[event.token_id]
        execution.waiting = execution.held = True
        self.run.held += 1

    def released(self, event: e.TokenReleased) -> None:
        execution = self.run.state.executions[event.token_id]
        execution.waiting, execution.held, execution.due = False, False, Millis(0)
        self.run.held -= 1

    def queued(self, event: e.MessageQueued) -> None:
        self.run.state.messages.setdefault(event.name, []).append(event.body)

    def taken(self, event: e.MessageTaken) -> None:
        queue = self.run.state.messages[event.name]
        del queue[0]
        if not queue:
            del self.run.state.messages[event.name]

    def asked(self, event: e.ApprovalCreated) -> None:
        state = self.run.state
        if event.before:
            state.executions[event.token_id].waiting = True
            payload = state.executions[event.token_id].payload
        else:
            payload = state.context[event.node_id].payload
        approval = OpenApproval(
            event.approval_id,
            event.node_id,
            event.token_id,
            payload,
            event.title,
            event.hop,
            self.at,
            event.loops,
            event.approvers,
            event.timeout_at,
            event.evidence_hash,
            event.before,
            event.judged,
        )
        self.run.ask(approval)

    def answered(self, event: e.ApprovalDecided) -> None:
        run, approval = self.run, self.run.state.approvals[event.approval_id]
        run.answer(approval)
        if approval.before:
            execution = run.state.executions[approval.token]
            execution.waiting, execution.approved = False, event.decision == "approve"
            return
        execution = Execution(
            approval.token, approval.node, [], approval.payload, approval.hop, approval.at, approval.loops
        )
        self.complete(execution, event.output, 1)

    def unasked(self, event: e.ApprovalCancelled) -> None:
        approval = self.run.state.approvals.get(event.approval_id)
        if approval is not None:
            self.run.answer(approval)

    # -- the graph itself --------------------------------------------------------------------------------------------

    def patched(self, event: e.PatchApplied) -> None:
        new = self.topologies.patched(self.run.state.definition, event.operations)
        if event.agent:
            self.run.state.added_agents += added_agents(self.run.plan.ir, new.ir)
        self.replace(new, event.revision)

    def migrated(self, event: e.RunMigrated) -> None:
        self.run.state.wf_version = event.to_version
        self.replace(self.topologies.of(event.definition), self.run.state.revision)

    def forked(self, event: e.GraphForked) -> None:
        state = self.run.state
        state.status, state.error, state.end_seq = "running", None, 0
        state.fork_seq, state.forked_at = state.seq, self.at
        for execution in state.executions.values():
            execution.accepted = 0  # the address that was given out belongs to the other run
        for node, value in event.outputs.items():
            raw = Raw(_encode(value))
            state.context[node].output = raw
            for token in state.tokens.values():
                if token.origin == node:
                    token.payload = raw
            for execution in state.executions.values():
                if len(execution.tokens) == 1 and state.tokens[execution.tokens[0]].origin == node:
                    execution.payload = raw
        if event.operations:
            self.replace(self.topologies.patched(state.definition, event.operations), state.revision + 1)

    def replace(self, plan: Topology, revision: int) -> None:
        state = self.run.state
        state.definition, state.revision = plan.definition, revision
        state.patches.append(state.seq)
        self.run.rebuild(plan)
        self.run.dirty.update(self.run.joins)

    # -- the kernel's events -----------------------------------------------------------------------------------------

    def rolling_back(self, event: RollbackStarted) -> None:
        if event.cause != "request":
            self.over("cancelled" if event.cause == "cancel" else "failed", event.error)

    def rolled_back(self, event: RollbackStep) -> None:
        if event.status == "completed":
            self.run.state.rolled_back.append(event.at)

    def run_completed(self, event: RunCompleted) -> None:
        self.over("completed", None)

    def run_failed(self, event: RunFailed) -> None:
        self.over("failed", event.error)

    def run_cancelled(self, event: RunCancelled) -> None:
        self.over("cancelled", None)

    def over(self, status: Any, error: Any) -> None:
        state = self.run.state
        state.status, state.error, state.end_seq = status, error, state.end_seq or state.seq

    def reopened(self, event: RunReopened) -> None:
        if event.cause != "compensate":
            state = self.run.state
            state.status, state.error, state.end_seq = "running", None, 0


_FOLDS: dict[type[Event], Callable[[Folding, Any], None]] = {
    e.NodeConsumed: Folding.consumed,
    e.NodeEmitted: Folding.emitted,
    e.NodeExecuted: Folding.executed,
    e.NodeAccepted: Folding.accepted,
    e.ConditionJudged: Folding.judged,
    e.BranchTaken: Folding.branch_taken,
    e.NodeFailed: Folding.failed,
    e.AgentDecided: Folding.agent_decided,
    e.ChildRetried: Folding.child_retried,
    e.TokenDeadLettered: Folding.dead_lettered,
    e.TokenReprocessed: Folding.reprocessed,
    e.TokenDiscarded: Folding.discarded,
    e.JoinFired: Folding.joined,
    e.WaitStarted: Folding.wait_started,
    e.TokenThrottled: Folding.throttled,
    e.TokenReleased: Folding.released,
    e.MessageQueued: Folding.queued,
    e.MessageTaken: Folding.taken,
    e.ApprovalCreated: Folding.asked,
    e.ApprovalDecided: Folding.answered,
    e.ApprovalCancelled: Folding.unasked,
    e.PatchApplied: Folding.patched,
    e.RunMigrated: Folding.migrated,
    e.GraphForked: Folding.forked,
    TaskRetryScheduled: Folding.retry_scheduled,
    RollbackStarted: Folding.rolling_back,
    RollbackStep: Folding.rolled_back,
    RunCompleted: Folding.run_completed,
    RunFailed: Folding.run_failed,
    RunCancelled: Folding.run_cancelled,
    RunReopened: Folding.reopened,
}
