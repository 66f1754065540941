"""Rollback in a run's picture: a node for each compensator, beside the step that it compensates."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from plait.kernel.child_compensation import KIND, compensations
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis, caller_id
from plait.kernel.rollback import Rollback
from plait.kernel.run import Run
from plait.kernel.task import Task
from plait.kernel.view import Edge, Node, NodeStatus

_STATUS: dict[str, NodeStatus] = {"completed": "completed", "failed": "failed", "discarded": "skipped"}


def undo_nodes(run: Run, done: Iterable[Node], events: Iterable[Recorded]) -> tuple[list[Node], list[Edge]]:
    """Compensator nodes, newest first, as they run; none for a run that was never rolled back."""
    rollback = run.state.rollback
    if rollback is None:
        return [], []
    begun, steps = _steps(events)
    children = {node.child: node.id for node in done if node.child is not None}
    nodes: list[Node] = []
    edges: list[Edge] = []
    for task in reversed(compensations(run)):
        nodes.append(_node(task, steps.get(task.token), begun, run, rollback))
        undoes = children.get(caller_id(task.input)) if task.kind == KIND else task.node or task.token
        if undoes is not None:
            edges.append(Edge(undoes, task.token, "undo"))
        begun = nodes[-1].ended_at
    return nodes, edges


def _steps(events: Iterable[Recorded]) -> tuple[Millis | None, dict[str, Recorded]]:
    """When the rollback started, and the latest outcome of each compensator."""
    begun: Millis | None = None
    steps: dict[str, Recorded] = {}
    for event in events:
        if event.type == "rollback.started":
            begun = event.at
        elif event.type == "rollback.step":
            steps[event.data["at"]] = event
    return begun, steps


def _node(task: Task, step: Recorded | None, begun: Millis | None, run: Run, rollback: Rollback) -> Node:
    under_way = run.state.tasks.get(task.token)
    ended = step is not None and step.data["status"] in _STATUS
    node = Node(
        id=task.token,
        kind="rollback",
        label=task.label,
        status="pending",
        started_at=begun,
        token=task.token,
    )
    if step is not None and ended:
        error = step.data.get("error")
        node.status, node.ended_at = _STATUS[step.data["status"]], step.at
        node.attempts = step.data.get("attempts", 1)
        node.error = None if error is None else msgspec.convert(error, ErrorInfo)
    elif under_way is not None:
        node.status = "running" if under_way.error is None else "retrying"
        node.attempts, node.error = under_way.attempt, under_way.error
    elif run.state.rolling_back and begun is not None and rollback.stuck is None:
        node.status = "running"  # next in line
    else:
        node.started_at = None
    return node
