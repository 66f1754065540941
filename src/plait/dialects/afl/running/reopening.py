"""Retrying what failed: event steps get a new event, and whatever failed because of them waits again."""

from __future__ import annotations

from plait.kernel.errors import Conflict
from plait.kernel.events import RunReopened
from plait.kernel.ids import TaskToken
from plait.kernel.inputs import Resume

from .events import StepReopened
from .evolve import fold, reopen_step
from .failures import UPSTREAM
from .iteration import Iteration
from .nodes import StepNode
from .states import COMPLETE, ERROR, EVENT_TRANSMIT


def retry(it: Iteration, request: Resume) -> None:
    """Retries all event steps that failed."""
    if it.run.state.status == "completed":
        raise _nothing("every step has succeeded")
    leaves = [node for node in it.run.nodes.values() if _failed_event(node)]
    if not leaves:
        raise _nothing("no AFL event has failed: only those can be tried again")
    _reopen(it, leaves)


def settle_letter(it: Iteration, request: Resume) -> None:
    """Applies a person's decision about a dead letter: only its step is retried."""
    if request.verdict != "retry":
        return
    event = it.run.state.events.get(request.token or TaskToken(""))
    node = None if event is None else it.run.nodes.get(event.step_id)
    if node is None or event is None or it.run.event_of(node) is not event or not _failed_event(node):
        raise Conflict(
            "AFL_STEP_COMPLETE",
            "the step of this event does not wait for it any more",
            why="it is complete, was caught, or has a newer event",
            fix="discard the dead letter",
        )
    _reopen(it, [node])


def _failed_event(node: StepNode) -> bool:
    record = node.record
    return record.state == ERROR and record.failed_in == EVENT_TRANSMIT and _counts(node)


def _counts(node: StepNode) -> bool:
    """Whether everything around the step still fails because of it: no catch has handled the failure since."""
    at, around = node, node.block or node.container
    while around is not None:
        if at.block is None:
            entered = at.place + 1 if at.record.object_type == "AndCatch" else 0
            if around.record.caught != entered:
                return False
        at, around = around, around.block or around.container
    return True


def _reopen(it: Iteration, leaves: list[StepNode]) -> None:
    run = it.run
    if run.state.undone:
        raise Conflict(
            "AFL_COMPENSATED",
            "the run was compensated",
            why="what its events did is undone, and complete steps are never done again",
            fix="start a new run, or fork this one",
        )
    if run.state.status != "running":
        it.decision.reopen = "retry"
        it.decision.retried = tuple(TaskToken(event.event_id) for leaf in leaves if (event := run.event_of(leaf)))
        fold(run.state, RunReopened("retry"), it.now)  # the kernel records it before the events of this decision
    chosen: dict[str, StepNode] = {}
    waited = [node for node in run.nodes.values() if _lacked(node)]
    for leaf in (*leaves, *waited):
        at: StepNode | None = leaf
        while at is not None and at.record.state == ERROR and at.id not in chosen:
            chosen[at.id] = at
            at = at.block if at.block is not None else at.container
    if any(node.record.state == COMPLETE for node in chosen.values()):
        raise AssertionError("a complete step is never reopened")
    for node in sorted(chosen.values(), key=lambda each: each.ordinal):
        to = node.record.failed_in
        reopen_step(node.record, to)
        it.record(StepReopened(node.id, to))
    run.rebuild()
    for leaf in leaves:
        leaf = run.nodes[leaf.id]
        leaf.asked = False
        run.waiting -= 1
        run.attend(leaf)


def _lacked(node: StepNode) -> bool:
    """Whether a block failed because a step that it waited for had failed."""
    error = node.record.error
    return node.is_block and error is not None and error.code == UPSTREAM and _counts(node)


def _nothing(why: str) -> Conflict:
    return Conflict(
        "AFL_NOTHING_TO_RETRY", "there is nothing to retry", why=why, fix="start a new run, or fork this one"
    )
