"""What the agents of a run have spent, as its log tells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plait.kernel import values
from plait.kernel.events import Recorded

from .budgets import Spent
from .conversation import Conversation
from .entries import is_begun


def spent_in(events: Iterable[Recorded], execution: str | None = None) -> Spent:
    """All attempts, also those that failed; of one execution, or of the whole run."""
    talks: dict[tuple[str, int], Conversation] = {}
    for event in events:
        if event.type != "task.journaled":
            continue
        place = event.data["token"], event.data["attempt"]
        entry: Any = event.data.get("entry")
        if not event.data["index"]:
            talks.pop(place, None)
            if is_begun(entry):
                talks[place] = Conversation()
        if (talk := talks.get(place)) is not None:
            talk.take(values.encode(entry))
    found = Spent()
    for talk in talks.values():
        if talk.begun is not None and execution in (None, talk.begun.execution):
            found.add(talk.usage.input + talk.usage.output, talk.cost_usd)
    return found
