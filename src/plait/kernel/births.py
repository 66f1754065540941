"""Callers that wait until the run they asked for is on disk."""

from __future__ import annotations

import asyncio

from .errors import PlaitError
from .ids import RunId
from .store import Verdict


class Births:
    def __init__(self) -> None:
        self._waiting: dict[RunId, asyncio.Future[Verdict]] = {}

    def expect(self, run_id: RunId) -> asyncio.Future[Verdict]:
        found = self._waiting[run_id] = asyncio.get_running_loop().create_future()
        return found

    def get(self, run_id: RunId) -> asyncio.Future[Verdict] | None:
        return self._waiting.get(run_id)

    def came(self, run_id: RunId, verdict: Verdict) -> bool:
        """False if nobody asked for it."""
        found = self._waiting.pop(run_id, None)
        if found is not None and not found.done():
            found.set_result(verdict)
        return found is not None

    def failed(self, run_id: RunId, error: PlaitError) -> bool:
        """False if nobody asked for it."""
        found = self._waiting.pop(run_id, None)
        if found is not None and not found.done():
            found.set_exception(error)
        return found is not None

    def abandon(self, error: PlaitError) -> None:
        for run_id in list(self._waiting):
            self.failed(run_id, error)
