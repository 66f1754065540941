"""Sources of a run's inputs in the store: the inbox and the timers. Both track what is in flight here."""

from __future__ import annotations

from typing import Protocol

from .ids import RunId
from .inputs import AnyInput


class Recipient(Protocol):
    """Where a source delivers its inputs."""

    def deliver(self, run_id: RunId, input: AnyInput, key: str | None) -> None: ...


class Source(Protocol):
    def forget(self, run_id: RunId) -> None:
        """Inputs of that run are no longer in flight: the next read delivers them again."""
        ...

    def look_soon(self) -> None: ...


class Sources:
    """All sources as one. They are added after they are created, because they deliver to parts that know this."""

    def __init__(self) -> None:
        self._sources: list[Source] = []

    def add(self, source: Source) -> None:
        self._sources.append(source)

    def forget(self, run_id: RunId) -> None:
        for source in self._sources:
            source.forget(run_id)

    def redeliver(self, run_id: RunId) -> None:
        """Delivers all inputs of a run again, from the first."""
        self.forget(run_id)
        for source in self._sources:
            source.look_soon()
