"""The effects that must be in flight, from state alone: after a load, and in a fork."""

from __future__ import annotations

from collections.abc import Iterator

from plait.kernel.effects import Effect, StartChild
from plait.kernel.ids import RunId

from .afl_run import AflRun
from .nodes import StepNode
from .states import EVENT_TRANSMIT
from .work import event_effect, script_task


def under_way(run: AflRun, run_id: RunId, *, forked: bool) -> list[Effect]:
    """Tasks that were started and have not ended. Children continue by themselves, but a fork needs its own."""
    found = (_effect(run, run_id, node) for node in run.nodes.values() if node.waits)
    return [each for each in found if each is not None and (forked or not isinstance(each, StartChild))]


def _effect(run: AflRun, run_id: RunId, node: StepNode) -> Effect | None:
    if node.plan is not None:
        assert node.container is not None
        script, params = node.plan.script, node.container.record.params
    elif node.record.state == EVENT_TRANSMIT:
        event = run.event_of(node)
        return None if event is None else event_effect(run_id, run.state.start.bindings, node, event)
    else:
        script, params = None if node.declaration is None else node.declaration.script, node.record.params
    return None if script is None else script_task(run_id, node, script, params)


def live(run: AflRun) -> Iterator[StepNode]:
    return (node for node in run.nodes.values() if not node.terminal)
