"""What the machine's tasks came to: work, the scripts before and after it, and undoing."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel.inputs import TaskResult

from .advance import needed
from .decision_builder import DecisionBuilder
from .events import CompFailed, CompSucceeded, InputMatched, StepFailed, StepPrepared, StepSkipped
from .tokens import MATCH, PREPARE, SHAPE, UNDO, match_parts, undone_item
from .work import NOT_KEPT, accepted, failed, start_work, succeeded


class _Readied(msgspec.Struct):
    """As `hands.Readied`, with its values left as they are."""

    inputs: Raw
    run: bool = True
    keep: list[int] | None = None
    error: str = ""


class _Worked(msgspec.Struct):
    outputs: Raw
    memo: bool = False


_NOTHING = _Worked(Raw(b"{}"))

_object = msgspec.json.Decoder(dict[str, Raw])
_readied = msgspec.json.Decoder(_Readied)
_worked = msgspec.json.Decoder(_Worked | None)
_bool = msgspec.json.Decoder(bool)


def task_result(turn: DecisionBuilder, result: TaskResult) -> None:
    token = result.token
    if turn.flow.find(token) is not None:
        _worked_on(turn, token, result)
    elif token.startswith(PREPARE):
        _prepared(turn, token.removeprefix(PREPARE), result)
    elif token.startswith(MATCH):
        _matched(turn, token, result)
    elif token.startswith(SHAPE):
        _shaped(turn, token.removeprefix(SHAPE), result)
    elif token.startswith(UNDO):
        _undone(turn, undone_item(token), result)


def _worked_on(turn: DecisionBuilder, token: str, result: TaskResult) -> None:
    plan, _, item = turn.flow.at(token)
    if not item.open or not turn.flow.hears:
        return
    if result.error is not None:
        failed(turn, plan, token, result.error.message, result.attempts)
    elif plan.step.type == "async":
        accepted(turn, plan, token, result.attempt)
    else:
        done = _worked.decode(result.output) or _NOTHING
        succeeded(turn, plan, token, done.outputs, memo=done.memo, attempts=result.attempts)


def _prepared(turn: DecisionBuilder, step_id: str, result: TaskResult) -> None:
    turn.preparing.discard(step_id)
    if turn.flow.over or turn.flow.state.steps[step_id].status != "pending":
        return
    turn.touched.add(step_id)
    if result.error is not None:
        _not_prepared(turn, step_id, f"predicate evaluation failed: {result.error.message}")
        return
    ready = _readied.decode(result.output)
    if ready.error:
        _not_prepared(turn, step_id, ready.error)
        return
    turn.record(StepPrepared(step_id, ready.inputs, ready.run, ready.keep))
    if not ready.run:
        turn.record(StepSkipped(step_id, NOT_KEPT))
    elif needed(turn, turn.plan(step_id), now=True):  # while its scripts ran, others may have given what it gives
        start_work(turn, turn.plan(step_id), _object.decode(ready.inputs), ready.keep)


def _not_prepared(turn: DecisionBuilder, step_id: str, error: str) -> None:
    turn.record(StepPrepared(step_id, error=error))
    turn.record(StepFailed(step_id, error))


def _matched(turn: DecisionBuilder, token: str, result: TaskResult) -> None:
    step_id, name, index = match_parts(token)
    if turn.flow.over or turn.flow.state.steps[step_id].status != "pending":
        return
    if result.error is not None:
        text = f"match of '{name}' failed: {result.error.message}"
        turn.record(InputMatched(step_id, name, index, matched=False, error=text))
        turn.record(StepFailed(step_id, text))
    else:
        turn.record(InputMatched(step_id, name, index, _bool.decode(result.output)))


def _shaped(turn: DecisionBuilder, token: str, result: TaskResult) -> None:
    plan, _, item = turn.flow.at(token)
    if not item.open or not turn.flow.hears:
        return
    if result.error is not None:
        failed(turn, plan, token, result.error.message, item.attempts + 1)
    else:
        done = _worked.decode(result.output) or _NOTHING
        succeeded(turn, plan, token, done.outputs, attempts=item.attempts + 1)


def _undone(turn: DecisionBuilder, token: str, result: TaskResult) -> None:
    plan, _, _ = turn.flow.at(token)
    if result.error is None:
        turn.record(CompSucceeded(plan.id, token))
    elif not turn.flow.over:  # else the rollback of the whole run comes to it in its turn
        turn.record(CompFailed(plan.id, token, result.error.message))
