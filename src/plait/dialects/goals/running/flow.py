"""The state of one run with its compiled plan, and counters that save scanning everything."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import msgspec
from msgspec import Raw

from plait.kernel.ids import Millis

from .compiled_plan import CompiledPlan, StepPlan
from .state import ENDED, OPEN, FlowState, ItemState, StepState, Value

_object = msgspec.json.Decoder(dict[str, Raw])


@dataclass(slots=True)
class Slots:
    """Counts of a step's items, so that none of ten thousand need be scanned."""

    active: int = 0
    open: int = 0
    idle: deque[str] = field(default_factory=deque[str])
    """Items not yet started, in order."""
    due: deque[str] = field(default_factory=deque[str])
    """Items to be retried once a slot is free. Not part of the state: the kernel reports them again."""

    def wait(self, token: str) -> None:
        """Queues the item for its retry."""
        if token not in self.due:
            self.due.append(token)

    def called_up(self, token: str) -> None:
        """Removes an item that no longer waits for a slot."""
        if self.idle and self.idle[0] == token:
            self.idle.popleft()
        elif token in self.due:
            self.due.remove(token)

    @staticmethod
    def of(step: StepState) -> Slots:
        slots, ended = Slots(), step.status in ENDED
        for token, item in step.items.items():
            slots.open += item.status in OPEN
            slots.active += item.status == "active"
            if item.status == "pending" and item.retry_at is None and not ended:
                slots.idle.append(token)
        return slots


class Flow:
    def __init__(self, state: FlowState, compiled: CompiledPlan | None = None) -> None:
        self.state = state
        self.compiled = compiled or CompiledPlan(state.plan)
        self._whole: dict[str, dict[str, Raw]] = {}
        self.count()

    def count(self) -> None:
        """Recomputes everything that follows from the state."""
        steps = self.state.steps
        begun = [(step_id, step) for step_id, step in steps.items() if step.items]
        self.unended = sum(step.status not in ENDED for step in steps.values())
        """The number of steps of the plan that have not ended."""
        self.pending = {step_id for step_id, step in steps.items() if step.status == "pending"}
        """Steps of the plan that have not started."""
        self.givers = {
            name: sum(steps[step_id].status not in ENDED for step_id in providers)
            for name, providers in self.compiled.providers.items()
        }
        """Name -> the number of steps that may still provide it."""
        self.slots = {step_id: Slots.of(step) for step_id, step in begun}
        self.active = sum(slots.active for slots in self.slots.values())
        """The number of items in flight."""
        self.owners = {token: step_id for step_id, step in begun for token in step.items}
        self.awaited = {
            token
            for _, step in begun
            for token, item in step.items.items()
            if item.status == "active" and item.accepted_at
        }
        """Items that a step server accepted and will answer."""
        self.strays = {
            token
            for _, step in begun
            for token, item in step.items.items()
            if item.retry_at is not None and step.status in ENDED
        }
        """Items that wait for a retry although their step has ended."""

    # -- queries -------------------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the outcome is decided."""
        return self.state.status != "active"

    @property
    def takes_results(self) -> bool:
        """Whether the result of work still counts: after the outcome, only that of work that was in flight then."""
        state = self.state
        if state.status == "active":
            return True
        if state.cut or state.deactivated_at is not None:
            return False
        return state.ended_at is None or state.outlived

    @property
    def recalled(self) -> bool:
        """Whether a step server must be called again if our process dies."""
        asked = (self.compiled.steps[self.owners[token]].step.http for token in self.awaited)
        return any(http is not None and http.recall for http in asked)

    def find(self, token: str) -> tuple[StepPlan, StepState, ItemState] | None:
        """The item of a token, and the step it belongs to."""
        step_id = self.owners.get(token)
        if step_id is None:
            return None
        step = self.state.steps[step_id]
        return self.compiled.steps[step_id], step, step.items[token]

    def at(self, token: str) -> tuple[StepPlan, StepState, ItemState]:
        found = self.find(token)
        if found is None:
            raise KeyError(token)
        return found

    def done_work(self, token: str) -> tuple[StepPlan, ItemState] | None:
        """The item of a token, even if its work was redone under another since."""
        former = self.state.former.get(token)
        if former is not None:
            return self.compiled.steps[former.step], former.item
        found = self.find(token)
        return None if found is None else (found[0], found[2])

    def whole_inputs(self, step_id: str) -> dict[str, Raw]:
        """All inputs of a step that fans out, by inner name: decoded once for all its items."""
        found = self._whole.get(step_id)
        if found is None:
            found = self._whole[step_id] = _object.decode(self.state.steps[step_id].inputs)
        return found

    def values(self, name: str) -> list[Value]:
        return self.state.attributes.get(name, [])

    # -- changes by folding --------------------------------------------------------------------------------------

    def item(self, step_id: str, token: str) -> ItemState:
        former = self.state.former.get(token)
        return self.state.steps[step_id].items[token] if former is None else former.item

    def begin_item(self, step_id: str, token: str) -> ItemState:
        item, slots = self.state.steps[step_id].items[token], self.slots[step_id]
        slots.called_up(token)
        if item.status != "active":
            item.status = "active"
            self.active += 1
            slots.active += 1
        return item

    def rest(self, step_id: str, token: str, item: ItemState) -> None:
        self.awaited.discard(token)
        if item.status == "active":
            self.active -= 1
            self.slots[step_id].active -= 1

    def close_item(self, step_id: str, token: str, at: Millis) -> ItemState:
        item, slots = self.state.steps[step_id].items[token], self.slots[step_id]
        self.rest(step_id, token, item)
        slots.open -= item.status in OPEN
        slots.called_up(token)
        self.strays.discard(token)
        item.ended_at, item.retry_at = at, None
        return item

    def end_step(self, step_id: str, at: Millis) -> StepState:
        step = self.state.steps[step_id]
        if step.status not in ENDED:
            self.unended -= 1
            self.pending.discard(step_id)
            for name in self.compiled.steps[step_id].outputs:
                self.givers[name] -= 1
        step.ended_at = at
        self._whole.pop(step_id, None)
        return step
