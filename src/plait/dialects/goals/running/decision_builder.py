"""One decision as it grows: what is recorded is folded at once, and the steps that it may touch are marked."""

from __future__ import annotations

from collections.abc import Callable
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
    decision: Decision = field(default_factory=Decision)
    touched: set[str] = field(default_factory=set[str])
    """Steps that may have to start, fail or be skipped now."""

    def record(self, event: Event) -> None:
        self.decision.events.append(event)
        fold(self.flow, event, self.now)
        touch = _TOUCHES.get(type(event))
        if touch is not None:
            touch(self, event)

    def effect(self, effect: Effect) -> None:
        self.decision.effects.append(effect)

    def touch_all(self) -> None:
        self.touched.update(self.flow.compiled.steps)

    def plan(self, step_id: str) -> StepPlan:
        return self.flow.compiled.steps[step_id]

    def item_token(self, step_id: str, place: int, again: int = 0) -> str:
        """Of the item at a place of its fan-out; `again`: of the next time that work of the step is begun anew."""
        state = self.flow.state
        generation = state.steps[step_id].generation + again
        return item_token(self.context.info.run_id, state.seed, step_id, place, generation)

    def touch_providers(self, step_id: str) -> None:
        """They may not be needed any more."""
        self.touched |= self.flow.compiled.upstream[step_id]

    def value_set(self, event: e.AttributeSet) -> None:
        compiled = self.flow.compiled
        self.touched.update(compiled.consumers.get(event.name, ()))
        self.touched.update(compiled.providers.get(event.name, ()))

    def step_started(self, event: e.StepStarted) -> None:
        self.preparing.discard(event.step_id)
        self.touched |= self.flow.compiled.upstream[event.step_id]

    def step_ended(self, event: e.StepCompleted | e.StepFailed | e.StepSkipped) -> None:
        self.preparing.discard(event.step_id)
        compiled = self.flow.compiled
        self.touched |= compiled.downstream[event.step_id] | compiled.upstream[event.step_id]

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
