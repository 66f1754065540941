"""Recording mode: calls become steps as they arrive, and run like all tool steps.

A recording never ends by itself. Each call is a message whose sender waits: it is named, its references are checked,
it is recorded, and only then is the tool called. The answer is sent with the decision on its result.
"""

from __future__ import annotations

import heapq
from typing import Any

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.limits import IN_FLIGHT, MAX_RECORDED_STEPS
from plait.dialects.refs.definition.plan import StepPlan
from plait.dialects.refs.definition.rules.names import step_name
from plait.dialects.refs.recording.arguments import BAD_REF, Known, missing_refs, read_arguments
from plait.dialects.refs.recording.step_names import base_of, name_flaw, next_number, numbered
from plait.dialects.refs.references.resolve import resolve
from plait.kernel.effects import Answer, CancelTask, SetTimer
from plait.kernel.errors import Conflict, ErrorInfo, Flaw, InvalidInput, PlaitError
from plait.kernel.events import RunReopened
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.inputs import Loaded, Message, Patch, Resume, TaskResult
from plait.kernel.task_inputs import EMPTY
from plait.kernel.values import ABSENT, NULL

from .decision_builder import DecisionBuilder
from .ending import end
from .events import CallRecorded, CallRejected, InputMerged, RefsResumed, StepCompleted, StepFailed, StepStarted
from .failures import error, of_task
from .recording_messages import (
    CALL,
    CANCEL_CALL,
    MESSAGES,
    PRESET,
    STOP,
    CallBody,
    CancelCallBody,
    PresetBody,
    StopBody,
    read_body,
)
from .resuming import DEADLINE
from .tasks import action_task

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
INPUT = "input"


def takes(builder: DecisionBuilder, input: Any, *, loaded: bool) -> bool:
    """Decides an input that means something else to a recording than to other runs; returns whether it did. `loaded` is
    True for the first input since the run was loaded."""
    match input:
        case Message():
            message(builder, input)
        case TaskResult():
            result(builder, input)
        case Loaded():
            if loaded:
                interrupt(builder)
        case Resume(mode="retry"):
            resume(builder, input)
        case Patch():
            fix = "set results with `preset`, and leave steps out when it is saved"
            raise Conflict("no_patch", "a recording can't be patched", fix=fix)
        case _:
            return False
    return True


def message(builder: DecisionBuilder, found: Message) -> None:
    if builder.over:
        raise closed(builder)
    match found.name:
        case "call":
            _call(builder, found, read_body(CALL, found.body, CallBody))
        case "preset":
            _preset(builder, read_body(PRESET, found.body, PresetBody))
        case "stop":
            _stop(builder, read_body(STOP, found.body, StopBody))
        case "cancel_call":
            _cancel_call(builder, read_body(CANCEL_CALL, found.body, CancelCallBody))
        case _:
            known = ", ".join(f"`{name}`" for name in MESSAGES)
            raise InvalidInput("unknown_message", f"a recording takes no message `{found.name}`", fix=f"send {known}")


def closed(builder: DecisionBuilder) -> Conflict:
    run_id = caller_id(builder.context.info.run_id)
    return Conflict(
        "recording_closed",
        f"recording {run_id} has {builder.state.status}",
        fix=f"reopen it with `plait retry {run_id}`, or start a new one",
    )


# -- calls -------------------------------------------------------------------------------------------------------------


def _call(builder: DecisionBuilder, found: Message, body: CallBody) -> None:
    state = builder.state
    refusal = _refusal(builder, body)
    arguments = read_arguments(body.arguments, known(builder))
    if refusal is None and arguments.flaws:
        refusal = InvalidInput(BAD_REF, arguments.flaws[0].message, flaws=arguments.flaws)
    if refusal is not None:
        builder.record(CallRejected(found.id, body.tool, refusal.code, refusal.what, body.session))
        builder.decision.refusal = refusal
        return
    base = base_of(body.bare or body.tool.rpartition(":")[2])
    name = numbered(base, next_number(base, state.counters))
    builder.record(
        CallRecorded(
            step=name,
            tool=body.tool,
            server=body.server,
            input=Raw(_encode(arguments.stored)),
            session=body.session,
            call=found.id,
            asks=found.asks,
            read_only=body.read_only,
        )
    )
    builder.decision.replies_later = found.asks
    advance(builder)


def _refusal(builder: DecisionBuilder, body: CallBody) -> PlaitError | None:
    if len(builder.state.recorded) >= MAX_RECORDED_STEPS:
        what = f"this recording has {MAX_RECORDED_STEPS:,} steps, and no more fit"
        return Conflict("too_large", what, fix="stop it, and start another")
    if not isinstance(body.arguments, dict):
        text = f"`{body.tool}` takes an object as its arguments"
        return InvalidInput("input_not_object", text, flaws=[Flaw("input_not_object", "/arguments", text)])
    return None


