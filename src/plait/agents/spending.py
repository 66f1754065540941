"""What the agents of a run have spent, according to its log. Folded incrementally: a long run is read once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from plait.kernel.events import Recorded

from .budgets import Spent
from .entries import Replied, is_begun

_Place = tuple[str, int]
"""A task's token, and the attempt number."""


@dataclass(slots=True)
class _Attempt:
    execution: str
    spent: Spent = field(default_factory=Spent)


class Spending:
    """Spending of one run: all attempts, including failed ones."""

    def __init__(self) -> None:
        self.seq = 0
        """The last event that was added."""
        self._attempts: dict[_Place, _Attempt] = {}
        self._newest: dict[str, _Place] = {}

    def add(self, events: Iterable[Recorded]) -> None:
        """Skips events that are known already: two readers may have fetched the same."""
        for event in events:
            if event.seq <= self.seq:
                continue
            self.seq = event.seq
            if event.type == "task.journaled":
                self._journaled(event.data)

    def spent(self, execution: str | None = None) -> Spent:
        """Spent by one execution, or by the whole run."""
        found = Spent()
        for each in self._attempts.values():
            if execution in (None, each.execution):
                found.add(each.spent.tokens, each.spent.cost_usd)
        return found

    def _journaled(self, data: dict[str, Any]) -> None:
        token, place = data["token"], (data["token"], data["attempt"])
        entry: Any = data.get("entry")
        if not data["index"]:
            self._attempts.pop(place, None)
            self._newest.pop(token, None)
            if not is_begun(entry):
                return
            self._attempts[place] = _Attempt(entry.get("execution", ""))
        elif token not in self._newest:
            return
        elif (before := self._newest[token]) != place:  # its worker was lost, and the next one took over
            self._attempts[place] = self._attempts.pop(before)
        self._newest[token] = place
        if _is_reply(entry):
            reply = msgspec.convert(entry, Replied)
            self._attempts[place].spent.add(reply.usage.input + reply.usage.output, reply.cost_usd)


def _is_reply(entry: Any) -> bool:
    return isinstance(entry, dict) and cast("dict[str, Any]", entry).get("entry") == "replied"
