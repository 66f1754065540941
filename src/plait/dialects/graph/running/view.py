"""A run as people see it: every node of the graph, where its tokens are, and the path they took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.machine import RunInfo, TaskFacts
from plait.kernel.view import Edge, Node, NodeStatus

from .child_ids import child_id
from .graph_run import GraphRun
from .state import Execution, OpenApproval, Token
from .topology import NodePlan


class Here(msgspec.Struct):
    """What is at one node now."""

    executions: list[Execution] = []
    parked: list[Token] = []
    approvals: list[OpenApproval] = []


def nodes(run: GraphRun, info: RunInfo, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]:
    here = positions(run)
    found = [_node(run, run.plan.nodes[node], here[node], info, tasks) for node in run.plan.ir.order]
    return found, [*_edges(run)]


def positions(run: GraphRun) -> dict[str, Here]:
    found: dict[str, Here] = defaultdict(Here)
    for execution in run.state.executions.values():
        found[execution.node].executions.append(execution)
    for token in run.state.tokens.values():
        if token.parked:
            found[token.node].parked.append(token)
    for approval in run.state.approvals.values():
        found[approval.node].approvals.append(approval)
    return found


def _node(run: GraphRun, plan: NodePlan, here: Here, info: RunInfo, tasks: Mapping[TaskToken, TaskFacts]) -> Node:
    record, latest = run.state.context.get(plan.id), here.executions[-1] if here.executions else None
    status = _status(run, plan, here, tasks)
    runs = latest is not None and plan.work == "run"
    started = latest.started_at if latest is not None else record.started_at if record is not None else None
    return Node(
        id=plan.id,
        kind=plan.ir.type,
        label=plan.ir.name or plan.id,
        status=status,
        attempts=_attempts(latest, record.attempt if record is not None and record.executions else 0, tasks),
        started_at=started or None,
        ended_at=record.completed_at if record is not None and record.executions and latest is None else None,
        input=_shown(latest.payload if latest is not None else record.payload if record is not None else None),
        output=_shown(record.output if record is not None and record.executions else None),
        error=latest.error if latest is not None else None,
        skip_reason=_skip_reason(run, plan) if status == "skipped" else None,
        detail=_detail(run, plan, here),
        child=caller_id(child_id(info.run_id, latest)) if latest is not None and runs else None,
        token=latest.task if latest is not None else _asked(here),
    )


def _asked(here: Here) -> TaskToken | None:
    """The approval that a human node waits for: its token is consumed, so no execution has it."""
    return TaskToken(here.approvals[-1].id) if here.approvals else None


def _status(run: GraphRun, plan: NodePlan, here: Here, tasks: Mapping[TaskToken, TaskFacts]) -> NodeStatus:
    live = [execution for execution in here.executions if not execution.dead]
    if run.state.status != "running" and (live or here.parked or here.approvals):
        return "cancelled"
    if live:
        return _at_work(live, tasks)
    if any(execution.dead for execution in here.executions):
        return "failed"
    if here.approvals or here.parked:
        return "waiting"
    record = run.state.context.get(plan.id)
    if record is not None and record.executions:
        return "completed"
    return "pending" if run.state.status == "running" and _may_run(run, plan.id) else "skipped"


def _at_work(live: Sequence[Execution], tasks: Mapping[TaskToken, TaskFacts]) -> NodeStatus:
    facts = [tasks.get(execution.task) for execution in live]
    if any(execution.waiting or execution.accepted for execution in live):
        return "waiting"
    return "retrying" if all(fact is not None and fact.retry_at is not None for fact in facts) else "running"


def _may_run(run: GraphRun, node: str) -> bool:
    live = {token.node for token in run.state.tokens.values()} | {each.node for each in run.state.approvals.values()}
    return node in run.plan.reachable_from(live)


def _skip_reason(run: GraphRun, plan: NodePlan) -> str:
    """Names the branch that chose otherwise, or the dependency that was not reached either."""
    for source in plan.ir.dependencies:
        choice = run.state.choices.get(source)
        if choice is not None and plan.id not in choice.targets:
            chosen = ", ".join(f"`{target}`" for target in choice.targets) or "nothing"
            return f"branch of `{source}` chose {chosen}"
    if run.state.status != "running" and run.state.error is not None:
        return "run ended"
    before = ", ".join(f"`{source}`" for source in plan.ir.dependencies)
    return f"not reached: nothing came from {before}" if before else "not reached"


def _attempts(latest: Execution | None, before: int, tasks: Mapping[TaskToken, TaskFacts]) -> int:
    if latest is None:
        return before
    facts = tasks.get(latest.task)
    return facts.attempt if facts is not None else max(latest.attempts, latest.child)


def _detail(run: GraphRun, plan: NodePlan, here: Here) -> str:
    record = run.state.context.get(plan.id)
    parts: list[str] = []
    if record is not None and record.executions > 1:
        parts.append(f"{record.executions} executions")
    if here.parked:
        has = ", ".join(dict.fromkeys(token.origin for token in here.parked))
        parts.append(f"parked: has {has}")
    if plan.ir.loop is not None and record is not None and record.executions:
        parts.append(f"iteration {record.iteration} of {plan.ir.loop.max_iterations}")
    return ", ".join(parts)


def _shown(raw: Raw | None) -> Any:
    return values.decode(raw) if raw else None


def _edges(run: GraphRun) -> Iterator[Edge]:
    taken = {(step.origin, step.node) for step in run.state.path}
    taken |= {(token.origin, token.node) for token in run.state.tokens.values()}
    for node in run.plan.ir.nodes.values():
        for target in node.dependents:
            yield Edge(node.id, target, chosen=(node.id, target) in taken)
        if node.loop is not None:
            yield Edge(node.id, node.loop.loop_back_to, "loop", chosen=(node.id, node.loop.loop_back_to) in taken)
