"""Who may begin: the one place that knows what the limits of a queue mean, for runs and for tasks.

A store gathers what is under way and what began lately, and asks a `Gate` about those that wait, in their order. The
gate only counts: it reads no clock and no database, so the same counts give the same answer in every process. What is
counted are rows (runs that run, claims that hold, starts of the last period), never a counter that a crash could leave
wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from .ids import Millis

EVERY_QUEUE = "*"
"""In place of a queue's name: limits of all queues of a namespace together."""
SECOND = Millis(1_000)


class QueueSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The limits of a queue; runs and tasks are counted apart, or a run could wait for a slot that it holds."""

    concurrency: int | None = None
    """How many at once, over all processes."""
    per_worker: int | None = None
    """How many one process has at once: of tasks, a worker; of runs, the engine that owns them."""
    rate: int | None = None
    """How many may begin in any `period`."""
    period: Millis = SECOND
    partitioned: bool = False
    """Each key has these limits for itself; without a key nothing can be queued."""
    max_waiting: int | None = None
    """More than these are refused; of each key, if partitioned."""
    paused: bool = False
    """Nothing begins. What has begun goes on."""


NO_LIMITS = QueueSettings()


class Starts(msgspec.Struct, frozen=True, gc=False):
    """What began within the last period."""

    count: int
    ago: Millis
    """How long ago the first of them did."""


class Load(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a limit is compared with, by partition; of a queue without partitions, all are under one key or several."""

    running: Mapping[str, int] = {}
    starts: Mapping[str, Starts] = {}
    by_worker: Mapping[str, int] = {}
    """Of `running`, by the process that has them, where that counts."""


class Limit(msgspec.Struct, frozen=True, gc=False):
    settings: QueueSettings
    load: Load
    name: str = ""


class Gate:
    """Answers for each that waits, in turn, whether it may begin; one that may counts from then on."""

    def __init__(self, limits: Sequence[Limit], worker: str | None = None) -> None:
        self._counts = [_Count(limit) for limit in limits]
        self._worker = worker
        """Who would get all that begins; None: those that wait say who would."""

    @property
    def is_closed(self) -> bool:
        """Nobody may begin, whatever the key."""
        worker = self._worker
        return any(count.is_closed or (worker is not None and count.of_worker(worker)) for count in self._counts)

    @property
    def full(self) -> list[str]:
        """The keys that may not begin anything: nobody need be looked at who waits with one of them."""
        return sorted({key for count in self._counts for key in count.full})

    @property
    def full_workers(self) -> list[str]:
        """The processes that may not begin anything."""
        return sorted({worker for count in self._counts for worker in count.full_workers})

    @property
    def counts_workers(self) -> bool:
        return any(count.counts_workers for count in self._counts)

    def admits(self, partition: str, worker: str = "") -> bool:
        """Whether one with this key may begin, in that process; it is counted if so."""
        worker = worker if self._worker is None else self._worker
        if any(count.refusal(partition, worker) for count in self._counts):
            return False
        for count in self._counts:
            count.add(partition, worker)
        return True

    def choose(self, waiting: Iterable[tuple[int, str]]) -> list[int]:
        """Of those that wait, as id and key in their order, the ids that may begin."""
        return [id for id, partition in waiting if self.admits(partition)]

    @property
    def wait(self) -> Millis | None:
        """After how long a limit of rate lets the next one begin; None if none is in the way."""
        return min((wait for count in self._counts if (wait := count.wait) is not None), default=None)

    def why(self, partition: str, worker: str = "") -> str:
        """What keeps one with this key from beginning, in a few words; empty if nothing does."""
        worker = worker if self._worker is None else self._worker
        return next((why for count in self._counts if (why := count.refusal(partition, worker))), "")


class _Count:
    """One limit, and how much of it is used."""

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
    """As people say it: `1 s`, `1.5 s`, `2 min`, `1 h`."""
    for name, size in (("h", 3_600_000), ("min", 60_000)):
        if millis >= size and not millis % size:
            return f"{millis // size} {name}"
    return f"{millis / 1000:g} s"
