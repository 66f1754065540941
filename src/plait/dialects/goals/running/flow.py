"""The state of one run with its compiled, and what is counted so that nobody has to look at everything."""

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
    """The items of a step, counted: with ten thousand of them nobody wants to look at each."""

    active: int = 0
    open: int = 0
    idle: deque[str] = field(default_factory=deque[str])
    """Not begun, in their order."""
    due: deque[str] = field(default_factory=deque[str])
    """To be tried again as soon as there is a free slot. Not part of the state: the kernel says so again."""

    def wait(self, token: str) -> None:
        """It is to be tried again."""
        if token not in self.due:
            self.due.append(token)

    def called_up(self, token: str) -> None:
        """It does not wait for a slot any more."""
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
        """Makes everything anew that follows from the state."""
        steps = self.state.steps
        begun = [(step_id, step) for step_id, step in steps.items() if step.items]
        self.unended = sum(step.status not in ENDED for step in steps.values())
        """Steps of the plan that have not ended."""
        self.slots = {step_id: Slots.of(step) for step_id, step in begun}
        self.active = sum(slots.active for slots in self.slots.values())
        """Items that are worked on."""
        self.owners = {token: step_id for step_id, step in begun for token in step.items}
        self.awaited = {
            token
            for _, step in begun
            for token, item in step.items.items()
            if item.status == "active" and item.accepted_at
        }
        """Items that a step server took and will answer."""
        self.strays = {
            token
            for _, step in begun
            for token, item in step.items.items()
            if item.retry_at is not None and step.status in ENDED
        }
        """Items that wait to be tried again although their step has ended."""

    # -- looking up ----------------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """The outcome stands."""
        return self.state.status != "active"

    @property
    def takes_results(self) -> bool:
        """Whether the result of work still counts: after the outcome, that of work that was under way then."""
        state = self.state
        if state.status == "active":
            return True
        if state.cut or state.deactivated_at is not None:
            return False
        return state.ended_at is None or state.outlived

    @property
    def recalled(self) -> bool:
        """Whether a step server must be asked again if our process dies."""
        asked = (self.compiled.steps[self.owners[token]].step.http for token in self.awaited)
        return any(http is not None and http.recall for http in asked)

    def find(self, token: str) -> tuple[StepPlan, StepState, ItemState] | None:
        """The item of that token, and the step whose work it is."""
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
        """The item of that token, also if its work was begun anew under another since."""
        former = self.state.former.get(token)
        if former is not None:
            return self.compiled.steps[former.step], former.item
        found = self.find(token)
        return None if found is None else (found[0], found[2])

    def whole_inputs(self, step_id: str) -> dict[str, Raw]:
        """All inputs of a step that fans out, by inner name: taken apart once for all its items."""
        found = self._whole.get(step_id)
        if found is None:
            found = self._whole[step_id] = _object.decode(self.state.steps[step_id].inputs)
        return found

    def values(self, name: str) -> list[Value]:
        return self.state.attributes.get(name, [])

    # -- what folding does to it ---------------------------------------------------------------------------------

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
        step.ended_at = at
        self._whole.pop(step_id, None)
        return step