def known(builder: DecisionBuilder) -> Known:
    """What references may name now."""
    run, state = builder.run, builder.state
    works = {name: run.work(name) for name in state.recorded}
    return Known(
        run.scope(),
        tuple(name for name, work in works.items() if work.status in ("waiting", "running")),
        {name: work.error.message for name, work in works.items() if work.error is not None},
    )


def advance(builder: DecisionBuilder) -> None:
    """Starts calls that wait for nothing any more, in order of arrival, as many as fit."""
    run = builder.run
    while run.ready:
        step = builder.plan.order[heapq.heappop(run.ready)]
        if run.work(step.name).status == "waiting":
            why = _unfit(builder, step)
            if why is None:
                heapq.heappush(run.line, step.position)
            else:
                fail(builder, step.name, why)
    while run.line and run.in_flight < IN_FLIGHT:
        _start(builder, builder.plan.order[heapq.heappop(run.line)])


def _unfit(builder: DecisionBuilder, step: StepPlan) -> ErrorInfo | None:
    """Why a call that has waited for others can't be made."""
    failed = next((name for name in sorted(step.needs) if builder.run.work(name).status == "failed"), None)
    if failed is not None:
        why = builder.run.work(failed).error
        return error("dependency_failed", f"it refers to {failed}, which failed", why)
    flaws = missing_refs(step.input, builder.run.scope())
    return error(BAD_REF, flaws[0].message) if flaws else None


def _start(builder: DecisionBuilder, step: StepPlan) -> None:
    found = resolve(step.input, builder.run.scope())
    builder.record(StepStarted(step.name, "tool", Raw(_encode(found.value)) if found.value else EMPTY))
    if found.too_large:
        fail(builder, step.name, error("too_large", "the references of its input bring in more than 16 MB"))
        return
    builder.effect(action_task(builder, step, None, builder.run.work(step.name)))


def result(builder: DecisionBuilder, found: TaskResult) -> None:
    """Handles the answer of a tool, or the failure to ask it."""
    name = str(found.token)
    if name not in builder.state.recorded or builder.run.work(name).status != "running":
        return
    if found.error is not None:
        fail(builder, name, of_task(builder.plan.steps[name], found.error), attempts=found.attempt)
    else:
        _answered(builder, name, _decode(found.output))
    if not builder.over:
        advance(builder)


def _answered(builder: DecisionBuilder, name: str, whole: dict[str, Any]) -> None:
    given: dict[str, Any] = whole["result"]
    if given.get("isError"):
        tool = builder.state.recorded[name].tool
        fail(builder, name, error("tool_error", f'Tool "{tool}" returned an error: {_text(given)}'), given)
        return
    builder.record(StepCompleted(name, Raw(_encode(whole["output"])), late=builder.over))
    _answer(builder, name, {"result": given, "output": whole["output"]})


def fail(
    builder: DecisionBuilder, name: str, why: ErrorInfo, given: dict[str, Any] | None = None, attempts: int = 1
) -> None:
    """Fails the step of a failed call; the tool's result, if any, is passed on to the caller."""
    builder.record(StepFailed(name, why, attempts=attempts, late=builder.over))
    _answer(
        builder, name, {"error": {"code": why.code, "message": why.message}} if given is None else {"result": given}
    )


def _answer(builder: DecisionBuilder, name: str, body: dict[str, Any]) -> None:
    call = builder.state.recorded[name]
    if call.caller:
        run_id = caller_id(builder.context.info.run_id)
        builder.effect(Answer(call.caller, Raw(_encode({"run": run_id, "step": name, **body}))))


def _text(given: dict[str, Any]) -> str:
    blocks: list[Any] = given.get("content") or []
    return " ".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text").strip() or "no text"


def _cancel_call(builder: DecisionBuilder, body: CancelCallBody) -> None:
    """Cancels a call for its caller: the server is told, and the step fails."""
    calls = builder.state.recorded
    name = next((name for name, call in calls.items() if call.caller == body.call), None)
    if name is None or builder.run.work(name).status not in ("waiting", "running"):
        return
    if builder.run.work(name).status == "running":
        builder.effect(CancelTask(TaskToken(name)))
    fail(builder, name, error("cancelled", "its caller cancelled it"))
    advance(builder)


# -- presets -----------------------------------------------------------------------------------------------------------


