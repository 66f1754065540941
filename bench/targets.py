"""The figures to reach, and whether they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bench.results import Results

BEST_PEER = "best peer"


@dataclass(frozen=True)
class Target:
    work: str
    subject: str
    measure: str
    bound: Literal["at least", "at most"]
    figure: float
    of: str | None = None
    """When set, the figure is a factor of what this subject measured in the same run."""


Bound = Literal["at least", "at most"]


@dataclass(frozen=True)
class Limit:
    """A figure to reach that is no ratio, in a bench of its own."""

    bound: Bound
    figure: float

    def met(self, value: float) -> bool:
        return value >= self.figure if self.bound == "at least" else value <= self.figure

    @property
    def text(self) -> str:
        return f"{'≥' if self.bound == 'at least' else '≤'} {self.figure:,g}"

    def verdict(self, value: float) -> str:
        """For a table."""
        return "[green]met[/]" if self.met(value) else "[red]not met[/]"


WRITTEN_GROWTH = Limit("at most", 1.2)
"""Bytes a step writes beside 500,000 ended runs, over those it writes to an empty database."""


FLEET_GAIN = Limit("at least", 1.6)
"""Of two engines over one, of `bench.fleet`: on two cores, which PostgreSQL shares with them."""

PARKED_LIMITS = {
    "start_s": Limit("at most", 5),
    "wake_ms": Limit("at most", 50),
    "memory_mb": Limit("at most", 16),
}
"""Of `bench.parked`, beside a million runs: an engine's start, waking one (p99), and memory more than beside few."""
YEARS_GROWTH = Limit("at most", 1.2)
"""Of what W1 and W3 take beside ten million ended runs, over the same beside a thousand."""

UPKEEP_LIMIT = Limit("at most", 1_000)
"""Milliseconds of what engines and operators ask of a database, and of an engine's start."""

RETENTION_GROWTH = Limit("at most", 1.1)
"""A database that keeps a day of history: the last week of a month over the second."""


@dataclass(frozen=True)
class Verdict:
    target: Target
    value: float | None
    threshold: float | None

    @property
    def met(self) -> bool | None:
        """None when either side was not measured."""
        if self.value is None or self.threshold is None:
            return None
        return self.value >= self.threshold if self.target.bound == "at least" else self.value <= self.threshold

    def to_json(self) -> dict[str, Any]:
        target = self.target
        return {
            "work": target.work,
            "subject": target.subject,
            "measure": target.measure,
            "bound": target.bound,
            "figure": target.figure,
            "of": target.of,
            "value": self.value,
            "threshold": self.threshold,
            "met": self.met,
        }


TARGETS = (
    Target("W1", "plait/sqlite-full", "steps_per_s", "at least", 20_000),
    Target("W1", "plait/sqlite-full", "steps_per_s", "at least", 50, of="dbos/sqlite"),
    Target("W1", "plait/sqlite-full", "steps_per_s", "at least", 8, of="restate"),
    Target("W1", "plait/sqlite-full", "steps_per_s", "at least", 0.25, of="limit/sqlite-full"),
    Target("W1", "plait/sqlite-normal", "p50_ms", "at most", 1.5),
    Target("W1", "plait/sqlite-full", "p50_ms", "at most", 4),
    Target("W1", "plait/sqlite-full", "p50_ms", "at most", 0.25, of=BEST_PEER),
    Target("W1", "plait/postgres", "steps_per_s", "at least", 6_000),
    Target("W2", "plait/sqlite-full", "seconds", "at most", 0.1),
    Target("W3", "plait/sqlite-full", "runs_per_s", "at least", 5_000),
    Target("W3", "plait/sqlite-full", "runs_per_s", "at least", 45, of="dbos/sqlite"),
    Target("W3", "plait/sqlite-full", "runs_per_s", "at least", 10, of="restate"),
    Target("W4", "plait/sqlite-full", "seconds", "at most", 1.5),
    Target("W4", "plait/sqlite-full", "seconds", "at most", 0.1, of="dbos/sqlite"),
    Target("W5", "plait/sqlite-full", "starts_per_s", "at least", 4_000),
    Target("W5", "plait/sqlite-full", "bytes_per_run", "at most", 500),
    Target("W5", "plait/sqlite-full", "idle_cpu_percent", "at most", 1),
    Target("W6", "plait/sqlite-full", "open_s", "at most", 2),
    Target("W6", "plait/sqlite-full", "growth", "at most", 1.5),
)


LIST_LIMITS = {"list": 50.0, "search": 100.0, "live": 90.0}
"""Of `bench.lists`: milliseconds of a list and of a search, and the percentage of W1 that one live list leaves."""


def judge(results: Results) -> list[Verdict]:
    """Verdicts on the targets of the works that were run."""
    return [_verdict(target, results) for target in TARGETS if target.work in results.works()]


def _verdict(target: Target, results: Results) -> Verdict:
    value = results.value(target.work, target.subject, target.measure)
    if target.of is None:
        return Verdict(target, value, target.figure)
    if target.of == BEST_PEER:
        base = results.best_peer(target.work, target.measure)
    else:
        base = results.value(target.work, target.of, target.measure)
    return Verdict(target, value, None if base is None else base * target.figure)
