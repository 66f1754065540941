"""Continuing a run: after a load, and after a decision that left work for later."""

from __future__ import annotations

from plait.kernel.effects import Effect

from .advance import match_tasks, recover_preparing
from .children import child_of
from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .tasks import compensation_task, item_inputs, map_outputs_task, missing_handler, prepare_task, work_task
from .work import blocked, failed, fill, give_up_strays

INTERRUPTED = "its process died after the run had ended"


def after_load(builder: DecisionBuilder) -> None:
    """Recovers a run just loaded, none of whose work is in flight here. After the outcome, work that was in flight is
    not redone; an answer from elsewhere may still come."""
    if builder.flow.over:
        for token, plan in local_work(builder) if builder.flow.takes_results else ():
            if builder.flow.item(plan.id, token).returned:
                builder.effect(map_outputs_task(builder, plan, token))
            else:
                failed(builder, plan, token, INTERRUPTED)
    else:
        recover_preparing(builder)
        go_on(builder)


def go_on(builder: DecisionBuilder) -> None:
    """Checks everything: a fork may start in the middle of a decision, and a waiting retry frees its slot."""
    if not builder.flow.over:
        give_up_strays(builder)
        fill_all(builder)
        builder.touch_all()


def fill_all(builder: DecisionBuilder) -> None:
    for step_id in list(builder.flow.slots):
        fill(builder, builder.plan(step_id))


def local_work(builder: DecisionBuilder) -> list[tuple[str, StepPlan]]:
    """Items in flight in this process, or in one that owned the run before it."""
    flow = builder.flow
    return [
        (token, builder.plan(step_id))
        for step_id, slots in flow.slots.items()
        if slots.active and builder.plan(step_id).step.type not in ("flow", "run")
        for token, item in flow.state.steps[step_id].items.items()
        if item.status == "active" and token not in flow.awaited
    ]


# -- effects in flight -------------------------------------------------------------------------------------------------


def pending_effects(builder: DecisionBuilder, *, recovered: bool) -> list[Effect]:
    found: list[Effect] = [prepare_task(builder, builder.plan(step_id)) for step_id in sorted(builder.preparing)]
    for step_id, plan in builder.flow.compiled.steps.items():
        items = builder.flow.state.steps[step_id].items
        found += match_tasks(builder, plan)
        if items and plan.step.type not in ("flow", "run"):
            found += _work(builder, plan, recovered=recovered)
        found += [
            map_outputs_task(builder, plan, token) for token, item in items.items() if item.returned and item.open
        ]
        found += [
            compensation_task(builder, plan, token) for token, item in items.items() if item.status == "compensating"
        ]
    found += [
        compensation_task(builder, builder.plan(former.step), token)
        for token, former in builder.flow.state.former.items()
        if former.item.status == "compensating"
    ]
    return found


def _work(builder: DecisionBuilder, plan: StepPlan, *, recovered: bool) -> list[Effect]:
    step = builder.flow.state.steps[plan.id]
    recall = recovered and plan.step.http is not None and plan.step.http.recall
    lacking = missing_handler(builder.context, plan.step)
    found: list[Effect] = []
    for token, item in step.items.items():
        waits = item.status == "pending" and item.retry_at is not None and step.status == "active"
        begun = item.status == "active" and not item.returned and (item.accepted_at is None or recall)
        if waits or begun:
            found.append(work_task(builder, plan, token) if lacking is None else blocked(plan, lacking))
    return found


def children_again(builder: DecisionBuilder) -> list[Effect]:
    """Child runs that a fork starts: those that its log has in flight belong to the original run."""
    return [child_of(builder, plan, token, item_inputs(builder, plan, token)) for token, plan in children(builder)]


def children(builder: DecisionBuilder) -> list[tuple[str, StepPlan]]:
    """Child runs that are not known to have ended."""
    return [
        (token, plan)
        for step_id, plan in builder.flow.compiled.steps.items()
        if plan.step.type in ("flow", "run")
        for token, item in builder.flow.state.steps[step_id].items.items()
        if item.status == "active"
    ]
