"""Why a run does not proceed, in a sentence for each reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.machine import TaskFacts
from plait.kernel.moment import utc
from plait.kernel.view import Reason

from .child_ids import child_id
from .decision_builder import RunContext
from .graph_run import GraphRun
from .state import Execution, OpenApproval


def reasons(run: GraphRun, context: RunContext, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]:
    if run.state.status != "running":
        return []
    found = [_approval(approval) for approval in run.state.approvals.values()]
    for execution in run.state.executions.values():
        found += _execution(run, context, execution, tasks)
    return [*found, *_joins(run)]


def _approval(approval: OpenApproval) -> Reason:
    by = f" by {', '.join(approval.approvers)}" if approval.approvers else ""
    until = f" until {utc(approval.timeout_at)}" if approval.timeout_at is not None else ""
    text = f"approval `{approval.node}`{by}"
    return Reason("approval", f"{text}{until}", approval.node, approval.timeout_at, text)


def _execution(
    run: GraphRun, context: RunContext, execution: Execution, tasks: Mapping[TaskToken, TaskFacts]
) -> Iterator[Reason]:
    node, facts = execution.node, tasks.get(execution.task)
    if execution.dead:
        text = f"dead letter `{execution.task}` at `{node}`: retry or discard"
        yield Reason("dead_letter", text, node, short=f"dead letter at `{node}`")
    elif execution.held:
        text = f"`{node}` is throttled"
        yield Reason("sleep", f"{text} until {utc(execution.due)}", node, execution.due, text)
    elif execution.waiting and execution.approved is False and execution.until is None and not execution.message:
        return  # its approval is a reason of its own
    elif execution.message:
        until = f" until {utc(execution.until)}" if execution.until is not None else ""
        yield Reason("message", f"message `{execution.message}`{until}", node, execution.until)
    elif execution.waiting:
        yield Reason("sleep", f"`{node}` waits until {utc(execution.until)}", node, execution.until, f"`{node}` waits")
    elif execution.accepted:
        until = f" until {utc(execution.until)}" if execution.until is not None else ""
        text = f"callback for `{node}`"
        yield Reason("callback", f"{text}{until}", node, execution.until, text)
    elif facts is not None and facts.retry_at is not None:
        most = f"retry {facts.attempt} of {facts.max_attempts} of `{node}`"
        why = f": {facts.error.message}" if facts.error is not None else ""
        yield Reason("retry", f"{most} at {utc(facts.retry_at)}{why}", node, facts.retry_at, most)
    elif run.plan.nodes[node].work == "run":
        child = caller_id(child_id(context.info.run_id, execution))
        yield Reason("child", f"child run `{child}`", node, short=f"child run of `{node}`")
    else:
        yield Reason("task", f"`{node}` is running", node)


def _joins(run: GraphRun) -> Iterator[Reason]:
    for (node, _), wait in run.joins.items():
        has = ", ".join(f"`{dependency}`" for dependency in wait.arrived)
        lacks = ", ".join(f"`{dependency}`" for dependency in wait.missing)
        yield Reason("join", f"join `{node}` has {has}, waits for {lacks}", node, short=f"join `{node}`")
