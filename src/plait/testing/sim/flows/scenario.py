"""The scenario of one seed: a catalog, the luck of its steps, the goals of runs, and how bad the weather is."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, get_args

from plait.dialects.goals.steps.builder import StepBuilder
from plait.testing.sim.scenario import Weather, weather

from .catalog import AFTER_PATCH, BROKEN, NEVER, ROUTE, FlowCatalog, Luck

Ending = Literal[
    "ends",
    "is cancelled",
    "is cancelled and undone",
    "passes its deadline",
    "fails and is retried",
    "ends and is forked",
    "ends and its dead letters are retried",
    "is patched",
]
_UNUSUAL: tuple[Ending, ...] = get_args(Ending)[1:]

PATIENCE = 3600.0
"""Seconds after which a run has surely done all that it can do by itself."""
ITEMS = [1, 2, 3, 4]
FORK = "-fork"
"""The suffix of a fork's id."""


@dataclass(frozen=True, slots=True)
class FlowRoot:
    id: str
    goals: tuple[str, ...]
    ending: Ending
    pause: float = PATIENCE
    """Seconds before it is resumed."""


@dataclass(frozen=True, slots=True)
class FlowScenario:
    seed: int
    steps: tuple[StepBuilder, ...]
    lucks: dict[str, Luck]
    roots: tuple[FlowRoot, ...]
    engines: int
    code_cache: int
    blob_threshold: int
    snapshot_every: int
    weather: Weather
    init: dict[str, Any] = field(default_factory=lambda: {"items": ITEMS, "n0": "N0", ROUTE: "a"})

    def __str__(self) -> str:
        head = f"seed {self.seed} of goals: {self.engines} engines, code_cache={self.code_cache}, "
        head += f"blobs over {self.blob_threshold} bytes, snapshots every {self.snapshot_every} events, {self.weather}"
        steps = [f"  {each.build().id} {_shown(each)} {self.lucks.get(each.build().id, '')}" for each in self.steps]
        return "\n".join(
            [head, *steps, *(f"run {root.id} {root.ending}: {', '.join(root.goals)}" for root in self.roots)]
        )


def draw_flows(seed: int) -> FlowScenario:
    random = Random(f"flows {seed}")
    engines = random.choice((1, 1, 2))
    catalog = FlowCatalog(random)
    roots = tuple(_root(random, catalog, number) for number in range(random.choice((1, 1, 2))))
    return FlowScenario(
        seed,
        tuple(catalog.steps),
        catalog.lucks,
        roots,
        engines,
        code_cache=random.choice((0, 1, 1000)),
        blob_threshold=random.choice((64, 32 * 1024)),
        snapshot_every=random.choice((3, 20, 1000)),
        weather=weather(random, engines),
    )


def _root(random: Random, catalog: FlowCatalog, number: int) -> FlowRoot:
    ending: Ending = "ends" if random.random() < 0.5 else random.choice(_UNUSUAL)
    wanted = random.sample(catalog.goals, k=random.randint(1, len(catalog.goals)))
    match ending:
        case "ends" | "ends and is forked" | "ends and its dead letters are retried":
            pass
        case "fails and is retried":
            wanted = [*wanted, BROKEN]
        case "is patched":
            wanted = [*wanted, AFTER_PATCH]
        case "is cancelled" | "is cancelled and undone" | "passes its deadline":
            wanted = [*wanted, NEVER]
    return FlowRoot(f"flow{number}", tuple(wanted), ending, pause=random.choice((0.0, 5.0, PATIENCE)))


def _shown(building: StepBuilder) -> str:
    made = building.build()
    takes = [f"{name}{'' if each.role == 'required' else '?'}" for name, each in made.inputs() if each.role != "const"]
    return f"({made.type}) {', '.join(takes)} -> {', '.join(name for name, _ in made.outputs())}"
