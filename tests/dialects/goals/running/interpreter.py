"""A second interpreter of plans, without time: what a run must come to, whatever ends first.

Every step has its luck, drawn beforehand. All values of a name are the same, so who wins a race can't be told from the
outcome. It is written from the text of the spec and shares nothing with the machine but the stored steps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from plait.dialects.goals.steps.step import Step
from tests.dialects.goals.reference import outputs, wanted

Outcome = Literal["completed", "failed", "skipped"]


@dataclass(frozen=True)
class Luck:
    """How a step turns out when it is run."""

    ends: Literal["well", "badly", "late"] = "well"
    """late: after a failure that is retried."""
    takes: float = 0.0
    forgets: frozenset[str] = frozenset()
    """Declared outputs that it does not return."""
    refuses: bool = False
    """Its predicate says no."""


class Interpreter:
    def __init__(self, steps: Mapping[str, Step], lucks: Mapping[str, Luck], init: Collection[str]) -> None:
        self._steps = steps
        self._lucks = lucks
        self._init = init
        self.outcome = cache(self._outcome)

    def failed(self, goals: Collection[str]) -> bool:
        return any(self.outcome(goal) == "failed" for goal in goals if goal in self._steps)

    def given_by(self, goals: Collection[str]) -> set[str]:
        """Outputs of the goals that there must be."""
        return {name for goal in goals if goal in self._steps for name in self._returned(goal)}

    def _outcome(self, step_id: str) -> Outcome:
        """As if it were run."""
        refused = False
        for name, (required, collect) in wanted(self._steps[step_id]).items():
            if not required:
                continue
            if collect == "none":
                refused = refused or self._exists(name)
            elif not self._exists(name) or (collect == "all" and not self._complete(name)):
                return "failed"
        luck = self._lucks[step_id]
        if refused or luck.refuses:
            return "skipped"
        return "failed" if luck.ends == "badly" else "completed"

    def _providers(self, name: str) -> list[str]:
        return [step_id for step_id, step in self._steps.items() if name in outputs(step)]

    def _returned(self, step_id: str) -> set[str]:
        if self.outcome(step_id) != "completed":
            return set()
        return set(outputs(self._steps[step_id])) - self._lucks[step_id].forgets

    def _exists(self, name: str) -> bool:
        return name in self._init or any(name in self._returned(each) for each in self._providers(name))

    def _complete(self, name: str) -> bool:
        return all(name in self._returned(each) for each in self._providers(name))
