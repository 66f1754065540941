"""A random catalog, layer by layer: a step takes names of lower layers and gives a name of its own.

Catalogs are made so that their outcome does not depend on timing: all values of a name are the same, so the winner of a
race does not matter; no output of a step depends on an input that it does not wait for; and failures depend only on the
attempt number. So a disturbed run must end like a calm one.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from plait.dialects.goals.steps.attribute import Collect, Language
from plait.dialects.goals.steps.builder import StepBuilder, catalog_step

from .child import SHOUT

NEVER, BROKEN, CHILD = "never-answers", "broken", "child-1"
ASKED, IDLE, AFTER_PATCH = "asked", "idle", "after-patch"
"""A step that answers only when its client lets it; one that a patch skips; the goal behind them."""
SERVER = "http://steps.test"
ROUTE = "route"
"""A name in the input that gates match; its value is `a`."""
_NOWHERE = "nowhere"
"""A name that no step provides."""


@dataclass(frozen=True, slots=True)
class Luck:
    """How the work of a step turns out."""

    ends: Literal["well", "late", "badly"] = "well"
    """late: its first attempts fail."""
    takes: float = 0.0
    undone: Literal["well", "late", "badly"] = "well"
    """How its compensation ends."""


class FlowCatalog:
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
        self._gates()
        self._special()

    def _layer(self, layer: int) -> None:
        names = [f"n{layer + 1}{letter}" for letter in "ab"[: self._random.randint(1, 2)]]
        made = 0
        for name in names:
            for _ in range(self._random.choice((1, 1, 2, 3))):
                self._made(f"step{layer}-{made}", name, fans=False)
                made += 1
        self._below += names

    def _child(self) -> None:
        """The steps that child flows ask for."""
        self._made(CHILD, "c1", fans=False)
        self.steps.append(catalog_step("child-2").required("c1").output("c2").ale('{:c2 "C2"}'))

    def _gates(self) -> None:
        """Goals that are routed: one by the input, one by another step's output."""
        route = self._random.choice(("a", "b"))
        made = catalog_step("routed").required(ROUTE, match=("jpath", f'$ == "{route}"')).output("routed-end")
        if route == "b":  # its gate never opens, so nobody asks for this
            made = made.required(_NOWHERE)
        self.steps.append(made.ale('{:routed-end "R"}'))
        shut = catalog_step("shut").required(self._random.choice(self._below), match=self._truth(holds=False))
        self.steps.append(shut.required(_NOWHERE).output("shut-end").ale('{:shut-end "S"}'))
        self.goals += self._random.sample(["routed", "shut"], k=self._random.choice((0, 0, 1, 2)))

    def _special(self) -> None:
        """Steps needed by some endings of a run."""
        recall = self._random.random() < 0.5
        self.steps += [
            catalog_step(NEVER).output("nothing").webhook(f"{SERVER}/async/never", recall=recall),
            catalog_step(BROKEN).required("n0").output("mended").python("work").no_retries(),
            catalog_step(ASKED).output("p").webhook(f"{SERVER}/async/{ASKED}/p"),
            catalog_step(IDLE).required("p").output("i").ale('{:i "I"}'),
            catalog_step(AFTER_PATCH).required("p").optional("i", deadline=-1).output("patched").ale('{:patched "P"}'),
        ]

    # -- a step --------------------------------------------------------------------------------------------------

    def _made(self, id: str, name: str, *, fans: bool) -> str:
        building = catalog_step(id) if id == CHILD else self._inputs(catalog_step(id))
        if fans and self._random.random() < 0.5:
            building = building.required("items", for_each=True).parallel(self._random.randint(1, 3))
        building = self._worked(id, name, building)
        if self._random.random() < 0.25:
            building = building.when(*self._truth(holds=self._random.random() < 0.7), scope="step")
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
                    ways: tuple[Collect, ...] = ("some", "last", "all", "none")
                    building = building.required(name, collect=random.choice(ways[: 3 if name == "n0" else 4]))
                case 2:
                    building = building.required(name, match=self._truth(holds=random.random() < 0.7))
                case _:
                    building = building.required(name)
        return building

    def _truth(self, *, holds: bool) -> tuple[Language, str]:
        """A script with this result."""
        return self._random.choice(
            (("ale", "true" if holds else "false"), ("lua", f"return {'true' if holds else 'false'}"))
        )

    def _worked(self, id: str, name: str, building: StepBuilder) -> StepBuilder:
        random = self._random
        kinds = ["python", "python", "python", "script", "script", "async", "sync"]
        kind = random.choice(kinds if id == CHILD else [*kinds, "flow", "run"])
        luck = self.lucks[id] = Luck(
            ends=random.choice(("well", "well", "well", "well", "late", "late", "badly")),
            takes=random.choice((0.0, 0.0, 0.0, 1.0, 4.0)),
            undone=random.choice(("well", "well", "late", "badly")),
        )
        match kind:
            case "script":
                return self._script(name, building)
            case "flow":
                return building.output(name, inner="c2").flow("child-2")
            case "run":
                return self._run(name, luck, building)
            case "async" | "sync":
                return self._http(kind, f"{id}/{name}", building.output(name))
            case _:
                made = self._output(name, building.const("gives", name))
                return made.python("work", compensate=self._undo("undo")).retries(4, first=random.choice((0.5, 3.0)))

    def _script(self, name: str, building: StepBuilder) -> StepBuilder:
        if self._random.random() < 0.5:
            return building.output(name).ale(f'{{:{name} "{name.upper()}"}}')
        return self._output(name, building).lua(f'return {{{name} = "{name.upper()}"}}')

    def _output(self, name: str, building: StepBuilder) -> StepBuilder:
        """Its output, perhaps computed by a script from the return value."""
        if self._random.random() < 0.8:
            return building.output(name)
        return building.output(name, script=("lua", f'return {{value = "{name.upper()}"}}'))

    def _run(self, name: str, luck: Luck, building: StepBuilder) -> StepBuilder:
        """A child run of another dialect, or one towards goals that is found by name."""
        if self._random.random() < 0.3:
            return building.output(name, inner="c2").run("goals", "child-2")
        return building.const("gives", name).const("ends", luck.ends).output(name).run("code", SHOUT)

    def _http(self, kind: str, place: str, building: StepBuilder) -> StepBuilder:
        random, undo = self._random, self._undo(f"{SERVER}/undo")
        if kind == "sync":
            made = building.sync(f"{SERVER}/sync/{place}", compensate=undo)
        else:
            limit = random.choice((0.0, 20.0))
            made = building.webhook(f"{SERVER}/async/{place}", callback_timeout=limit, compensate=undo)
        return made.retries(4, first=random.choice((0.5, 3.0)))

    def _undo(self, how: str) -> str:
        return how if self._random.random() < 0.5 else ""
