"""Reads the streams of one kind in all namespaces, as far as they can be read.

A stream that is damaged, or that a newer release writes to, stops nobody else: neither other namespaces nor the engine
that opens. It is logged once; who needs that namespace gets the error.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.records import Records
from plait.kernel.streams import namespaces_of

log = logging.getLogger("plait.goals")


class Refresher:
    def __init__(self, records: Records, kind: str, refresh: Callable[[str], Awaitable[object]]) -> None:
        self._records = records
        self._kind = kind
        self._refresh = refresh
        self._told: dict[str, str] = {}
        """What was logged about each namespace that can't be read."""

    async def refresh_all(self) -> None:
        for namespace in await namespaces_of(self._records, self._kind):
            try:
                await self._refresh(namespace)
            except Unavailable:
                raise
            except PlaitError as error:
                self._tell(namespace, str(error))
            else:
                self._told.pop(namespace, None)

    def _tell(self, namespace: str, problem: str) -> None:
        if self._told.get(namespace) != problem:
            self._told[namespace] = problem
            log.error("%s", problem)
