"""Where the inputs of a run wait in the store: the inbox and the timers. Both remember what is under way here."""

from __future__ import annotations

from typing import Protocol

from .ids import RunId
from .inputs import AnyInput


class Recipient(Protocol):
    """Where a source brings what it finds."""

    def deliver(self, run_id: RunId, input: AnyInput, key: str | None) -> None: ...


class Source(Protocol):
    def forget(self, run_id: RunId) -> None:
        """What was taken for that run is not under way any more: the next look brings it again."""
        ...

    def look_soon(self) -> None: ...


class Sources:
    """All of them as one. They are added once they are made, because they deliver to parts that know this."""

    def __init__(self) -> None:
        self._sources: list[Source] = []

    def add(self, source: Source) -> None:
        self._sources.append(source)

    def forget(self, run_id: RunId) -> None:
        for source in self._sources:
            source.forget(run_id)

    def redeliver(self, run_id: RunId) -> None:
        """Whatever waits for a run, from the first on."""
        self.forget(run_id)
        for source in self._sources:
            source.look_soon()