def _preset(builder: DecisionBuilder, body: PresetBody) -> None:
    if body.step == INPUT:
        _merge_input(builder, body.output)
    elif body.step in builder.state.recorded:
        _set_result(builder, body)
    else:
        _add_result(builder, body)
    builder.decision.reply = Raw(_encode({"stepName": body.step}))


def _merge_input(builder: DecisionBuilder, fields: Any) -> None:
    if not isinstance(fields, dict):
        raise bad_preset("/output", "the input of a recording is merged with an object of fields")
    builder.record(InputMerged(Raw(_encode(fields))))


def _set_result(builder: DecisionBuilder, body: PresetBody) -> None:
    work = builder.run.work(body.step)
    if work.status in ("waiting", "running"):
        raise Conflict("step_running", f"the call {body.step} is under way", fix="wait for its result")
    if work.status == "completed" and not body.replace:
        raise Conflict(
            "step_completed",
            f"step {body.step} has a result",
            fix="send `replace: true`; steps that read it are then marked stale",
        )
    builder.record(StepCompleted(body.step, Raw(_encode(body.output)), attempts=0, preset=True))


def _add_result(builder: DecisionBuilder, body: PresetBody) -> None:
    if name_flaw(body.step) is not None:
        raise bad_preset("/stepName", f'step name "{body.step}" is not valid; use "{step_name(body.step)}"')
    if len(builder.state.recorded) >= MAX_RECORDED_STEPS:
        raise Conflict("too_large", f"this recording has {MAX_RECORDED_STEPS:,} steps, and no more fit")
    stored = _ready_value(builder, body.input, "/input")
    builder.record(CallRecorded(step=body.step, tool=body.tool, input=Raw(_encode(stored)), preset=True))
    builder.record(StepCompleted(body.step, Raw(_encode(body.output)), attempts=0, preset=True))


def bad_preset(pointer: str, what: str) -> InvalidInput:
    return InvalidInput("bad_preset", what, flaws=[Flaw("bad_preset", pointer, what)])


def _ready_value(builder: DecisionBuilder, given: Any, pointer: str) -> Any:
    """The stored form of a value whose references must all be known now."""
    found = read_arguments(given, known(builder))
    flaws = [Flaw(flaw.code, pointer + flaw.pointer, flaw.message) for flaw in found.flaws]
    flaws += [Flaw(BAD_REF, pointer, f"@{name} is still under way; wait for it") for name in found.waits_for]
    if flaws:
        raise InvalidInput(BAD_REF, flaws[0].message, flaws=flaws)
    return found.stored


# -- stopping and resuming ---------------------------------------------------------------------------------------------


def _stop(builder: DecisionBuilder, body: StopBody) -> None:
    output, returns = _last_output(builder), ABSENT
    if body.output is not msgspec.UNSET:
        stored = _ready_value(builder, body.output, "/output")
        output = Raw(_encode(resolve(stored, builder.run.scope()).value))
        returns = Raw(_encode(stored))
    for name in [name for name in builder.state.recorded if builder.run.work(name).status == "waiting"]:
        fail(
            builder, name, error("recording_closed", "the recording was stopped before it could be called"), attempts=0
        )
    end(builder, "stop", output, returns=returns)
    builder.decision.reply = Raw(_encode({"output": output}))


def _last_output(builder: DecisionBuilder) -> Raw:
    """The output of the last call that succeeded."""
    calls, run = builder.state.recorded, builder.run
    done = [name for name, call in calls.items() if call.tool and run.work(name).status == "completed"]
    return run.work(max(done, key=lambda name: calls[name].ended)).output if done else NULL


def resume(builder: DecisionBuilder, request: Resume) -> None:
    """Reopens the recording for more calls; work in flight at its end may still be reported."""
    state = builder.state
    if state.status == "running":
        raise Conflict("nothing_to_resume", "the recording is open", fix="call a tool")
    due = state.deadline if request.deadline is None else request.deadline
    if due is not None and builder.now >= due:
        fix = "give a new one: retry with `deadline_ms`"
        raise Conflict("deadline_passed", "the deadline of the recording has passed", fix=fix)
    builder.decision.reopen = "retry"
    builder.folding.fold(RunReopened("retry"), builder.now)  # the kernel records it before the events of this decision
    builder.record(RefsResumed("failed", [], deadline=request.deadline))
    if due is not None:
        builder.effect(SetTimer(DEADLINE, due))


def interrupt(builder: DecisionBuilder) -> None:
    """Fails the calls in flight after a load: nobody waits for them. They are not repeated, since it is unknown whether
    they were done."""
    for name in [name for name in builder.state.recorded if builder.run.work(name).status in ("waiting", "running")]:
        fail(builder, name, error("interrupted", "the engine stopped while it was under way; it is not repeated"))
