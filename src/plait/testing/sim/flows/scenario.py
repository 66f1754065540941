"""What one seed stands for: a catalog in layers, the luck of its steps, the goals, and how bad the weather is.

Catalogs are made so that their outcome does not depend on how long things take: all values of a name are the same, so
nobody can tell who won a race; nothing that a step gives depends on an input that it does not wait for; and what fails
does so by the number of the attempt. So a disturbed run must end as a calm one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, get_args

from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from plait.testing.sim.scenario import Weather, weather

Ending = Literal["ends", "is cancelled", "is cancelled and undone", "passes its deadline", "fails and is retried"]
_UNUSUAL: tuple[Ending, ...] = get_args(Ending)[1:]

NEVER, BROKEN, CHILD = "never-answers", "broken", "child-1"
PATIENCE = 7200.0
"""Seconds after which a run has surely done all that it can do by itself."""
SERVER = "http://steps.test"
ITEMS = [1, 2, 3, 4]


@dataclass(frozen=True, slots=True)
class Luck:
    """How the work of a step turns out."""

    ends: Literal["well", "late", "badly"] = "well"
    """late: its first attempts fail."""
    takes: float = 0.0


@dataclass(frozen=True, slots=True)
class FlowRoot:
    id: str
    goals: tuple[str, ...]
    ending: Ending


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
    init: dict[str, Any] = field(default_factory=lambda: {"items": ITEMS, "n0": "N0"})

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
    catalog = _Catalog(random)
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


def _root(random: Random, catalog: _Catalog, number: int) -> FlowRoot:
    ending: Ending = "ends" if random.random() < 0.5 else random.choice(_UNUSUAL)
    wanted = random.sample(catalog.goals, k=random.randint(1, len(catalog.goals)))
    match ending:
        case "ends":
            pass
        case "fails and is retried":
            wanted = [*wanted, BROKEN]
        case _:
            wanted = [*wanted, NEVER]
    return FlowRoot(f"flow{number}", tuple(wanted), ending)


class _Catalog:
    """Draws steps layer by layer: a step takes names of lower layers and gives names of its own."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.steps: list[StepBuilder] = []
        self.lucks: dict[str, Luck] = {}
        self.goals: list[str] = []
        self._below = ["n0"]
        self._child()
        for layer in range(random.randint(1, 4)):
            self._layer(layer)
        for number in range(random.randint(1, 3)):
            self.goals.append(self._made(f"goal{number}", f"end{number}", fans=True))
        self.steps.append(
            catalog_step(NEVER).output("nothing").webhook(f"{SERVER}/never", recall=random.random() < 0.5)
        )
        self.steps.append(catalog_step(BROKEN).required("n0").output("mended").python("work").no_retries())

    def _layer(self, layer: int) -> None:
        names = [f"n{layer + 1}{letter}" for letter in "ab"[: self._random.randint(1, 2)]]
        made = 0
        for name in names:
            for _ in range(self._random.choice((1, 1, 2, 3))):
                self._made(f"step{layer}-{made}", name, fans=False)
                made += 1
        self._below += names

    def _child(self) -> None:
        """What flow steps ask for."""
        self._made(CHILD, "c1", fans=False)
        self.steps.append(catalog_step("child-2").required("c1").output("c2").ale('{:c2 "C2"}'))

    def _made(self, id: str, name: str, *, fans: bool) -> str:
        building = catalog_step(id) if id == CHILD else self._inputs(catalog_step(id))
        if fans and self._random.random() < 0.5:
            building = building.required("items", for_each=True).parallel(self._random.randint(1, 3))
        building = self._worked(id, name, building)
        if self._random.random() < 0.25:
            building = building.when("ale", self._random.choice(("true", "true", "false")), scope="step")
        self.steps.append(building)
        return id

    def _inputs(self, building: StepBuilder) -> StepBuilder:
        random = self._random
        for name in random.sample(self._below, k=min(len(self._below), random.randint(0, 2))):
            match random.randrange(5):
                case 0:
                    deadline = random.choice((0, 5, -1))
                    building = building.optional(name, default=0, deadline=deadline)
                case 1:
                    building = building.required(name, collect=random.choice(("some", "last", "all")))
                case 2:
                    building = building.required(name, match=("ale", random.choice(("true", "true", "false"))))
                case _:
                    building = building.required(name)
        return building

    def _worked(self, id: str, name: str, building: StepBuilder) -> StepBuilder:
        random = self._random
        kind = random.choice(("python", "python", "python", "script", "async", "flow" if id[0] != "c" else "script"))
        self.lucks[id] = Luck(
            ends=random.choice(("well", "well", "well", "well", "late", "late", "badly")),
            takes=random.choice((0.0, 0.0, 0.0, 1.0, 4.0)),
        )
        first = random.choice((0.5, 3.0))
        match kind:
            case "script":
                return building.output(name).ale(f'{{:{name} "{name.upper()}"}}')
            case "flow":
                return building.output(name, inner="c2").flow("child-2")
            case "async":
                limit = random.choice((0.0, 900.0))
                made = building.output(name).webhook(
                    f"{SERVER}/{id}/{name}", callback_timeout=limit, compensate=_undo(random, f"{SERVER}/undo")
                )
                return made.retries(4, first=first)
            case _:
                made = building.const("gives", name).output(name)
                return made.python("work", compensate=_undo(random, "undo")).retries(4, first=first)


def _undo(random: Random, how: str) -> str:
    return how if random.random() < 0.5 else ""


def _shown(building: StepBuilder) -> str:
    made = building.build()
    takes = [f"{name}{'' if each.role == 'required' else '?'}" for name, each in made.inputs() if each.role != "const"]
    return f"({made.type}) {', '.join(takes)} -> {', '.join(name for name, _ in made.outputs())}"
