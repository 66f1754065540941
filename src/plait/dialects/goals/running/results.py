"""The outcome of the work that a run requested: results of tasks, and answers from outside.

Answers from outside are webhooks of async steps, which reach a run as messages: `work:<token>` has the outputs of
an item, an object; `failed:<token>` says why it failed: an object with `detail` or `title`, as in problem+json.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import Conflict, InvalidInput, NotFound
from plait.kernel.inputs import Message, TaskResult

from .advance import needed
from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .events import CompFailed, CompSucceeded, InputMatched, LateResult, StepFailed, StepPrepared, StepSkipped
from .state import COMPENSATION, MAPPING, MATCH, OPEN, PREPARE, ItemState, compensated_item, match_parts
from .tasks import Memoized, Prepared
from .work import NOT_KEPT, accepted, answered, failed, mapped, returned, start_work, stop_waiting

WORK, FAILED = "work:", "failed:"
"""Names of messages, before the token of an item."""

_object = msgspec.json.Decoder(dict[str, Raw])
_prepared_step = msgspec.json.Decoder(Prepared)
_memoized = msgspec.json.Decoder(Memoized)
_bool = msgspec.json.Decoder(bool)


def task_result(builder: DecisionBuilder, result: TaskResult) -> None:
    token = result.token
    if (found := builder.flow.find(token)) is not None:
        _worked_on(builder, found[0], found[2], result)
    elif token.startswith(PREPARE):
        _prepared(builder, token.removeprefix(PREPARE), result)
    elif token.startswith(MATCH):
        _matched(builder, token, result)
    elif token.startswith(MAPPING):
        _mapped(builder, token.removeprefix(MAPPING), result)
    elif token.startswith(COMPENSATION):
        _compensated(builder, compensated_item(token), result)


def _worked_on(builder: DecisionBuilder, plan: StepPlan, item: ItemState, result: TaskResult) -> None:
    token = result.token
    if item.status not in OPEN or not builder.flow.takes_results:
        return
    if result.error is not None:
        failed(builder, plan, token, result.error.message, result.attempt)
    elif result.later:
        accepted(builder, plan, token, result.attempt)
    elif plan.queue:
        returned(builder, plan, token, result.output, memo=result.memo, attempts=result.attempt)
    elif plan.fingerprint:
        done = _memoized.decode(result.output)
        returned(builder, plan, token, done.result, memo=done.memo, attempts=result.attempt)
    else:
        returned(builder, plan, token, result.output, attempts=result.attempt)


def _prepared(builder: DecisionBuilder, step_id: str, result: TaskResult) -> None:
    builder.preparing.discard(step_id)
    if builder.flow.over or builder.flow.state.steps[step_id].status != "pending":
        return
    builder.touched.add(step_id)
    if result.error is not None:
        judged = builder.plan(step_id).step.predicate is not None
        text = f"predicate evaluation failed: {result.error.message}" if judged else result.error.message
        _not_prepared(builder, step_id, text)
        return
    ready = _prepared_step.decode(result.output)
    if ready.error:
        _not_prepared(builder, step_id, ready.error)
        return
    builder.record(StepPrepared(step_id, ready.inputs, ready.run, ready.keep))
    if not ready.run:
        builder.record(StepSkipped(step_id, NOT_KEPT))
    elif needed(builder, builder.plan(step_id), now=True):  # others may have provided its outputs while its scripts ran
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
    if not item.open or not builder.flow.takes_results:
        return
    if result.error is not None:
        failed(builder, plan, token, result.error.message, item.attempts + 1)
    else:
        mapped(builder, plan, token, _object.decode(result.output))


def _compensated(builder: DecisionBuilder, token: str, result: TaskResult) -> None:
    found = builder.flow.done_work(token)
    if found is None:
        return
    if result.error is None:
        builder.record(CompSucceeded(found[0].id, token))
    elif not builder.flow.over:  # else the rollback of the whole run compensates it in its turn
        builder.record(CompFailed(found[0].id, token, result.error.message))


# -- answers from outside ----------------------------------------------------------------------------------------------


def message(builder: DecisionBuilder, sent: Message) -> None:
    kind, _, token = sent.name.partition(":")
    if f"{kind}:" not in (WORK, FAILED):
        raise Conflict(
            "goals.unknown_message",
            f"a run towards goals takes no message '{sent.name[:80]}'",
            fix="send `work:<token>` with the outputs of an async step",
        )
    if (former := builder.flow.state.former.get(token)) is not None:
        _former_answer(builder, former.step, token, kind, sent.body)
        return
    plan, item = awaited(builder, token)
    if f"{kind}:" == FAILED:
        _fail(builder, plan, token, item, reason(values.decode(sent.body)))
    else:
        _answer(builder, plan, token, item, outputs_of(sent.body))


def _former_answer(builder: DecisionBuilder, step_id: str, token: str, kind: str, body: Raw) -> None:
    if f"{kind}:" == FAILED:
        builder.record(LateResult(step_id, token, error=reason(values.decode(body))))
    else:
        builder.record(LateResult(step_id, token, Raw(msgspec.json.encode(outputs_of(body)))))


def awaited(builder: DecisionBuilder, token: str) -> tuple[StepPlan, ItemState]:
    """The item whose answer may come from outside, or has already come."""
    found = builder.flow.find(token)
    if found is None or found[0].step.type != "async" or found[2].started_at is None:
        raise NotFound(
            "goals.unknown_work", f"nobody waits for work '{token[:80]}'", fix="use the webhook as it was sent"
        )
    return found[0], found[2]


def _answer(builder: DecisionBuilder, plan: StepPlan, token: str, item: ItemState, outputs: dict[str, Raw]) -> None:
    if not item.open or item.returned or not builder.flow.takes_results:
        builder.record(LateResult(plan.id, token, Raw(msgspec.json.encode(outputs))))
        return
    stop_waiting(builder, token, item)
    answered(builder, plan, token, outputs)


def _fail(builder: DecisionBuilder, plan: StepPlan, token: str, item: ItemState, error: str) -> None:
    if not item.open or item.returned or not builder.flow.takes_results:
        builder.record(LateResult(plan.id, token, error=error))
        return
    stop_waiting(builder, token, item)
    failed(builder, plan, token, error, item.attempts + 1)


def reason(problem: Any) -> str:
    """The reason that a problem gives: its detail, else its title."""
    if isinstance(problem, dict):
        found = cast("dict[str, Any]", problem)
        for key in ("detail", "title"):
            if isinstance(found.get(key), str) and found[key]:
                return cast("str", found[key])
    return "the step server reported a failure"


def outputs_of(body: Raw) -> dict[str, Raw]:
    try:
        return _object.decode(body)
    except msgspec.ValidationError:
        if bytes(body) == b"null":
            return {}
        raise InvalidInput(
            "goals.bad_outputs", "outputs are no object", fix="send an object of names and values"
        ) from None
