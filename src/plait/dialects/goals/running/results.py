"""What the machine's tasks came to: work, the scripts before and after it, and undoing."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel.inputs import TaskResult

from .advance import needed
from .decision_builder import DecisionBuilder
from .events import CompFailed, CompSucceeded, InputMatched, StepFailed, StepPrepared, StepSkipped
from .tasks import Memoized, Prepared
from .tokens import MATCH, PREPARE, SHAPE, UNDO, match_parts, undone_item
from .work import NOT_KEPT, accepted, failed, mapped, returned, start_work

_object = msgspec.json.Decoder(dict[str, Raw])
_prepared_step = msgspec.json.Decoder(Prepared)
_memoized = msgspec.json.Decoder(Memoized)
_bool = msgspec.json.Decoder(bool)


def task_result(builder: DecisionBuilder, result: TaskResult) -> None:
    token = result.token
    if builder.flow.find(token) is not None:
        _worked_on(builder, token, result)
    elif token.startswith(PREPARE):
        _prepared(builder, token.removeprefix(PREPARE), result)
    elif token.startswith(MATCH):
        _matched(builder, token, result)
    elif token.startswith(SHAPE):
        _mapped(builder, token.removeprefix(SHAPE), result)
    elif token.startswith(UNDO):
        _undone(builder, undone_item(token), result)


def _worked_on(builder: DecisionBuilder, token: str, result: TaskResult) -> None:
    plan, _, item = builder.flow.at(token)
    if not item.open or not builder.flow.hears:
        return
    if result.error is not None:
        failed(builder, plan, token, result.error.message, result.attempts)
    elif result.later:
        accepted(builder, plan, token, result.attempt)
    elif plan.fingerprint:
        done = _memoized.decode(result.output)
        returned(builder, plan, token, done.result, memo=done.memo, attempts=result.attempts)
    else:
        returned(builder, plan, token, result.output, attempts=result.attempts)


def _prepared(builder: DecisionBuilder, step_id: str, result: TaskResult) -> None:
    builder.preparing.discard(step_id)
    if builder.flow.over or builder.flow.state.steps[step_id].status != "pending":
        return
    builder.touched.add(step_id)
    if result.error is not None:
        _not_prepared(builder, step_id, f"predicate evaluation failed: {result.error.message}")
        return
    ready = _prepared_step.decode(result.output)
    if ready.error:
        _not_prepared(builder, step_id, ready.error)
        return
    builder.record(StepPrepared(step_id, ready.inputs, ready.run, ready.keep))
    if not ready.run:
        builder.record(StepSkipped(step_id, NOT_KEPT))
    elif needed(builder, builder.plan(step_id), now=True):  # while its scripts ran, others may have given what it gives
        start_work(builder, builder.plan(step_id), _object.decode(ready.inputs), ready.keep)


def _not_prepared(builder: DecisionBuilder, step_id: str, error: str) -> None:
    builder.record(StepPrepared(step_id, error=error))
    builder.record(StepFailed(step_id, error))


def _matched(builder: DecisionBuilder, token: str, result: TaskResult) -> None:
    step_id, name, index = match_parts(token)
    if builder.flow.over or builder.flow.state.steps[step_id].status != "pending":
        return
    if result.error is not None:
        text = f"match of '{name}' failed: {result.error.message}"
        builder.record(InputMatched(step_id, name, index, matched=False, error=text))
        builder.record(StepFailed(step_id, text))
    else:
        builder.record(InputMatched(step_id, name, index, _bool.decode(result.output)))


def _mapped(builder: DecisionBuilder, token: str, result: TaskResult) -> None:
    plan, _, item = builder.flow.at(token)
    if not item.open or not builder.flow.hears:
        return
    if result.error is not None:
        failed(builder, plan, token, result.error.message, item.attempts + 1)
    else:
        mapped(builder, plan, token, _object.decode(result.output))


def _undone(builder: DecisionBuilder, token: str, result: TaskResult) -> None:
    plan, _, _ = builder.flow.at(token)
    if result.error is None:
        builder.record(CompSucceeded(plan.id, token))
    elif not builder.flow.over:  # else the rollback of the whole run comes to it in its builder
        builder.record(CompFailed(plan.id, token, result.error.message))
