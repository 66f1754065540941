"""The works, and what is measured in each.

A measure knows which direction is better, so that ratios and verdicts are computed in one place for all of them. The
first measures of a work are its headline and make the table; a subject may report more, which only the JSON shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Measures = dict[str, float]


@dataclass(frozen=True)
class Measure:
    name: str
    label: str
    better: Literal["more", "less"]
    compared: bool = True
    """False where subjects do different amounts, so that only the figure itself means something."""

    def gain(self, value: float, base: float) -> float | None:
        """How many times better ``value`` is than ``base``; None when either is zero and a ratio says nothing."""
        if value <= 0 or base <= 0:
            return None
        return value / base if self.better == "more" else base / value

    def best(self, values: list[float]) -> float:
        return max(values) if self.better == "more" else min(values)


@dataclass(frozen=True)
class Work:
    name: str
    title: str
    headline: tuple[Measure, ...]
    long: bool = False
    """A quick bench does it once instead of three times."""

    def measure(self, name: str) -> Measure:
        return next(measure for measure in self.headline if measure.name == name)


WORKS: dict[str, Work] = {
    work.name: work
    for work in (
        Work(
            "W1",
            "10 sequential steps a run: many runs at once, and one run alone",
            (Measure("steps_per_s", "steps/s", "more"), Measure("p50_ms", "p50 ms alone", "less")),
        ),
        Work("W2", "one run, 1,000 parallel steps, then join", (Measure("seconds", "seconds", "less"),)),
        Work("W3", "one-step runs, started and finished", (Measure("runs_per_s", "runs/s", "more"),)),
        Work(
            "W4",
            "runs in flight, kill -9, restart: all done",
            (Measure("seconds", "seconds after restart", "less"),),
            long=True,
        ),
        Work(
            "W5",
            "sleeping runs",
            (
                Measure("starts_per_s", "starts/s", "more"),
                Measure("bytes_per_run", "bytes a run", "less"),
                Measure("idle_cpu_percent", "idle % of a core", "less"),
            ),
            long=True,
        ),
        Work(
            "W6",
            "one run with a long history: reopened, and its cost per step as it grows",
            (
                Measure("open_s", "seconds to open", "less", compared=False),
                Measure("open_us_per_step", "open µs a step", "less"),
                Measure("growth", "growth of step cost", "less", compared=False),
            ),
            long=True,
        ),
    )
}
