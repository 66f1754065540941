"""Looks for seeds that break a promise, on as many processes as there are cores.

A seed's outcome depends on nothing but the seed, so ranges of seeds can be tried anywhere and in any order; the seeds
left when a search is stopped are a range that the next one begins with.
"""

from __future__ import annotations

import gc
import hashlib
import signal
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, Literal

from .afl.seeds import simulate_afl
from .event_loop import run
from .flows.seeds import simulate_flows
from .graphs.seeds import simulate_graphs
from .refs.seeds import simulate_refs
from .seeds import SeedReport, simulate

Dialect = Literal["code", "goals", "graph", "refs", "afl"]
SIMULATIONS: dict[Dialect, Callable[[int], Coroutine[Any, Any, SeedReport]]] = {
    "code": simulate,
    "goals": simulate_flows,
    "graph": simulate_graphs,
    "refs": simulate_refs,
    "afl": simulate_afl,
}
_AT_ONCE = 20
"""Seeds that a process tries before it reports."""
_OF_A_PROCESS = 100
"""Approximate reports per process: engines that were killed leak some memory, so a new process takes over."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The outcome of one seed."""

    dialect: Dialect
    seed: int
    runs: int
    events: int
    troubles: int
    digest: str
    failure: str | None = None
    shown: str = ""
    """Everything known about a failure."""


@dataclass(slots=True)
class Found:
    """What a search has found so far."""

    tried: list[Tried] = field(default_factory=list[Tried])

    @property
    def broken(self) -> list[Tried]:
        return sorted((each for each in self.tried if each.failure), key=lambda each: (each.dialect, each.seed))

    def tally(self, dialects: Sequence[Dialect]) -> str:
        """How many seeds of each were tried."""
        counts = Counter(each.dialect for each in self.tried)
        return ", ".join(f"{counts[name]} seeds of {name}" for name in dialects)

    def resume_at(self, seeds: range, dialects: Sequence[Dialect]) -> int:
        """The first seed that was not tried in every dialect."""
        tried = {(each.dialect, each.seed) for each in self.tried}
        return next((seed for seed in seeds if any((each, seed) not in tried for each in dialects)), seeds.stop)

    def summary(self, seconds: float) -> dict[str, Any]:
        """For programs. The digest does not depend on how the seeds were spread over processes."""
        ordered = sorted(self.tried, key=lambda each: (each.seed, each.dialect))
        return {
            "seeds": len(ordered),
            "runs": sum(each.runs for each in ordered),
            "events": sum(each.events for each in ordered),
            "troubles": sum(each.troubles for each in ordered),
            "seconds": round(seconds, 1),
            "digest": hashlib.sha256("".join(each.digest for each in ordered).encode()).hexdigest()[:16],
            "failed": {f"{each.dialect} {each.seed}": each.failure for each in self.broken},
        }


def search(seeds: range, dialects: Sequence[Dialect], jobs: int) -> Generator[list[Tried]]:
    """Tries the seeds in every dialect; yields the outcomes as they arrive. Closing it ends the work in flight."""
    parts: list[tuple[Dialect, range]] = [
        (dialect, range(first, min(first + _AT_ONCE, seeds.stop)))
        for first in range(seeds.start, seeds.stop, _AT_ONCE)
        for dialect in dialects
    ]
    if len(parts) == 1:
        yield _try_all(*parts[0])
        return
    at_once = jobs * _OF_A_PROCESS
    for first in range(0, len(parts), at_once):
        yield from _spread(parts[first : first + at_once], jobs)


def _spread(parts: Sequence[tuple[Dialect, range]], jobs: int) -> Iterator[list[Tried]]:
    # Spawned: a fork would inherit the locks and threads of the caller
    processes = min(jobs, len(parts))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_ignore_interrupts) as pool:
        futures: list[Future[list[Tried]]] = [pool.submit(_try_all, *part) for part in parts]
        try:
            yield from (done.result() for done in as_completed(futures))
        finally:
            pool.shutdown(cancel_futures=True)  # not later: leaving the block would start the others again


def _ignore_interrupts() -> None:
    """A terminal interrupts all processes of a command: the parent ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _try_all(dialect: Dialect, seeds: range) -> list[Tried]:
    with _collecting_rarely():
        return [_try_seed(dialect, seed) for seed in seeds]


@contextmanager
def _collecting_rarely() -> Generator[None]:
    """Collects garbage rarely: a seed ends before its garbage matters, and imported modules are none."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100_000, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def _try_seed(dialect: Dialect, seed: int) -> Tried:
    report = run(SIMULATIONS[dialect](seed))
    return Tried(
        dialect,
        seed,
        report.runs,
        report.events,
        len(report.trouble),
        report.digest,
        report.failure,
        str(report) if report.failure else "",
    )
