"""The work of a step: its items are made, started as slots allow, and end; the last one ends the step."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Raw

from plait.dialects.goals import limits
from plait.dialects.goals.hands.mapping import renamed
from plait.kernel.effects import Block, CancelTask, ClearTimer, FailTask, RetryTask, SetTimer
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.task import CALL, Policy, Task

from .children import child_of, missing_output
from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .events import (
    AttributeSet,
    StepCompleted,
    StepFailed,
    StepSkipped,
    StepStarted,
    WorkAccepted,
    WorkFailed,
    WorkReturned,
    WorkStarted,
    WorkSucceeded,
)
from .fanout import PLAIN, Fan, fan_of, gathered
from .hands import Item
from .state import ItemState, StepState
from .tokens import CALLBACK, SHAPE, item_token

NOT_KEPT = "predicate returned false"

_object = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode


# -- the start of a step -----------------------------------------------------------------------------------------------


def start_work(turn: DecisionBuilder, plan: StepPlan, inputs: dict[str, Raw], keep: list[int] | None = None) -> None:
    """Makes the items of a step; `keep` are the places in its fan-out that its predicate lets through."""
    fan = fan_of(plan.step, inputs) if plan.fans else PLAIN
    count = fan.count
    if count > limits.ITEMS:
        turn.record(StepFailed(plan.id, "too many work items"))
    elif keep is not None and not keep and count:
        turn.record(StepSkipped(plan.id, NOT_KEPT))
    else:
        turn.record(_started(turn, plan, inputs, fan, range(count) if keep is None else keep))
        if count:
            fill(turn, plan)
        else:
            _complete(turn, plan)


def _started(
    turn: DecisionBuilder, plan: StepPlan, inputs: dict[str, Raw], fan: Fan, places: Iterable[int]
) -> StepStarted:
    run_id, seed, count = turn.around.info.run_id, turn.flow.state.seed, fan.count
    raw = Raw(_encode(inputs))
    if fan is PLAIN:
        return StepStarted(plan.id, raw, {item_token(run_id, seed, plan.id, 0): raw})
    kept = list(places)
    items = {
        item_token(run_id, seed, plan.id, place): Raw(
            _encode(fan.values(place) if count > 1 else fan.inputs(place, inputs))
        )
        for place in kept
    }
    dropped = sorted(set(range(count)) - set(kept)) if len(kept) < count else []
    return StepStarted(plan.id, raw, items, dropped, count)


# -- the start of an item ----------------------------------------------------------------------------------------------


def fill(turn: DecisionBuilder, plan: StepPlan) -> None:
    """Starts items while there are free slots, first those that wait to be tried again."""
    slots = turn.flow.slots_of.get(plan.id)
    if slots is None or turn.flow.over or turn.flow.state.steps[plan.id].status != "active":
        return
    while slots.active < plan.slots and (slots.due or slots.idle):
        lacking = turn.around.hands.lacks(plan.step)
        if lacking is not None:
            turn.effect(blocked(plan, lacking))
            return
        again = bool(slots.due)
        token = slots.due[0] if again else slots.idle[0]
        turn.record(WorkStarted(plan.id, token))
        if again:
            turn.effect(RetryTask(TaskToken(token)))
        else:
            _begin(turn, plan, token)


def blocked(plan: StepPlan, lacking: str) -> Block:
    """The run waits until there is someone who can do the work of a step."""
    return Block(ErrorInfo("goals.no_handler", f"step '{plan.id}': {lacking}", kind="blocked"))


def _begin(turn: DecisionBuilder, plan: StepPlan, token: str) -> None:
    if plan.step.type in ("flow", "run"):
        child = child_of(turn, plan, item_of(turn, plan, token))
        if isinstance(child, str):
            failed(turn, plan, token, child)
        else:
            turn.effect(child)
    else:
        turn.effect(work_task(turn, plan, token))


def work_task(turn: DecisionBuilder, plan: StepPlan, token: str) -> Task:
    """The call that does the work of an item."""
    step = plan.step
    hand = turn.around.hands.work(item_of(turn, plan, token))
    limit = step.python.timeout if step.python is not None else 0
    return Task(
        TaskToken(token),
        step.id,
        CALL,
        hand,
        Policy(plan.retry, limit / 1000 if limit else None, retry_on_timeout=True),
        token,
        step.id,
    )


def item_of(turn: DecisionBuilder, plan: StepPlan, token: str) -> Item:
    step = turn.flow.state.steps[plan.id]
    item = step.items[token]
    inputs = step.inputs
    if item.values:
        whole = turn.flow.whole_inputs(plan.id)
        chosen = {plan.inner[name]: value for name, value in item.values.items()}
        inputs = Raw(_encode({**whole, **chosen}))
    return Item(turn.around.info, plan.step, token, inputs)


# -- the end of an item ------------------------------------------------------------------------------------------------


def accepted(turn: DecisionBuilder, plan: StepPlan, token: str, attempt: int) -> None:
    """A step server will answer by webhook."""
    turn.record(WorkAccepted(plan.id, token, attempt))
    limit = plan.step.http.callback_timeout if plan.step.http is not None else 0
    if limit:
        turn.effect(SetTimer(TaskToken(CALLBACK + token), Millis(turn.now + limit)))


def answered(turn: DecisionBuilder, plan: StepPlan, token: str, outputs: dict[str, Raw]) -> None:
    """Raw outputs have come from a webhook or a child run."""
    absent = missing_output(plan.step, outputs)
    attempts = turn.flow.item(plan.id, token).attempts + 1
    if absent is not None:
        failed(turn, plan, token, f"flow output missing: {absent}")
    elif plan.shaped:
        turn.record(WorkReturned(plan.id, token, Raw(_encode(outputs))))
        turn.effect(shape_task(turn, plan, token))
    else:
        succeeded(turn, plan, token, Raw(_encode(renamed(plan.step, outputs))), attempts=attempts)


def shape_task(turn: DecisionBuilder, plan: StepPlan, token: str) -> Task:
    returned = turn.flow.state.steps[plan.id].items[token].returned
    hand = turn.around.hands.shape(item_of(turn, plan, token), returned)
    return Task(TaskToken(SHAPE + token), f"mapping of {plan.id}", CALL, hand, Policy(), SHAPE + token, plan.id)


def succeeded(
    turn: DecisionBuilder, plan: StepPlan, token: str, outputs: Raw, *, memo: bool = False, attempts: int = 1
) -> None:
    turn.record(WorkSucceeded(plan.id, token, outputs, memo, attempts))
    _go_on(turn, plan)


def failed(turn: DecisionBuilder, plan: StepPlan, token: str, error: str, attempts: int = 1) -> None:
    """The first failed item fails the step: what has not begun never does, what is under way may report."""
    turn.record(WorkFailed(plan.id, token, error, attempts))
    step = turn.flow.state.steps[plan.id]
    if step.ended:
        return
    waiting = [other for other, item in step.items.items() if item.retry_at is not None]
    turn.record(StepFailed(plan.id, error))
    for other in waiting:
        turn.effect(CancelTask(TaskToken(other)))


def give_up_strays(turn: DecisionBuilder) -> None:
    """Items that failed after their step had ended are not tried again."""
    for token in sorted(turn.flow.strays):
        plan, _, item = turn.flow.at(token)
        turn.effect(CancelTask(TaskToken(token)))
        turn.record(WorkFailed(plan.id, token, item.error, item.attempts))


def unanswered(turn: DecisionBuilder, plan: StepPlan, token: str, item: ItemState) -> None:
    """The callback did not come in time: the attempt has failed after all."""
    limit = plan.step.http.callback_timeout if plan.step.http is not None else 0
    error = ErrorInfo("goals.callback_timeout", f"no callback within {limit} ms", kind="timeout")
    turn.effect(CancelTask(TaskToken(token)))  # it may be called again just now, after a restart
    turn.effect(FailTask(work_task(turn, plan, token), item.accepted, error))


def stop_waiting(turn: DecisionBuilder, token: str, item: ItemState) -> None:
    """An answer came by another way than the call's own: nothing else is waited for."""
    turn.effect(CancelTask(TaskToken(token)))
    if item.accepted_at is not None:
        turn.effect(ClearTimer(TaskToken(CALLBACK + token)))


def _go_on(turn: DecisionBuilder, plan: StepPlan) -> None:
    step = turn.flow.state.steps[plan.id]
    if step.status != "active":
        return
    if turn.flow.slots_of[plan.id].open:
        fill(turn, plan)
    else:
        _complete(turn, plan)


# -- the end of a step -------------------------------------------------------------------------------------------------


def _complete(turn: DecisionBuilder, plan: StepPlan) -> None:
    step = turn.flow.state.steps[plan.id]
    outputs = _outputs(plan, step)
    for name, value in outputs.items():
        turn.record(AttributeSet(name, value, plan.id))
    duration = turn.now - (step.started_at if step.started_at is not None else turn.now)
    turn.record(StepCompleted(plan.id, Raw(_encode(outputs)), duration))


def _outputs(plan: StepPlan, step: StepState) -> dict[str, Raw]:
    """Declared ones only; what else an item returned stays with the item."""
    if step.total == 1:
        given = _object.decode(next(iter(step.items.values())).outputs)
        return {name: given[name] for name in plan.outputs if name in given}
    done = [(item.values, _object.decode(item.outputs)) for item in step.items.values()]
    return gathered(plan.outputs, done)
