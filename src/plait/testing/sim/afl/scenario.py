"""The scenario of one seed: programs, the luck of their events, how their runs end, and how bad the weather is."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Literal, get_args

from plait.testing.sim.scenario import Weather, weather

from .drawing import Drawing, Luck

Ending = Literal[
    "completes",
    "is cancelled",
    "is cancelled and undone",
    "passes its deadline",
    "is continued by hand",
    "is helped along",
    "fails",
    "fails and is undone",
    "fails and is retried",
    "fails and its dead letters are retried",
    "completes and is forked",
    "completes and is undone",
]
_UNUSUAL: tuple[Ending, ...] = get_args(Ending)[1:]
_GATED = ("is cancelled", "is cancelled and undone", "passes its deadline", "is continued by hand")
PATIENCE = 7200.0
"""Seconds after which a run has surely done all that it can do by itself."""
FORK = "-fork"
INPUT: dict[str, Any] = {"route": "a", "items": ["x", "y", "z"], "none": []}


@dataclass(frozen=True, slots=True)
class AflRoot:
    id: str
    source: str
    lucks: dict[str, Luck]
    ending: Ending


@dataclass(frozen=True, slots=True)
class AflScenario:
    seed: int
    roots: tuple[AflRoot, ...]
    engines: int
    code_cache: int
    blob_threshold: int
    snapshot_every: int
    weather: Weather

    def __str__(self) -> str:
        head = f"seed {self.seed} of afl: {self.engines} engines, code_cache={self.code_cache}, "
        head += f"blobs over {self.blob_threshold} bytes, snapshots every {self.snapshot_every} events, {self.weather}"
        return "\n".join([head, *map(_shown, self.roots)])


def draw_afl(seed: int) -> AflScenario:
    random = Random(f"afl {seed}")
    engines = random.choice((1, 1, 2))
    return AflScenario(
        seed,
        tuple(_root(random, number) for number in range(random.choice((1, 1, 1, 2)))),
        engines,
        code_cache=random.choice((0, 1, 1000)),
        blob_threshold=random.choice((64, 32 * 1024)),
        snapshot_every=random.choice((3, 20, 1000)),
        weather=weather(random, engines),
    )


def _root(random: Random, number: int) -> AflRoot:
    ending: Ending = "completes" if random.random() < 0.4 else random.choice(_UNUSUAL)
    drawing = Drawing(random)
    if ending.startswith("fails"):
        source = drawing.source("broken")
    else:
        source = drawing.source("gate" if ending in _GATED else "")
    return AflRoot(f"afl{number}", source, drawing.lucks, ending)


def _shown(root: AflRoot) -> str:
    lucks = [f"  {name}: {luck}" for name, luck in root.lucks.items()]
    return "\n".join([f"run {root.id} {root.ending}:", root.source, *lucks])
