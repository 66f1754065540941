"""asyncio's own event loop, for simulations: it asks the system for events of sockets only when it has nothing else to
do. A simulation has no sockets, and the question costs as much as a round of the loop does."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _PatientSelector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return [] if timeout == 0 else super().select(timeout)


def run(work: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run` does."""
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_PatientSelector())) as runner:
        return runner.run(work)
