"""The scenario of one seed: a graph, the luck of its nodes, how its runs end, and how bad the weather is."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Literal, get_args

from plait.testing.sim.scenario import Weather, weather

from .drawing import BROKEN, GATE, NEVER, Drawing, Luck

Ending = Literal[
    "completes",
    "is cancelled",
    "is cancelled and undone",
    "passes its deadline",
    "fails and is undone",
    "fails and its dead letter is retried",
    "holds, and its dead letter is retried",
    "completes and is forked",
    "is patched",
]
_UNUSUAL: tuple[Ending, ...] = get_args(Ending)[1:]
PATIENCE = 7200.0
"""Seconds after which a run has surely done all that it can do by itself."""
FORK = "-fork"


@dataclass(frozen=True, slots=True)
class GraphRoot:
    id: str
    definition: dict[str, Any]
    lucks: dict[str, Luck]
    messages: tuple[str, ...]
    ending: Ending


@dataclass(frozen=True, slots=True)
class GraphScenario:
    seed: int
    roots: tuple[GraphRoot, ...]
    engines: int
    code_cache: int
    blob_threshold: int
    snapshot_every: int
    weather: Weather

    def __str__(self) -> str:
        head = f"seed {self.seed} of graph: {self.engines} engines, code_cache={self.code_cache}, "
        head += f"blobs over {self.blob_threshold} bytes, snapshots every {self.snapshot_every} events, {self.weather}"
        return "\n".join([head, *map(_shown, self.roots)])


def draw_graphs(seed: int) -> GraphScenario:
    random = Random(f"graphs {seed}")
    engines = random.choice((1, 1, 2))
    return GraphScenario(
        seed,
        tuple(_root(random, number) for number in range(random.choice((1, 1, 2)))),
        engines,
        code_cache=random.choice((0, 1, 1000)),
        blob_threshold=random.choice((64, 32 * 1024)),
        snapshot_every=random.choice((3, 20, 1000)),
        weather=weather(random, engines),
    )


def _root(random: Random, number: int) -> GraphRoot:
    ending: Ending = "completes" if random.random() < 0.5 else random.choice(_UNUSUAL)
    drawing = Drawing(random, patient=True)
    on_failure = "fail"
    match ending:
        case "completes" | "completes and is forked":
            drawing.close()
        case "is cancelled" | "is cancelled and undone" | "passes its deadline":
            drawing.close(NEVER)
        case "is patched":
            drawing.close(GATE)
        case "fails and its dead letter is retried":
            drawing.close(BROKEN)
        case "holds, and its dead letter is retried":
            drawing.close(BROKEN)
            on_failure = "hold"
        case "fails and is undone":
            drawing.close(BROKEN)
            on_failure = "compensate"
    definition = {"nodes": drawing.nodes, "edges": drawing.edges, "on_failure": on_failure}
    return GraphRoot(f"graph{number}", definition, drawing.lucks, tuple(drawing.messages), ending)


def _shown(root: GraphRoot) -> str:
    ways = ", ".join(f"{edge['from']} > {edge['to']}" for edge in root.definition["edges"])
    nodes = [f"  {node} {root.lucks.get(node['id'], '')}" for node in root.definition["nodes"]]
    return "\n".join([f"run {root.id} {root.ending}: {ways}", *nodes])
