"""Journals of attempts in queue workers: what a worker gets, and what it may send."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from plait.api.claim_id import ClaimId
from plait.api.task import TaskFailure
from plait.kernel import values
from plait.kernel.errors import InvalidInput
from plait.kernel.events import AttemptEvent
from plait.kernel.kernel import Kernel
from plait.kernel.queued import QueuedTask


async def past_of(kernel: Kernel, task: QueuedTask) -> tuple[list[Any], TaskFailure | None]:
    """The attempt's journal so far, and why the previous attempt failed."""
    row = await kernel.store.run(task.run_id)
    if row is None:
        return [], None
    tasks = (await kernel.peek(row)).state.tasks
    journal, error = tasks.journal(task.token), tasks.last_error(task.token)
    entries = [] if journal is None else [values.decode(each) for each in journal.entries]
    return entries, None if error is None else TaskFailure.of(error)


def told_by(events: Sequence[Any], claim: ClaimId) -> tuple[AttemptEvent, ...]:
    """Events sent with an entry, assigned to the claim's attempt: a worker knows it only by the claim's id."""
    found: tuple[AttemptEvent, ...] = read_as(list(events), tuple[AttemptEvent, ...], "events")
    return tuple(msgspec.structs.replace(each, token=claim.token, attempt=claim.attempt) for each in found)


def read_as(given: Any, kind: Any, field: str) -> Any:
    """Converts JSON from a worker to the required type."""
    try:
        return msgspec.json.decode(values.encode(given), type=kind)
    except msgspec.ValidationError as error:
        raise InvalidInput("task.bad_entry", f"`{field}` can't be read", why=str(error)) from None
