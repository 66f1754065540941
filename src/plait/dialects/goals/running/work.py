"""The work of a step: its items are created, started as slots allow, and end; the last one ends the step."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.dialects.goals import limits
from plait.dialects.goals.steps.mapping import renamed
from plait.kernel.effects import Block, CancelTask, ClearTimer, FailTask, RetryTask, SetTimer
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.task_inputs import EMPTY

from .children import RESULT, child_of, missing_output
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
from .state import CALLBACK, ItemState, StepState
from .tasks import item_inputs, map_outputs_task, missing_handler, outputs_of, work_task

NOT_KEPT = "predicate returned false"
TOLD_BYTES = 1024
"""The bytes up to which an event repeats the values of an item; its inputs have them in any case."""

_object = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode


# -- the start of a step -----------------------------------------------------------------------------------------------


def start_work(builder: DecisionBuilder, plan: StepPlan, inputs: dict[str, Raw], keep: list[int] | None = None) -> None:
    """Creates the items of a step; `keep` has the places in its fan-out that its predicate accepts."""
    fan = fan_of(plan.step, inputs) if plan.fans else PLAIN
    count = 1 if fan is PLAIN else fan.count
    if count > limits.ITEMS:
        builder.record(StepFailed(plan.id, "too many work items"))
    elif keep is not None and not keep and count:
        builder.record(StepSkipped(plan.id, NOT_KEPT))
    else:
        builder.record(_started(builder, plan, inputs, fan, list(range(count) if keep is None else keep)))
        if count:
            fill(builder, plan)
        else:
            _complete(builder, plan)


def _started(
    builder: DecisionBuilder, plan: StepPlan, inputs: dict[str, Raw], fan: Fan, kept: list[int]
) -> StepStarted:
    raw = Raw(_encode(inputs))
    if fan is PLAIN:
        return StepStarted(plan.id, raw, {builder.item_token(plan.id, 0): EMPTY})
    items = {builder.item_token(plan.id, place): _told_values(fan, place) for place in kept}
    count = fan.count
    dropped = sorted(set(range(count)) - set(kept)) if len(kept) < count else []
    return StepStarted(plan.id, raw, items, dropped, count)


def _told_values(fan: Fan, place: int) -> Raw:
    """The values that distinguish an item, for readers of the log; large ones are in the inputs only."""
    raw = EMPTY if fan.count == 1 else Raw(_encode(fan.values(place)))
    return raw if len(bytes(raw)) <= TOLD_BYTES else EMPTY


# -- the start of an item ----------------------------------------------------------------------------------------------


def fill(builder: DecisionBuilder, plan: StepPlan) -> None:
    """Starts items while there are free slots, first those that wait for a retry."""
    slots, state = builder.flow.slots.get(plan.id), builder.flow.state
    if slots is None or state.status != "active" or state.steps[plan.id].status != "active":
        return
    while slots.active < plan.parallelism and (slots.due or slots.idle) and not builder.is_full():
        if plan.step.python is not None and (lacking := missing_handler(builder.context, plan.step)) is not None:
            builder.effect(blocked(plan, lacking))
            return
        again = bool(slots.due)
        token = slots.due[0] if again else slots.idle[0]
        builder.record(WorkStarted(plan.id, token))
        if again:
            builder.effect(RetryTask(TaskToken(token)))
        elif plan.step.type in ("flow", "run"):
            builder.effect(child_of(builder, plan, token, item_inputs(builder, plan, token)))
        else:
            builder.effect(work_task(builder, plan, token))


def blocked(plan: StepPlan, lacking: str) -> Block:
    """Blocks the run until a process can do the work of the step."""
    return Block(ErrorInfo("goals.no_handler", f"step '{plan.id}': {lacking}", kind="blocked"))


# -- the end of an item ------------------------------------------------------------------------------------------------


def accepted(builder: DecisionBuilder, plan: StepPlan, token: str, attempt: int) -> None:
    """Records that a step server will answer by webhook."""
    builder.record(WorkAccepted(plan.id, token, attempt))
    limit = plan.step.http.callback_timeout if plan.step.http is not None else 0
    if limit:
        builder.effect(SetTimer(TaskToken(CALLBACK + token), Millis(builder.now + limit)))


def answered(builder: DecisionBuilder, plan: StepPlan, token: str, outputs: dict[str, Raw]) -> None:
    """Takes outputs from a webhook or a child run, by the step's own names."""
    absent = missing_output(plan.step, outputs)
    attempts = builder.flow.item(plan.id, token).attempts + 1
    if absent is not None:
        failed(builder, plan, token, f"flow output missing: {absent}")
    elif plan.output_scripts:
        _map_outputs(builder, plan, token, Raw(_encode(outputs)))
    else:
        succeeded(builder, plan, token, Raw(_encode(renamed(plan.step, outputs))), attempts=attempts)


