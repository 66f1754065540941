"""Telemetry: records of what happens in runs, and the sinks that receive them.

Each sink has a queue and a thread that empties it: one that fails or is slow loses records, which are counted.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from plait.kernel.ids import Millis
from plait.kernel.measured import Counted

log = logging.getLogger("plait.afl")

_WAITING: Final = 10_000
"""The backlog of records that a slow sink may have."""


class Telemetry(msgspec.Struct, frozen=True, omit_defaults=True):
    timestamp: Millis
    eventType: str
    workflowId: str
    stepId: str = ""
    blockId: str = ""
    state: str = ""
    details: dict[str, Any] = {}


Sink = Callable[[Telemetry], object]


class Sinks:
    """The sinks, and the number of records that each has lost."""

    def __init__(self) -> None:
        self._sinks: list[_Queue] = []
        self.counts: dict[str, int] = {}
        """Records by type, for `/metrics`."""

    def add(self, sink: Sink) -> None:
        self._sinks.append(_Queue(sink))

    @property
    def dropped(self) -> int:
        return sum(each.dropped for each in self._sinks)

    @property
    def listening(self) -> bool:
        """Whether any sink wants the records themselves, not only their number."""
        return bool(self._sinks) or log.isEnabledFor(logging.DEBUG)

    def count(self, kind: str, number: int = 1) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + number

    def counters(self) -> Iterator[Counted]:
        yield Counted("plait_afl_telemetry", "Telemetry records of AFL runs.", "type", dict(self.counts))
        yield Counted("plait_afl_telemetry_dropped", "Records that sinks have lost.", "", {"": self.dropped})

    def tell(self, record: Telemetry) -> None:
        self.count(record.eventType)
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s %s %s", record.eventType, record.stepId, record.details)
        for each in self._sinks:
            each.put(record)

    def close(self) -> None:
        for each in self._sinks:
            each.close()


class _Queue:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._records: queue.Queue[Telemetry | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def put(self, record: Telemetry) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="plait-telemetry", daemon=True)
            self._thread.start()
        try:
            self._records.put_nowait(record)
        except queue.Full:
            self.dropped += 1

    def _work(self) -> None:
        while (record := self._records.get()) is not None:
            try:
                self._sink(record)
            except Exception:
                self.dropped += 1

    def close(self) -> None:
        """Flushes the queued records, unless the sink is stuck."""
        if self._thread is not None:
            try:
                self._records.put(None, timeout=1)
            except queue.Full:
                return
            self._thread.join(timeout=5)
