"""Steps that are runs themselves: a flow with goals of its own, or a run of any dialect."""

from __future__ import annotations

from msgspec import Raw

from plait.dialects.goals.steps.step import Step
from plait.kernel import values
from plait.kernel.effects import Resolution, StartChild
from plait.kernel.ids import RunId, TaskToken

from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .hands import Item
from .state import StartData


def child_of(turn: DecisionBuilder, plan: StepPlan, item: Item) -> StartChild:
    """The run that does the work of an item."""
    run_id = child_id(turn, plan.id, item.token)
    step, token, inputs = plan.step, TaskToken(item.token), _inputs(plan, item)
    if step.flow is not None:
        data = StartData(turn.flow.state.plan.children[step.id], step.id, sorted(_inner_outputs(step)))
        known = Resolution(definition_label(step.flow.goals), data=data)
        return StartChild(token, run_id, turn.around.info.dialect, list(step.flow.goals), inputs, resolved=known)
    if step.run is None:
        raise AssertionError(f"step '{step.id}' is no run")
    return StartChild(token, run_id, step.run.dialect, step.run.definition, inputs)


def _inputs(plan: StepPlan, item: Item) -> Raw:
    """What the child is given: a meta input that differs from item to item is known only here."""
    tokens = {plan.inner[name]: item.token for name, key in plan.metas if key == "receipt_token"}
    return Raw(values.plain({**values.decode(item.inputs), **tokens})) if tokens else item.inputs


def child_id(turn: DecisionBuilder, step_id: str, token: str) -> RunId:
    again = turn.flow.state.steps[step_id].items[token].round
    return child_name(turn.around.info.run_id, step_id, token, again)


def child_name(run_id: RunId, step_id: str, token: str, again: int) -> RunId:
    """A child that is made again, because the run was resumed, has a number behind."""
    found = f"{run_id}:{step_id}:{token}"
    return RunId(f"{found}:{again + 1}" if again else found)


def definition_label(goals: tuple[str, ...] | list[str]) -> str:
    """What lists of runs call it."""
    return ", ".join(goals)


def missing_output(step: Step, outputs: dict[str, Raw]) -> str | None:
    """The name that a flow step maps and its child does not have."""
    if step.flow is None:
        return None
    for _, each in step.outputs():
        mapping = each.detail.mapping
        if mapping is not None and mapping.name and mapping.name not in outputs:
            return mapping.name
    return None


def _inner_outputs(step: Step) -> set[str]:
    return {each.inner(name) for name, each in step.outputs()}
