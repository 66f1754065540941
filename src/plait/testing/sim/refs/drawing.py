"""A random workflow, block by block: each reads the output of the one before, and one step reads the last.

Workflows are drawn so that their outcome does not depend on timing: a step returns its own name and its input, and
failures depend only on the attempt number. So a disturbed run must end like a calm one.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from plait.testing.sim.whisper import WHISPER

WORK, UNDO = "work", "undo"
BROKEN, GATE, END, EXTRA = "broken", "gate", "end", "extra"
"""A step that fails until it is repaired; one slow enough for the client to act meanwhile; the last one; and one that a
patch adds."""
_TRIES = 3
_LONGEST = 86_400_000
_CODE = "export default (input) => ({done: 'code', given: input})"
_RESHAPE = "export default (result) => ({...result, reshaped: true})"

Step = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Luck:
    """How the work of a step turns out."""

    fails: int = 0
    """Failing attempts before the first success."""
    takes: float = 0.0
    undo_fails: int = 0
    unlucky: int | None = None
    """The iteration that fails permanently."""


class Drawing:
    def __init__(self, random: Random, *, undo: bool) -> None:
        """`undo`: its steps may have compensators."""
        self._random = random
        self._undo = undo
        self.steps: list[Step] = []
        self.lucks: dict[str, Luck] = {}
        self._last = self._call({"route": "@input.route"})
        blocks = [self._line, self._fan, self._choice, self._each, self._code, self._child, self._hopeless]
        for _ in range(random.randint(1, 4)):
            random.choice(blocks)()

    def close(self, *before: str, ends: str = "") -> None:
        """Adds what the ending of the run needs, and the last step, which may end the run before the others have
        ended."""
        for name in before:
            takes = {"timeoutMs": _LONGEST} if name == GATE else {}
            self._last = self._call({"after": f"@{self._last}"}, name, config={**self._config(), **takes})
        if ends:
            self._call({"after": f"@{self._last}"}, "aside")
        more: dict[str, Any] = {"bail": True} if ends == "bail" else {}
        if ends == "return":
            self._add({"name": END, "action": {"return": True}, "input": {"given": f"@{self._last}"}})
        else:
            self._call({"given": f"@{self._last}", "text": f"so @{{{self._last}.done}}!"}, END, **more)

    # -- blocks --------------------------------------------------------------------------------------------------

    def _line(self) -> None:
        self._last = self._call(self._reads(self._last))

    def _fan(self) -> None:
        """Several steps in parallel, and one that reads them all, or only waits for them."""
        ways = [self._call(self._reads(self._last)) for _ in range(self._random.randint(2, 3))]
        if self._random.random() < 0.5:
            ways[0] = self._call(self._reads(ways[0]))
        reads = {f"way{number}": f"@{way}.done" for number, way in enumerate(ways)}
        self._last = self._call(reads, dependsOn=self._random.choice(([], ways)))

    def _choice(self) -> None:
        """A step that may be skipped; its reader then gets null."""
        route = self._random.choice("ab")
        chosen = self._call(self._reads(self._last), when={"ref": "@input.route", "eq": route})
        self._last = self._call({"chosen": f"@{chosen}.done", "before": f"@{self._last}.done"})

    def _each(self) -> None:
        """One iteration for each item; one of them may fail permanently."""
        random, items = self._random, self._random.choice(("@input.items", "@input.none"))
        loop = {"ref": items, "concurrency": random.choice((1, 2, 5))}
        name = self._call({"item": "@item", "index": "@index", "before": f"@{self._last}.done"}, forEach=loop)
        self.lucks[name] = Luck(
            self.lucks[name].fails, self.lucks[name].takes, self.lucks[name].undo_fails, random.choice((None, None, 1))
        )
        self._last = self._call({"all": f"@{name}"})

    def _code(self) -> None:
        """A script, and a result reshaped by another."""
        name = self._name("code")
        self._add({"name": name, "action": {"code": _CODE}, "input": {"before": f"@{self._last}.done"}})
        self._last = self._call(self._reads(name), transform=True)

    def _child(self) -> None:
        dialect = self._random.choice(("code", "refs"))
        inner = {"steps": [{"name": "inner", "action": {"function": WORK}, "input": {"x": "@input.x"}}]}
        definition: Any = WHISPER if dialect == "code" else inner
        action = {
            "workflow": {"dialect": dialect, "definition": definition},
            "wait": self._random.random() < 0.8,
        }
        name = self._name("child")
        self._add({"name": name, "action": action, "input": {"x": f"@{self._last}.done"}})
        self._last = self._call({"child": f"@{name}"})

    def _hopeless(self) -> None:
        """A step that fails permanently, which does not matter."""
        name = self._call(self._reads(self._last), config={**self._config(), "onError": "continue"})
        self.lucks[name] = Luck(fails=_TRIES)
        self._last = self._call({"hopeless": f"@{name}", "before": f"@{self._last}.done"})

    # -- steps ---------------------------------------------------------------------------------------------------

    def _reads(self, step: str) -> dict[str, Any]:
        """A missing value is left out."""
        missing = {"missing": f"@{step}.nothing.here"} if self._random.random() < 0.2 else {}
        return {"before": f"@{step}.done", **missing}

    def _call(self, input: dict[str, Any], name: str = "", *, transform: bool = False, **more: Any) -> str:
        random, name = self._random, name or self._name("step")
        self.lucks[name] = Luck(
            fails=random.choice((0, 0, 0, 1, 2)),
            takes=random.choice((0.0, 0.0, 0.5, 30.0)),
            undo_fails=random.choice((0, 0, 1)),
        )
        action = {"function": WORK, **({"transformCode": _RESHAPE} if transform else {})}
        step: Step = {"name": name, "action": action, "input": input, "config": self._config(), **more}
        if self._undo and name not in (BROKEN, GATE, END) and random.random() < 0.5:
            step["compensate"] = {"action": {"function": UNDO}, "input": {"was": f"@{name}"}}
        return self._add(step)

    def _config(self) -> dict[str, Any]:
        return {"maxAttempts": _TRIES, "backoffMs": 1_000}

    def _add(self, step: Step) -> str:
        self.steps.append(step)
        return step["name"]

    def _name(self, kind: str) -> str:
        return f"{kind}{len(self.steps)}"
