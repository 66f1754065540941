"""Wait reasons that involve queues: the run has no slot yet, or its task has no polling worker, is unclaimed, or is
claimed."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from plait.kernel.ids import Millis, caller_id
from plait.kernel.kernel import Kernel
from plait.kernel.queued import HeldTask, QueuedTask
from plait.kernel.run import Run
from plait.kernel.run_queues import MANY, WAITING
from plait.kernel.store import RunFilter, RunRow
from plait.kernel.view import Reason
from plait.kernel.wait_reason import UNDER_WAY

from .seen_workers import RECENTLY

_CHILDREN = 20
"""Most children that a person would read about."""


async def for_a_slot(kernel: Kernel, row: RunRow) -> Reason | None:
    """The reason of a run that has not started; None if it was admitted meanwhile."""
    place = await kernel.store.run_queues.place(row.id)
    if place is None:
        return None
    if place.due is not None:
        return Reason(WAITING, f"delayed on queue `{place.queue}`", until=place.due)
    more = "more than " if place.ahead == MANY else ""
    behind = f"queued behind {more}{place.ahead:,}" if place.ahead else "next"
    return Reason(WAITING, f"{behind} on `{place.queue}`" + (f", {place.why}" if place.why else ""))


async def for_children(kernel: Kernel, row: RunRow, reasons: list[Reason]) -> list[Reason]:
    """Refines a parent's reasons for children that wait on queues; for many children, only the newest."""
    if not any(reason.kind == "child" for reason in reasons):
        return reasons
    waiting = await kernel.store.runs(RunFilter(parent=row.id, status="waiting", limit=_CHILDREN))
    places = {f"`{caller_id(child.id)}`": child for child in waiting if child.queued}
    return [await _of_child(kernel, reason, places) for reason in reasons] if places else reasons


async def _of_child(kernel: Kernel, reason: Reason, places: Mapping[str, RunRow]) -> Reason:
    child = next((child for name, child in places.items() if name in reason.text), None)
    found = None if child is None or reason.kind != "child" else await for_a_slot(kernel, child)
    return reason if found is None else replace(reason, text=f"{reason.text}: {found.text}", until=found.until)


async def on_queues(kernel: Kernel, run: Run, reasons: list[Reason]) -> list[Reason]:
    """Refines the dialect's reasons for queued tasks."""
    if not any(run.state.tasks.is_queued(token) for token in run.state.tasks) and not run.state.tasks.unopened:
        return reasons
    held = await kernel.store.queues.held(run.id)
    if not held:
        return reasons
    seen = await kernel.store.queues.workers(run.info.namespace, RECENTLY)
    served = {each.queue for each in seen} | {each.task.queue for each in held if each.worker is not None}
    nodes = {each.task.node or each.task.token for each in held}
    others = [reason for reason in reasons if reason.node not in nodes or reason.kind not in UNDER_WAY]
    now = kernel.clock.now()
    return [*(_reason(each, served, now) for each in held), *others]


def _reason(held: HeldTask, served: set[str], now: Millis) -> Reason:
    task = held.task
    node = task.node or task.token
    if held.worker is not None:
        return Reason("task", f"{_what(held)} claimed by `{held.worker}`", node)
    if task.queue not in served:
        return Reason("queue", f"no worker on queue `{task.queue}` for {_what(held)}{_unclaimed(task, now)}", node)
    return Reason("queue", f"{_what(held)} on queue `{task.queue}`{_unclaimed(task, now)}", node)


def _unclaimed(task: QueuedTask, now: Millis) -> str:
    """For how long, if that is at least a minute."""
    minutes = (now - task.enqueued_at) // 60_000
    if minutes < 1:
        return ""
    span = f"{minutes} min" if minutes < 120 else f"{minutes // 60} h" if minutes < 2880 else f"{minutes // 1440} days"
    return f" (unclaimed for {span})"


def _what(held: HeldTask) -> str:
    label = held.task.label
    return label if "`" in label else f"`{label}`"
