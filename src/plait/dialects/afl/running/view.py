"""A run as people see it: its steps with their outcomes, what contains them and what they wait for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from plait.dialects.afl.program.parts import Block, Statement
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.machine import RunInfo, TaskFacts
from plait.kernel.view import Edge, Node, NodeStatus

from .afl_run import AflRun
from .nodes import StepNode, label_of, shown_path
from .states import COMPLETE, ERROR, EVENT_TRANSMIT
from .work import child_run_id, script_token

_ENDED: Final = ("cancelled", "deadline")
_SHOWN: Final = 5_000
"""Steps shown; failed and live ones come first."""

Facts = Mapping[TaskToken, TaskFacts]


def nodes(run: AflRun, info: RunInfo, tasks: Facts) -> tuple[list[Node], list[Edge]]:
    shown = shown_steps(run)
    found = [_node(run, info, each, tasks) for each in shown]
    for each in shown:
        found += _absent(run, each)
    known = {each.id for each in found}
    return found, [edge for edge in _edges(shown) if edge.source in known]


def shown_steps(run: AflRun) -> list[StepNode]:
    every = list(run.nodes.values())
    if len(every) <= _SHOWN:
        return every
    chosen = {each.id for each in sorted(every, key=lambda node: (node.complete, node.ordinal))[:_SHOWN]}
    for id in list(chosen):  # include everything around them
        at: StepNode | None = run.nodes[id]
        while at is not None:
            chosen.add(at.id)
            at = at.block or at.container
    return [each for each in every if each.id in chosen]


def _node(run: AflRun, info: RunInfo, node: StepNode, tasks: Facts) -> Node:
    record, token = node.record, token_of(run, node)
    facts = None if token is None else tasks.get(token)
    event = run.event_of(node)
    return Node(
        id=node.id,
        kind=record.object_type,
        label=label_of(node),
        status=_status(run, node, facts),
        parent=record.block_id or record.container_id or None,
        path=shown_path(node),
        attempts=facts.attempt if facts is not None else 0 if event is None else event.attempt,
        started_at=record.created_at,
        ended_at=record.ended_at,
        input=dict(record.params) or None,
        output=dict(record.returns) or None,
        error=record.error,
        detail=record.facet_name,
        child=_child(run, info, node),
        token=token,
    )


def token_of(run: AflRun, node: StepNode) -> TaskToken | None:
    if node.asked and node.record.state != EVENT_TRANSMIT:
        return script_token(node)
    event = run.event_of(node)
    return None if event is None else TaskToken(event.event_id)


def _child(run: AflRun, info: RunInfo, node: StepNode) -> str | None:
    event = run.event_of(node)
    binding = None if event is None else run.state.start.bindings.get(event.event_type)
    if event is None or binding is None or binding.kind != "child":
        return None
    return caller_id(child_run_id(info.run_id, event.event_id))


def _status(run: AflRun, node: StepNode, facts: TaskFacts | None) -> NodeStatus:
    if node.record.state == COMPLETE:
        return "completed"
    if node.record.state == ERROR:
        why = node.record.error
        return "cancelled" if why is not None and why.code in _ENDED else "failed"
    if run.state.status != "running":
        return "cancelled"
    if facts is not None and facts.retry_at is not None:
        return "retrying"
    return "waiting" if node.waits else "running"


def _absent(run: AflRun, node: StepNode) -> Iterator[Node]:
    """Steps that a block has not created yet, and cases that were not taken."""
    plan = node.plan
    if plan is None:
        return
    over = run.state.status != "running" or node.terminal
    if plan.kind == "steps":
        for statement in plan.steps:
            if statement.id not in node.members:
                yield Node(
                    id=absent_id(run, node, statement),
                    kind="VariableAssignment",
                    label=statement.name,
                    status="skipped" if over else "pending",
                    parent=node.id,
                    skip_reason="its block ended" if over else None,
                    detail=statement.call.target,
                )
    for judged in node.record.cases:
        if not judged.chosen:
            yield Node(
                id=f"{node.id}:case-{judged.index}",
                kind="AndThen",
                label=f"case {judged.index + 1}",
                status="skipped",
                parent=node.id,
                skip_reason=judged.error or _condition(plan, judged.index),
            )


def absent_id(run: AflRun, block: StepNode, statement: Statement) -> str:
    """The id that a step will get once its block creates it."""
    return run.id_of(block.record.container_id, block.id, statement.id)


def _condition(plan: Block, index: int) -> str:
    case = plan.cases[index]
    if case.condition is None:
        return "another case was true"
    return f"its condition ({case.text}) was false" if case.text else "its condition was false"


def _edges(shown: list[StepNode]) -> Iterator[Edge]:
    for node in shown:
        around = node.record.block_id or node.record.container_id
        if around:
            yield Edge(around, node.id, "contains")
        for id in node.record.dependencies:
            yield Edge(id, node.id, "depends")
