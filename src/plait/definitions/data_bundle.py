"""The common base of dialects whose definitions are data: saved or given, never loaded as code. Their bundles have
nothing to start or stop for their runs."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from msgspec import Raw

from plait.kernel.definitions import Description
from plait.kernel.errors import ErrorInfo, RunBlocked
from plait.kernel.events import Recorded
from plait.kernel.machine import Machine, RunInfo


class Restorable(Machine, Protocol):
    def restore(self, snapshot: Raw) -> None: ...


M = TypeVar("M", bound=Restorable)


class DataBundle(Generic[M]):
    def describe(self) -> list[Description]:
        """Returns the loaded definitions: none."""
        return []

    def returns(self, definition: str, version: str | None) -> Any:
        return Any

    def failure(self, error: ErrorInfo) -> None:
        return None

    def blocked(self, run_id: str, error: ErrorInfo) -> RunBlocked:
        return RunBlocked(run_id, error)

    def machine(self, info: RunInfo) -> M:
        raise NotImplementedError

    def restore(self, info: RunInfo, snapshot: Raw) -> M:
        machine = self.machine(info)
        machine.restore(snapshot)
        return machine

    def inseparable(self, event: Recorded, following: Recorded) -> bool:
        return False

    async def open(self, *, working: bool) -> None:
        return None

    async def drain(self) -> None:
        return None

    async def close(self) -> None:
        return None
