"""One decision as it grows: recorded events are folded at once, and mark the steps that they may touch."""

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
"""Effects in one decision; the tasks they start run in one turn of the event loop, too."""


class Handlers(Protocol):
    def get(self, name: str) -> object | None:
        """The function that a name refers to in this process, or None."""
        ...


@dataclass(frozen=True, slots=True)
class RunContext:
    """What stays the same between decisions."""

    info: RunInfo
    handlers: Handlers
    unhealthy: Callable[[str], str] = lambda _: ""
    """What is wrong with a step, for people who wonder why it is slow."""


@dataclass(slots=True)
class DecisionBuilder:
    flow: Flow
    context: RunContext
    now: Millis
    preparing: set[str]
    """Steps whose preparation scripts are in flight: kept in memory only, since the state determines which these
    are."""
    left: dict[str, None] = field(default_factory=dict[str, None])
    """Steps that the previous decision had no room to start or to judge: kept in memory only."""
    decision: Decision = field(default_factory=Decision)
    touched: set[str] = field(default_factory=set[str])
    """Steps that may have to start, fail or be skipped now."""

    def is_full(self) -> bool:
        """Whether the decision is large enough: then the machine is asked for the rest right after the commit, and
        other runs get a turn on the event loop in between."""
        if len(self.decision.effects) < EFFECTS_AT_ONCE:
            return False
        self.decision.more = True
        return True

    def leave(self, steps: Iterable[str]) -> None:
        """Leaves steps to the next decision, because this one has no room for them."""
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
        """The token of the item at a place of the fan-out; `again` is 1 for the next time that the work is redone."""
        state = self.flow.state
        generation = state.steps[step_id].generation + again
        return item_token(self.context.info.run_id, state.seed, step_id, place, generation)

    def touch_providers(self, step_id: str) -> None:
        """Touches the providers of a step's inputs, which may not be needed any more."""
        self._touch(self.flow.compiled.upstream[step_id])

    def _touch(self, steps: frozenset[str]) -> None:
        """Touches those steps that are pending; with a thousand providers of a name these are mostly none."""
        found = self.flow.pending & steps
        self.touched |= found.difference(self.left) if self.left else found  # those left over are visited in their turn

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