def returned(
    builder: DecisionBuilder, plan: StepPlan, token: str, result: Raw, *, memo: bool = False, attempts: int = 1
) -> None:
    """Handles the result of an item's task. Most results are the outputs as they are, and are not decoded here."""
    outputs = result if bytes(result).startswith(b"{") else _named(plan, result)
    if plan.output_scripts:
        _map_outputs(builder, plan, token, outputs, memo=memo)
        return
    if plan.renames:
        outputs = Raw(_encode(renamed(plan.step, _object.decode(outputs))))
    succeeded(builder, plan, token, outputs, memo=memo, attempts=attempts)


def _named(plan: StepPlan, result: Raw) -> Raw:
    """Makes a result that is not an object one output; null from a function or a service is none."""
    if bytes(result) == b"null" and plan.step.type != "script":
        return EMPTY
    return Raw(_encode({RESULT: result}))


def _map_outputs(builder: DecisionBuilder, plan: StepPlan, token: str, outputs: Raw, *, memo: bool = False) -> None:
    builder.record(WorkReturned(plan.id, token, outputs, memo))
    builder.effect(map_outputs_task(builder, plan, token))


def mapped(builder: DecisionBuilder, plan: StepPlan, token: str, outputs: dict[str, Raw]) -> None:
    """Handles the results of the scripts that map an item's output."""
    item = builder.flow.item(plan.id, token)
    whole = renamed(plan.step, outputs_of(item.returned)) | outputs
    succeeded(builder, plan, token, Raw(_encode(whole)), memo=item.memo, attempts=item.attempts + 1)


def succeeded(
    builder: DecisionBuilder, plan: StepPlan, token: str, outputs: Raw, *, memo: bool = False, attempts: int = 1
) -> None:
    builder.record(WorkSucceeded(plan.id, token, outputs, memo, attempts))
    if builder.flow.state.steps[plan.id].status != "active":
        return
    if builder.flow.slots[plan.id].open:
        fill(builder, plan)
    else:
        _complete(builder, plan)


def failed(
    builder: DecisionBuilder, plan: StepPlan, token: str, error: str, attempts: int = 1, cause: ErrorInfo | str = ""
) -> None:
    """The first failed item fails the step: items not yet started never will, those in flight may still report."""
    builder.record(WorkFailed(plan.id, token, error, attempts, cause))
    step = builder.flow.state.steps[plan.id]
    if step.ended:
        return
    waiting = [other for other, item in step.items.items() if item.retry_at is not None]
    builder.record(StepFailed(plan.id, error))
    for other in waiting:
        builder.effect(CancelTask(TaskToken(other)))


def give_up_strays(builder: DecisionBuilder) -> None:
    """Gives up retries of items whose step had ended when they failed."""
    for token in sorted(builder.flow.strays):
        plan, _, item = builder.flow.at(token)
        builder.effect(CancelTask(TaskToken(token)))
        builder.record(WorkFailed(plan.id, token, item.error, item.attempts))


def unanswered(builder: DecisionBuilder, plan: StepPlan, token: str, item: ItemState) -> None:
    """Fails the attempt because the callback did not come in time."""
    limit = plan.step.http.callback_timeout if plan.step.http is not None else 0
    error = ErrorInfo("goals.callback_timeout", f"no callback within {limit} ms", kind="timeout")
    builder.effect(CancelTask(TaskToken(token)))  # it may be in flight again after a restart
    builder.effect(FailTask(work_task(builder, plan, token), item.accepted, error))


def stop_waiting(builder: DecisionBuilder, token: str, item: ItemState) -> None:
    """Stops waiting for the call's own result, because an answer came another way."""
    builder.effect(CancelTask(TaskToken(token)))
    if item.accepted_at is not None:
        builder.effect(ClearTimer(TaskToken(CALLBACK + token)))


# -- the end of a step -------------------------------------------------------------------------------------------------


def _complete(builder: DecisionBuilder, plan: StepPlan) -> None:
    step = builder.flow.state.steps[plan.id]
    outputs = _outputs(plan, step)
    for name, value in outputs.items():
        builder.record(AttributeSet(name, value, plan.id))
    duration = builder.now - (step.started_at if step.started_at is not None else builder.now)
    builder.record(StepCompleted(plan.id, Raw(_encode(outputs)), duration))


def _outputs(plan: StepPlan, step: StepState) -> dict[str, Raw]:
    """The declared outputs of the items; anything else that an item returned stays with the item."""
    if step.total == 1:
        given = _object.decode(next(iter(step.items.values())).outputs)
        return {name: given[name] for name in plan.outputs if name in given}
    done = [(item.values, _object.decode(item.outputs)) for item in step.items.values()]
    return gathered(plan.outputs, done)
