"""The state of one run with its blueprint, and what is counted so that nobody has to look at everything."""

from __future__ import annotations

from collections import deque

import msgspec
from msgspec import Raw

from plait.kernel.ids import Millis

from .blueprint import Blueprint, StepPlan
from .state import ENDED, FlowState, ItemState, StepState, Value

_object = msgspec.json.Decoder(dict[str, Raw])


class Crew:
    """The items of a step, counted: with ten thousand of them nobody wants to look at each."""

    def __init__(self) -> None:
        self.active = 0
        self.open = 0
        self.idle: deque[str] = deque()
        """Not begun, in their order."""
        self.due: deque[str] = deque()
        """To be tried again as soon as there is a free slot. Not part of the state: the kernel says so again."""

    @staticmethod
    def of(step: StepState) -> Crew:
        crew = Crew()
        for token, item in step.items.items():
            crew.open += item.open
            crew.active += item.status == "active"
            if item.status == "pending" and item.retry_at is None:
                crew.idle.append(token)
        return crew


class Flow:
    def __init__(self, state: FlowState, blueprint: Blueprint | None = None) -> None:
        self.state = state
        self.blueprint = blueprint or Blueprint(state.plan)
        self.unended = sum(not step.ended for step in state.steps.values())
        """Steps of the plan that have not ended."""
        self.crews = {step_id: Crew.of(step) for step_id, step in state.steps.items() if step.items}
        self.active = sum(crew.active for crew in self.crews.values())
        """Items that are worked on."""
        self.awaited = {
            token
            for step in state.steps.values()
            for token, item in step.items.items()
            if item.status == "active" and item.accepted_at is not None
        }
        """Items that a step server took and will answer."""
        self._whole: dict[str, dict[str, Raw]] = {}
        self.owners = {token: step_id for step_id, step in state.steps.items() for token in step.items}

    # -- looking up ----------------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """The outcome stands."""
        return self.state.status != "active"

    @property
    def recalled(self) -> bool:
        """Whether a step server must be asked again if our process dies."""
        return bool(self.awaited) and any(self._recall(token) for token in self.awaited)

    def _recall(self, token: str) -> bool:
        http = self.blueprint.steps[self.owners[token]].step.http
        return http is not None and http.recall

    def find(self, token: str) -> tuple[StepPlan, StepState, ItemState] | None:
        """The item of that token, and the step whose work it is."""
        step_id = self.owners.get(token)
        if step_id is None:
            return None
        step = self.state.steps[step_id]
        return self.blueprint.steps[step_id], step, step.items[token]

    def at(self, token: str) -> tuple[StepPlan, StepState, ItemState]:
        found = self.find(token)
        if found is None:
            raise KeyError(token)
        return found

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
        return self.state.steps[step_id].items[token]

    def rest(self, step_id: str, token: str, item: ItemState) -> None:
        self.awaited.discard(token)
        if item.status == "active":
            self.active -= 1
            self.crews[step_id].active -= 1

    def close_item(self, step_id: str, token: str, at: Millis) -> ItemState:
        item = self.item(step_id, token)
        self.rest(step_id, token, item)
        self.crews[step_id].open -= item.open
        item.ended_at, item.retry_at = at, None
        return item

    def end_step(self, step_id: str, at: Millis) -> StepState:
        step = self.state.steps[step_id]
        if step.status not in ENDED:
            self.unended -= 1
        step.ended_at = at
        self._whole.pop(step_id, None)
        return step
