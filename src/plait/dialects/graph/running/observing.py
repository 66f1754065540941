"""What observers may know of a run: its counter, and which node's work led to another's."""

from __future__ import annotations

from plait.kernel.ids import TaskToken
from plait.kernel.measured import TaskTrace

from .graph_run import GraphRun

_TASKS = ("call", "http", "agent", "script", "pipeline", "tool")
"""Work that has a span of its own."""


def counted(run: GraphRun) -> tuple[int, int]:
    counter = run.state.counter
    return counter, counter - len(run.state.tokens)


def task_trace(run: GraphRun, token: TaskToken) -> TaskTrace | None:
    """A token's trace continues at the node that consumes it: its span follows from that of the emitting node."""
    execution = run.state.executions.get(token.partition("~")[0])
    if execution is None:
        return None
    parents = [found for each in execution.tokens if (found := _emitter(run, each)) is not None]
    attributes = {"node_id": execution.node, "hop": execution.hop}
    return TaskTrace("node.execute", execution.id, tuple(dict.fromkeys(parents)), attributes)


def _emitter(run: GraphRun, token: str) -> str | None:
    """The first token of the execution that emitted it."""
    found = run.state.tokens.get(token)
    if found is None or not found.origin:
        return None
    emitter = next(
        (step for step in reversed(run.state.path) if step.node == found.origin and step.hop < found.hop), None
    )
    plan = run.plan.nodes.get(found.origin)
    return None if emitter is None or plan is None or plan.work not in _TASKS else emitter.token
