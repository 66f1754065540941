"""A run as a page shows it, now or at an earlier event."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from plait.api.picture import Picture
from plait.api.run import Action
from plait.kernel import values
from plait.kernel.bundle import Bundle
from plait.kernel.cause import Cause, cause_of
from plait.kernel.errors import Damaged, InvalidInput
from plait.kernel.events import RunCompleted, RunFailed
from plait.kernel.handover import no_engine
from plait.kernel.ids import SHARDS, Epoch, caller_id
from plait.kernel.kernel import Kernel
from plait.kernel.loader import recorded
from plait.kernel.past import NO_PAST
from plait.kernel.run import Run, letter_id
from plait.kernel.store import RunRow
from plait.kernel.told_reasons import told_reasons
from plait.kernel.view import Node, Pause, Phase, Reason, RunView

from .pauses import pauses
from .queue_reasons import for_a_slot, for_children, on_queues
from .stalled import stalled_reason
from .stopped import stopped
from .undone import undo_nodes


async def picture_of(kernel: Kernel, row: RunRow, at: int | None = None) -> Picture:
    last = (await kernel.store.heads([row.id])).get(row.id, 0)
    if row.erased_at is not None:
        return _erased(row, last)
    if at is not None and not 1 <= at <= last:
        raise InvalidInput("kernel.bad_moment", f"there is no event {at}", fix=f"use 1 to {last}")
    run = await kernel.peek(row) if at is None else await kernel.loader.load(row, Epoch(0), at)
    nodes, edges = run.machine.nodes(run.state.tasks.facts())
    stood: list[Pause] = []
    past = row.past or NO_PAST
    if run.state.rollback is not None or past.shared or past.reopened:
        events = await recorded(kernel.store, row.id, upto=at)
        more, lines = undo_nodes(run, nodes, events)
        nodes, edges = [*nodes, *more], [*edges, *lines]
        stood = pauses(events, past.shared)
    if at is None and row.phase == "waiting":
        nodes = [_parked(node) for node in nodes]
    if run.state.status != "running" and not run.machine.accepts_late_results:  # others show what outlives the run
        nodes = await stopped(kernel, row, nodes)
    begun = await recorded(kernel.store, row.id, limit=1)
    return Picture(
        row=row,
        input=begun[0].data.get("input") if begun else None,
        output=_output(run),
        view=RunView(
            run_id=caller_id(row.id),
            namespace=row.namespace,
            dialect=row.dialect,
            definition=row.definition,
            version=row.version,
            revision=run.state.revision,
            status=row.status if at is None else run.state.status,
            phase=row.phase if at is None else _phase(run),
            cause=_cause(run),
            pauses=stood,
            nodes=nodes,
            edges=edges,
            blocked=row.blocked if at is None else None,
            agents=run.state.agents,
            details=run.machine.details(),
        ),
        waiting=await waiting_of(kernel, row) if at is None else _waited(run),
        seq=last,
        at=at,
        actions=_actions(row, run, kernel.loader.bundle(row.dialect)) if at is None else ["fork"],
    )


def _parked(node: Node) -> Node:
    """Nothing runs in a run that is parked: a step that no worker has claimed waits, and so does what is around it."""
    return replace(node, status="waiting") if node.status == "running" else node


def _erased(row: RunRow, last: int) -> Picture:
    """What is left of a run whose values were erased: that it existed, and how it ended."""
    view = RunView(
        run_id=caller_id(row.id),
        namespace=row.namespace,
        dialect=row.dialect,
        definition=row.definition,
        version=row.version,
        status=row.status,
        phase=row.phase,
        nodes=[],
        edges=[],
        blocked=row.blocked,
    )
    return Picture(row=row, input=None, output=None, view=view, waiting=[], seq=last, at=None, actions=[])


async def waiting_of(kernel: Kernel, row: RunRow) -> list[Reason]:
    if row.status != "running":
        return []
    if row.blocked is not None:
        return [Reason("blocked", f"blocked: {row.blocked.message}")]
    if (missing := await _missing_code(kernel, row)) is not None:
        return [missing]
    if row.queued and (reason := await for_a_slot(kernel, row)) is not None:
        return [reason]
    run = await kernel.peek(row)
    if run.state.rolling_back:
        return [await _undoing(kernel, run)]
    found = await for_children(kernel, row, await on_queues(kernel, run, _reasons(run)))
    if found and (stalled := await stalled_reason(kernel, row, found)) is not None:
        return [stalled, *found]
    return found or [Reason("starting", "not started yet: no engine has taken it up")]


async def _missing_code(kernel: Kernel, row: RunRow) -> Reason | None:
    """The reason of a run that waits in a pool without an engine."""
    fleet = kernel.store.fleet
    if fleet is None or row.shard < SHARDS:
        return None
    found = await fleet.pool_of(row.shard)
    return no_engine(found[0]) if found is not None and not found[1] else None


def _waited(run: Run) -> list[Reason]:
    if run.state.status != "running" or run.state.rolling_back:
        return []
    return _reasons(run)


def _reasons(run: Run) -> list[Reason]:
    return told_reasons(run.machine.waiting(run.state.tasks.facts()), run.state.tasks)


async def _undoing(kernel: Kernel, run: Run) -> Reason:
    stuck = run.state.rollback.stuck if run.state.rollback is not None else None
    if stuck is not None:
        label = str(stuck)
        with suppress(Damaged):
            if (letter := await kernel.store.dead_letter(letter_id(run.id, stuck))) is not None:
                label = letter.label
        return Reason("rollback", f"{label} failed: retry or discard its dead letter", stuck)
    open_tasks = [task for token in run.state.tasks if (task := run.state.tasks.get(token)) is not None]
    return Reason("rollback", f"{open_tasks[0].task.label} running" if open_tasks else "rolling back")


def _phase(run: Run) -> Phase:
    """The phase at an earlier event, when work in flight is unknown."""
    return "running" if run.state.status == "running" else "ended"


def _cause(run: Run) -> Cause | None:
    final = run.state.final
    return cause_of(final.error) if run.state.status == "failed" and isinstance(final, RunFailed) else None


def _output(run: Run) -> Any:
    final = run.state.final
    match final:
        case RunCompleted():
            return values.decode(final.output)
        case RunFailed() | _:
            return None


def _actions(row: RunRow, run: Run, bundle: Bundle) -> list[Action]:
    """Actions that make sense in the run's current state. The owner decides whether they are carried out."""
    found: list[Action]
    if row.queued:
        return ["cancel", "message"]
    if row.status == "running":
        found = ["cancel", "message", "fork", "rewind", *(("resume",) if row.blocked is not None else ())]
    elif row.status == "completed":
        found = ["fork", "rewind", "compensate"]
    else:
        found = ["retry", "fork", "rewind", "compensate"]
    if not bundle.rewinds:
        found.remove("rewind")
    rollback = run.state.rollback
    if rollback is not None and (rollback.done or rollback.failed) and not bundle.retries_compensated:
        found = [action for action in found if action not in ("retry", "rewind")]
    if bundle.edits_agents and run.state.agents is not None:
        found.append("edit_agents")
    if bundle.edits_outputs:
        found.append("edit_outputs")
    return found
