"""The scenario of one seed: a workflow, the luck of its steps, how its runs end, and how bad the weather is."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Literal, get_args

from plait.testing.clock import START
from plait.testing.sim.scenario import Weather, weather

from .drawing import BROKEN, GATE, Drawing, Luck

Ending = Literal[
    "completes",
    "returns early",
    "bails out",
    "is cancelled",
    "is cancelled and undone",
    "is cancelled and retried",
    "passes its deadline",
    "fails and is undone",
    "fails and is retried",
    "fails, is undone and retried",
    "fails and its dead letter is retried",
    "completes and is forked",
    "is patched",
    "gets a result in advance",
]
_UNUSUAL: tuple[Ending, ...] = get_args(Ending)[1:]
_GATED = ("is cancelled", "passes its deadline", "is patched", "gets a result in advance")
PATIENCE = 7200.0
"""Seconds after which a run has surely done all that it can do by itself."""
FORK = "-fork"
INPUT: dict[str, Any] = {"route": "a", "items": ["x", "y", "z"], "none": []}


@dataclass(frozen=True, slots=True)
class RefsRoot:
    id: str
    definition: dict[str, Any]
    lucks: dict[str, Luck]
    ending: Ending


@dataclass(frozen=True, slots=True)
class RefsScenario:
    seed: int
    roots: tuple[RefsRoot, ...]
    engines: int
    code_cache: int
    blob_threshold: int
    snapshot_every: int
    weather: Weather

    def __str__(self) -> str:
        head = f"seed {self.seed} of refs: {self.engines} engines, code_cache={self.code_cache}, "
        head += f"blobs over {self.blob_threshold} bytes, snapshots every {self.snapshot_every} events, {self.weather}"
        return "\n".join([head, *map(_shown, self.roots)])


def draw_refs(seed: int) -> RefsScenario:
    random = Random(f"refs {seed}")
    engines = random.choice((1, 1, 2))
    return RefsScenario(
        seed,
        tuple(_root(random, number) for number in range(random.choice((1, 1, 2)))),
        engines,
        code_cache=random.choice((0, 1, 1000)),
        blob_threshold=random.choice((64, 32 * 1024)),
        snapshot_every=random.choice((3, 20, 1000)),
        weather=weather(random, engines),
    )


def _root(random: Random, number: int) -> RefsRoot:
    ending: Ending = "completes" if random.random() < 0.4 else random.choice(_UNUSUAL)
    drawing = Drawing(random, undo=ending != "fails and is retried")
    if ending.startswith("fails"):
        drawing.close(BROKEN)
    elif ending.startswith(_GATED):
        drawing.close(GATE)
    else:
        drawing.close(ends={"returns early": "return", "bails out": "bail"}.get(ending, ""))
    definition: dict[str, Any] = {"steps": drawing.steps}
    if random.random() < 0.2:
        definition["start_at_epoch_ms"] = round(START.timestamp() * 1000) + 60_000
    return RefsRoot(f"refs{number}", definition, drawing.lucks, ending)


def _shown(root: RefsRoot) -> str:
    steps = [f"  {step} {root.lucks.get(step['name'], '')}" for step in root.definition["steps"]]
    later = " later" if "start_at_epoch_ms" in root.definition else ""
    return "\n".join([f"run {root.id}{later} {root.ending}:", *steps])
