"""Admission: the one place that knows what the limits of a queue mean, for runs and for tasks.

A store counts what is running and what started recently, and asks a `Gate` about the waiting entries in order. The gate
reads no clock and no database, so the same counts give the same answer in every process. The counts come from rows
(running runs, live claims, starts of the last period), never from a counter that a crash could leave wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from .ids import Millis

EVERY_QUEUE = "*"
"""Stands in place of a queue's name for limits that apply to all queues of a namespace together."""
SECOND = Millis(1_000)


class QueueSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The limits of a queue. Runs and tasks are counted apart; otherwise a run could wait for a slot that it holds
    itself."""

    concurrency: int | None = None
    """Most entries running at once, over all processes."""
    per_worker: int | None = None
    """Most entries running at once in one process: the worker of a task, the engine that owns a run."""
    rate: int | None = None
    """Most starts within one `period`."""
    period: Millis = SECOND
    partitioned: bool = False
    """Limits apply to each partition key by itself; nothing can be queued without a key."""
    max_waiting: int | None = None
    """Longest backlog; further entries are refused. Per key if partitioned."""
    paused: bool = False
    """Nothing starts; what is running continues."""


NO_LIMITS = QueueSettings()


class Starts(msgspec.Struct, frozen=True, gc=False):
    """Starts within the last period."""

    count: int
    ago: Millis
    """Milliseconds since the first of them."""


class Load(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The counts that limits are compared with, by partition; a queue without partitions may have one key or
    several."""

    running: Mapping[str, int] = {}
    starts: Mapping[str, Starts] = {}
    by_worker: Mapping[str, int] = {}
    """`running` by process, where a limit per process applies."""


class Limit(msgspec.Struct, frozen=True, gc=False):
    settings: QueueSettings
    load: Load
    name: str = ""


class Gate:
    """Decides, entry by entry, whether a waiting entry may start, and counts each one that it admits."""

    def __init__(self, limits: Sequence[Limit], worker: str | None = None) -> None:
        self._counts = [_Count(limit) for limit in limits]
        self._worker = worker
        """The process that all admitted entries go to; None: each entry names its own."""

    @property
    def is_closed(self) -> bool:
        """Nothing can start, whatever its key."""
        worker = self._worker
        return any(count.is_closed or (worker is not None and count.of_worker(worker)) for count in self._counts)

    @property
    def full(self) -> list[str]:
        """Keys without a free slot: entries with these need not be read."""
        return sorted({key for count in self._counts for key in count.full})

    @property
    def full_workers(self) -> list[str]:
        """Processes without a free slot."""
        return sorted({worker for count in self._counts for worker in count.full_workers})

    @property
    def counts_workers(self) -> bool:
        return any(count.counts_workers for count in self._counts)

    def admits(self, partition: str, worker: str = "") -> bool:
        """Whether an entry with this key may start in that process; counts it if so."""
        worker = worker if self._worker is None else self._worker
        if any(count.refusal(partition, worker) for count in self._counts):
            return False
        for count in self._counts:
            count.add(partition, worker)
        return True

    def choose(self, waiting: Iterable[tuple[int, str]]) -> list[int]:
        """The ids that may start, from waiting (id, key) pairs in their order."""
        return [id for id, partition in waiting if self.admits(partition)]

    @property
    def wait(self) -> Millis | None:
        """Milliseconds until a rate limit allows the next start; None if no rate limit is reached."""
        return min((wait for count in self._counts if (wait := count.wait) is not None), default=None)

    def why(self, partition: str, worker: str = "") -> str:
        """What keeps an entry with this key from starting, in a few words; empty if nothing does."""
        worker = worker if self._worker is None else self._worker
        return next((why for count in self._counts if (why := count.refusal(partition, worker))), "")


class _Count:
    """One limit and its current use."""

    def __init__(self, limit: Limit) -> None:
        self._settings = limit.settings
        self._name = limit.name
        self._by_worker = dict(limit.load.by_worker)
        self._running: dict[str, int] = {}
        self._started: dict[str, int] = {}
        self._ago: dict[str, Millis] = {}
        for partition, running in limit.load.running.items():
            key = self._key(partition)
            self._running[key] = self._running.get(key, 0) + running
        for partition, starts in limit.load.starts.items():
            key = self._key(partition)
            self._started[key] = self._started.get(key, 0) + starts.count
            self._ago[key] = max(self._ago.get(key, Millis(0)), starts.ago)

    @property
    def is_closed(self) -> bool:
        return bool(self._of_all() or (not self._settings.partitioned and self._of_key("")))

    @property
    def full(self) -> list[str]:
        if not self._settings.partitioned:
            return []
        return [key for key in {*self._running, *self._started} if self._of_key(key)]

    @property
    def wait(self) -> Millis | None:
        settings = self._settings
        if settings.rate is None or settings.paused:
            return None
        full = [key for key, count in self._started.items() if count >= settings.rate]
        return min((Millis(max(1, settings.period - self._ago.get(key, 0))) for key in full), default=None)

    @property
    def counts_workers(self) -> bool:
        return self._settings.per_worker is not None

    @property
    def full_workers(self) -> list[str]:
        return [worker for worker in self._by_worker if self.of_worker(worker)]

    def refusal(self, partition: str, worker: str) -> str:
        return self._of_all() or self.of_worker(worker) or self._of_key(self._key(partition))

    def of_worker(self, worker: str) -> str:
        most, taken = self._settings.per_worker, self._by_worker.get(worker, 0)
        return f"{taken} of {most} slots of its process taken" if most is not None and taken >= most else ""

    def add(self, partition: str, worker: str) -> None:
        key = self._key(partition)
        self._running[key] = self._running.get(key, 0) + 1
        self._started[key] = self._started.get(key, 0) + 1
        self._by_worker[worker] = self._by_worker.get(worker, 0) + 1

    def _key(self, partition: str) -> str:
        return partition if self._settings.partitioned else ""

    def _of_all(self) -> str:
        return f"{self._name} is paused" if self._settings.paused else ""

    def _of_key(self, key: str) -> str:
        settings, whose = self._settings, f" for `{key}`" if self._settings.partitioned else ""
        running, started = self._running.get(key, 0), self._started.get(key, 0)
        if settings.concurrency is not None and running >= settings.concurrency:
            return f"{running} of {settings.concurrency} slots taken{whose}"
        if settings.rate is not None and started >= settings.rate:
            return f"{started} of {settings.rate} starts{whose} in {duration(settings.period)}"
        return ""


def duration(millis: Millis) -> str:
    """A duration for people: `1 s`, `1.5 s`, `2 min`, `1 h`."""
    for name, size in (("h", 3_600_000), ("min", 60_000)):
        if millis >= size and not millis % size:
            return f"{millis // size} {name}"
    return f"{millis / 1000:g} s"
