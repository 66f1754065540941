"""One iteration, from its input to its end: section 3.3 of the spec."""

from __future__ import annotations

from collections import deque

from plait.kernel.effects import Finish
from plait.kernel.errors import ErrorInfo
from plait.kernel.values import encode

from .ending import end_live
from .events import IterationEnded
from .failures import STALLED, LimitReached, error
from .iteration import Iteration
from .limits import MAX_ITERATIONS
from .nodes import StepNode, shown_path
from .states import COMPLETE
from .steps import drive


def iterate(it: Iteration) -> None:
    """Drives all steps that something has happened to, and decides what follows."""
    run, state = it.run, it.run.state
    try:
        _drive_all(it)
    except LimitReached as breach:
        fail_run(it, breach.info)
        return
    root = run.root
    if root is not None and root.terminal and not it.moved:  # a fork that includes the last iteration
        _finish(it, root)
        return
    if root is None or not (it.moved or (state.again and run.waiting == 0)):
        return
    again = not root.terminal and bool(run.attention)
    paused = not again and not root.terminal and run.waiting > 0
    if state.iteration >= MAX_ITERATIONS:
        limit = LimitReached("iterations", state.iteration + 1, MAX_ITERATIONS, "iterations per run")
        fail_run(it, limit.info)
    elif root.terminal or again or paused:
        close(it, again=again, paused=paused)
        if root.terminal:
            _finish(it, root)
    else:
        stuck = ", ".join(f"`{shown_path(each)}`" for each in run.nodes.values() if not each.terminal)
        fail_run(it, error(STALLED, f"no step can go on: {stuck[:500]}"))


def close(it: Iteration, *, again: bool = False, paused: bool = False) -> None:
    """Turns the changes of steps into events, and ends the iteration."""
    state = it.run.state
    moved = it.flush()
    state.iteration += 1
    state.again, state.paused = again, paused
    state.pauses += paused
    it.decision.more = again
    it.record(IterationEnded(state.iteration, it.created, moved, it.published, again, paused))
    state.iterations_at.append(state.seq)


def _drive_all(it: Iteration) -> None:
    run = it.run
    queue: deque[StepNode] = deque(sorted(run.attention.values(), key=lambda node: node.ordinal))
    run.attention = {}
    queue.extend(it.born)
    it.born = []
    while queue:
        drive(it, queue.popleft())
        if it.born:
            queue.extend(it.born)
            it.born = []
    run.deliver()


def _finish(it: Iteration, root: StepNode) -> None:
    if root.record.state == COMPLETE:
        it.effect(Finish("completed", encode(root.record.returns, max_bytes=it.context.limits.max_payload)))
    else:
        it.effect(Finish("failed", error=root.record.error))
    it.over = True


def fail_run(it: Iteration, why: ErrorInfo) -> None:
    """Fails the run as a whole: live steps end, open events are withdrawn."""
    end_live(it, why)
    close(it)
    it.effect(Finish("failed", error=why))
    it.over = True
