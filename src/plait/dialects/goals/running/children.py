"""Steps that are runs themselves: a flow with goals of its own, or a run of any dialect."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.dialects.goals.planning.request import label_of
from plait.dialects.goals.steps.step import Step
from plait.kernel.effects import Resolution, StartChild
from plait.kernel.ids import RunId, TaskToken

from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .state import StartData

RESULT = "result"
"""The output name for a result that is not an object."""

_object = msgspec.json.Decoder(dict[str, Raw])


def child_of(builder: DecisionBuilder, plan: StepPlan, item: str, inputs: Raw) -> StartChild:
    """The child run that does the work of an item."""
    run_id = child_id(builder, plan.id, item)
    step, token = plan.step, TaskToken(item)
    if step.flow is not None:
        data = StartData(builder.flow.state.plan.children[step.id], step.id, sorted(_inner_outputs(step)))
        known = Resolution(label_of(step.flow.goals), data=data)
        dialect, goals, queueing = builder.context.info.dialect, list(step.flow.goals), step.flow.queueing
        return StartChild(token, run_id, dialect, goals, inputs, resolved=known, queueing=queueing)
    if step.run is None:
        raise AssertionError(f"step '{step.id}' is no run")
    run = step.run
    return StartChild(token, run_id, run.dialect, run.definition, inputs, queueing=run.queueing)


def child_id(builder: DecisionBuilder, step_id: str, token: str) -> RunId:
    again = builder.flow.state.steps[step_id].items[token].round
    return child_name(builder.context.info.run_id, step_id, token, again)


def child_name(run_id: RunId, step_id: str, token: str, again: int) -> RunId:
    """The id of a child run. One that is started again because its parent was resumed gets a number as suffix."""
    found = f"{run_id}:{step_id}:{token}"
    return RunId(f"{found}:{again + 1}" if again else found)


def missing_output(step: Step, outputs: dict[str, Raw]) -> str | None:
    """A name that a flow step maps and its child does not provide."""
    if step.flow is None:
        return None
    for _, each in step.outputs():
        mapping = each.detail.mapping
        if mapping is not None and mapping.name and mapping.name not in outputs:
            return mapping.name
    return None


def named_outputs(output: Raw) -> dict[str, Raw]:
    """The outputs of a child run: the keys of an object; anything else is one output called `result`."""
    text = bytes(output)
    if text.startswith(b"{"):
        return _object.decode(output)
    return {} if text == b"null" else {RESULT: output}


def _inner_outputs(step: Step) -> set[str]:
    return {each.inner(name) for name, each in step.outputs()}
