"""Cancel, deadline and limits: one commit ends all live steps, and withdraws open events."""

from __future__ import annotations

from plait.kernel.errors import ErrorInfo

from .events import EventWithdrawn
from .iteration import Iteration
from .results import withdrawal


def end_live(it: Iteration, why: ErrorInfo) -> None:
    """Ends live steps without any catch. Late answers change nothing."""
    run = it.run
    for event in run.state.events.values():
        if event.state == "event.Created":
            event.state, event.ended_at = "event.Withdrawn", it.now
            it.record(EventWithdrawn(event.event_id, event.step_id))
            event.closed = run.state.seq
            for effect in withdrawal(it, event):
                it.effect(effect)
    for node in reversed(list(run.nodes.values())):
        if not node.terminal:
            node.asked = node.answered = False
            it.fail(node, why, catchable=False)
    run.settled, run.attention, run.waiting = [], {}, 0
