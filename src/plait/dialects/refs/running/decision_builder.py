"""One decision as it grows: recorded events are folded at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from plait.dialects.refs.definition.plan import Plan
from plait.kernel.effects import Decision, Effect
from plait.kernel.events import Event
from plait.kernel.ids import Millis
from plait.kernel.limits import Limits
from plait.kernel.machine import RunInfo

from .evolve import Folding
from .refs_run import RefsRun
from .state import RefsState

CHILDREN_AT_ONCE: Final = 200
"""Children that one decision starts; later decisions start the others."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """What stays the same between decisions."""

    info: RunInfo
    limits: Limits


@dataclass(slots=True)
class DecisionBuilder:
    run: RefsRun
    context: RunContext
    now: Millis
    folding: Folding
    decision: Decision = field(default_factory=Decision)
    over: bool = False
    """Whether the run has ended, or ends with this decision: new results are late, and nothing starts."""
    children: int = 0
    """The number of children started by this decision."""

    def record(self, event: Event) -> None:
        self.decision.events.append(event)
        self.folding.fold(event, self.now)

    def effect(self, effect: Effect) -> None:
        self.decision.effects.append(effect)

    @property
    def state(self) -> RefsState:
        return self.run.state

    @property
    def plan(self) -> Plan:
        return self.run.plan
