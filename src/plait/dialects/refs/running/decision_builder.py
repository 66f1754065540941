"""One decision as it grows: what is recorded is folded at once."""

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
"""That one decision starts; the rest follow with the next ones."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """What does not change from decision to decision."""

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
    """The run has ended, or ends with this decision: what comes now is late, and nothing begins."""
    children: int = 0
    """Started by this decision."""

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
