"""The results of the work that a run requested."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.condition import Condition
from plait.dialects.refs.definition.plan import StepPlan
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import TaskToken
from plait.kernel.inputs import ChildFinished, ChildStarted, TaskResult
from plait.kernel.values import MAX_BYTES

from .child_ids import child_id
from .children import child_error, finished_output, is_child, is_waited_child, started_output
from .decision_builder import DecisionBuilder
from .ending import end, fail_run
from .events import StepCompleted, StepFailed, StepRaw
from .failures import error, of_run, of_task
from .state import TRANSFORM, Work, split_id, work_id
from .tasks import transform_task

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def task_result(builder: DecisionBuilder, result: TaskResult) -> None:
    found = _running(builder, result.token)
    if found is None:
        return
    step, index, work = found
    transformed = result.token.endswith(TRANSFORM)
    if result.error is not None:
        why = of_task(step, result.error, transform=transformed)
        fail_work(builder, step, index, why, max(work.attempts, result.attempt))
    elif transformed:
        complete_work(builder, step, index, result.output, work.attempts)
    else:
        returned(builder, step, index, result.output, result.attempt)


def child_started(builder: DecisionBuilder, child: ChildStarted) -> None:
    """Completes the step of a detached child, which only waits for its start."""
    found = _running(builder, child.token)
    if found is None or not is_child(found[0]) or is_waited_child(found[0], found[2]):
        return
    step, index, work = found
    if child.run_id == _child_id(builder, step, index, work):
        returned(builder, step, index, started_output(builder, step, index, work), 1)


def child_finished(builder: DecisionBuilder, child: ChildFinished) -> None:
    found = _running(builder, child.token)
    if found is None or found[2].raw or child.run_id != _child_id(builder, *found):
        return
    step, index, work = found
    if child.status != "refused" and not is_waited_child(step, work):
        # It has started, whatever became of it: the notice of that may still be in transit
        returned(builder, step, index, started_output(builder, step, index, work), 1)
    elif child.status == "completed":
        returned(builder, step, index, finished_output(step, child), 1)
    else:
        fail_work(builder, step, index, child_error(child), 1)


def _child_id(builder: DecisionBuilder, step: StepPlan, index: int | None, work: Work) -> str:
    return child_id(builder.context.info.run_id, step.name, index, work.generation)


def _running(builder: DecisionBuilder, token: TaskToken) -> tuple[StepPlan, int | None, Work] | None:
    """The work of a token, if it is in flight; anything else was reported before."""
    name, index = split_id(token.removesuffix(TRANSFORM))
    work = builder.run.find(name, index)
    if work is None or work.status != "running" or (token.endswith(TRANSFORM) and not work.raw):
        return None
    if not token.endswith(TRANSFORM) and work.raw:
        return None
    return builder.plan.steps[name], index, work


# -- success -----------------------------------------------------------------------------------------------------------


def returned(builder: DecisionBuilder, step: StepPlan, index: int | None, output: Raw, attempts: int) -> None:
    """Handles the result of the work itself, which a transform may still reshape."""
    if not step.action.transform:
        complete_work(builder, step, index, output, attempts)
        return
    builder.record(StepRaw(step.name, output, index, attempts))
    if not builder.over:
        builder.effect(transform_task(builder, step, index, builder.run.work(step.name, index)))


def complete_work(builder: DecisionBuilder, step: StepPlan, index: int | None, output: Raw, attempts: int) -> None:
    output, misfit = _checked(step, output)
    if misfit:
        fail_work(
            builder, step, index, error("output_mismatch", f"the output does not fit its schema: {misfit}"), attempts
        )
        return
    builder.record(StepCompleted(step.name, output, index, attempts, late=builder.over))
    if builder.over:
        return
    if index is None:
        bail(builder, step)
    else:
        iteration_settled(builder, step)


def _checked(step: StepPlan, output: Raw) -> tuple[Raw, str]:
    """The part of an output that is kept, and its flaw."""
    schema = step.schema
    if schema is None:
        return output, ""
    value = _decode(output)
    if step.kind == "tool" and not step.action.transform:
        cut = schema.cut(value)
        if cut != value:
            value, output = cut, Raw(_encode(cut))
    return output, schema.misfit(value)


def bail(builder: DecisionBuilder, step: StepPlan) -> None:
    """Tested after the step's own success."""
    if step.bail is None:
        return
    met = step.bail.judge(builder.run.scope())[0] if isinstance(step.bail, Condition) else step.bail
    if met:
        end(builder, "bail", builder.run.work(step.name).output, step.name)


# -- failure -----------------------------------------------------------------------------------------------------------


def fail_work(builder: DecisionBuilder, step: StepPlan, index: int | None, why: ErrorInfo, attempts: int) -> None:
    """Fails a step or an iteration for good; `onError` decides what follows."""
    builder.record(StepFailed(step.name, why, index, attempts, late=builder.over))
    if builder.over:
        return
    if step.on_error == "fail":
        fail_run(builder, of_run(work_id(step.name, index), why, attempts))
    elif index is not None:
        iteration_settled(builder, step)


# -- iterations --------------------------------------------------------------------------------------------------------


def iteration_settled(builder: DecisionBuilder, step: StepPlan) -> None:
    """Starts the next iteration, or ends the loop after the last one."""
    run = builder.run
    loop = run.loops[step.name]
    if loop.settled == len(loop.items):
        finish_loop(builder, step)
    else:
        run.queue_loop(step)


def finish_loop(builder: DecisionBuilder, step: StepPlan) -> None:
    """Completes the loop with an array by position; a failed iteration is null."""
    loop = builder.run.state.loops[step.name]
    output = Raw(_encode([loop.works[index].output for index in range(loop.count)]))
    if len(bytes(output)) > MAX_BYTES:
        what = f"the array of its outputs has {len(bytes(output)):,} bytes; the limit is {MAX_BYTES:,}"
        builder.record(StepFailed(step.name, error("too_large", what)))
        if step.config.on_error != "continue":
            fail_run(builder, of_run(step.name, error("too_large", what)))
        return
    builder.record(StepCompleted(step.name, output))
    bail(builder, step)
