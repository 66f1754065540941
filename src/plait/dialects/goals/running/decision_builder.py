"""One decision as it grows: what is recorded is folded at once, and the steps that it may touch are marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from plait.kernel.effects import Decision, Effect
from plait.kernel.events import Event
from plait.kernel.ids import Millis
from plait.kernel.machine import RunInfo

from . import events as e
from .compiled_plan import StepPlan
from .evolve import fold
from .flow import Flow
from .state import item_token

EFFECTS_AT_ONCE = 64
"""What they start runs in one turn of the event loop, too."""


class Handlers(Protocol):
    def get(self, name: str) -> object | None:
        """The function that a name means in this process, or None."""
        ...


@dataclass(frozen=True, slots=True)
class RunContext:
    """What does not change from decision to decision."""

    info: RunInfo
    handlers: Handlers
    unhealthy: Callable[[str], str] = lambda _: ""
    """What is wrong with a step, for people who wonder why it takes so long."""


@dataclass(slots=True)
class DecisionBuilder:
    flow: Flow
    context: RunContext
    now: Millis
    preparing: set[str]
    """Steps whose scripts are at work on their inputs: known to this process alone, since it follows from the
    state which these are."""
    left: dict[str, None] = field(default_factory=dict[str, None])
    """Steps that were ready or looked at, and that the decision before had no room for: also known to this process
    alone."""
    decision: Decision = field(default_factory=Decision)
    touched: set[str] = field(default_factory=set[str])
    """Steps that may have to start, fail or be skipped now."""

    def is_full(self) -> bool:
        """Whether it is enough for one decision: then the machine is asked for the rest right after the commit, and
        others get their turn on the event loop before."""
        if len(self.decision.effects) < EFFECTS_AT_ONCE:
            return False
        self.decision.more = True
        return True

    def leave(self, steps: Iterable[str]) -> None:
        """To the next decision: this one has no room for them."""
        for step_id in steps:
            self.left[step_id] = None
            self.decision.more = True

    def record(self, event: Event) -> None:
        self.decision.events.append(event)
        fold(self.flow, event, self.now)
        touch = _TOUCHES.get(type(event))
        if touch is not None:
            touch(self, event)

    def effect(self, effect: Effect) -> None:
        self.decision.effects.append(effect)

    def touch_all(self) -> None:
        self.touched |= self.flow.pending

    def plan(self, step_id: str) -> StepPlan:
        return self.flow.compiled.steps[step_id]

    def item_token(self, step_id: str, place: int, again: int = 0) -> str:
        """Of the item at a place of its fan-out; `again`: of the next time that work of the step is begun anew."""
        state = self.flow.state
        generation = state.steps[step_id].generation + again
        return item_token(self.context.info.run_id, state.seed, step_id, place, generation)

    def touch_providers(self, step_id: str) -> None:
        """They may not be needed any more."""
        self._touch(self.flow.compiled.upstream[step_id])

    def _touch(self, steps: frozenset[str]) -> None:
        """Those of them that have not started; with a thousand providers of a name that is mostly none."""
        found = self.flow.pending & steps
        self.touched |= found.difference(self.left) if self.left else found  # these are looked at when their turn comes

    def value_set(self, event: e.AttributeSet) -> None:
        self._touch(self.flow.compiled.named.get(event.name, frozenset()))

    def step_started(self, event: e.StepStarted) -> None:
        self.preparing.discard(event.step_id)
        self.touch_providers(event.step_id)

    def step_ended(self, event: e.StepCompleted | e.StepFailed | e.StepSkipped) -> None:
        self.preparing.discard(event.step_id)
        compiled = self.flow.compiled
        self._touch(compiled.downstream[event.step_id])
        self._touch(compiled.upstream[event.step_id])

    def input_changed(self, event: e.InputMatched | e.InputClosed) -> None:
        self.touched.add(event.step_id)
        self.touch_providers(event.step_id)


_TOUCHES: dict[type[Event], Callable[[DecisionBuilder, Any], None]] = {
    e.AttributeSet: DecisionBuilder.value_set,
    e.StepStarted: DecisionBuilder.step_started,
    e.StepCompleted: DecisionBuilder.step_ended,
    e.StepFailed: DecisionBuilder.step_ended,
    e.StepSkipped: DecisionBuilder.step_ended,
    e.InputMatched: DecisionBuilder.input_changed,
    e.InputClosed: DecisionBuilder.input_changed,
}
