"""What a failed run resumes: which values are withdrawn, which steps restart, and under which tokens.

The outputs of a completed step don't hold any more once its work was compensated: they are withdrawn when the step is
redone. A step that was given such a value restarts with what it is given then. Work that was compensated, or that
restarts with other inputs, is new work: it has a new token, because the token is its idempotency key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .compiled_plan import Wanted
from .events import FlowResumed
from .flow import Flow
from .state import FormerItem, ItemState, StepState

Withdrawn = dict[str, set[int]]
"""Name -> the places of values that don't hold any more."""


def withdrawn_values(flow: Flow, steps: Iterable[str]) -> Withdrawn:
    """The outputs of those of these steps that had completed."""
    found: Withdrawn = {}
    for step_id in steps:
        if flow.state.steps[step_id].status != "completed":
            continue
        for name in flow.compiled.steps[step_id].outputs:
            places = {place for place, value in enumerate(flow.values(name)) if value.step == step_id}
            if places:
                found.setdefault(name, set()).update(places)
    return found


def steps_to_restart(flow: Flow, steps: Iterable[str], withdrawn: Withdrawn) -> list[str]:
    """Those of the steps that had started with a value that is withdrawn."""
    return sorted(
        step_id
        for step_id in steps
        if flow.state.steps[step_id].items
        and any(_was_given(each, withdrawn) for each in flow.compiled.steps[step_id].inputs)
    )


def _was_given(wanted: Wanted, withdrawn: Withdrawn) -> bool:
    places = withdrawn.get(wanted.name, ())
    if wanted.collect == "first" and wanted.match is None:
        return 0 in places
    return bool(places)


# -- folding -----------------------------------------------------------------------------------------------------------


def resume(flow: Flow, event: FlowResumed) -> None:
    steps = flow.state.steps
    withdrawn = withdrawn_values(flow, event.steps)
    _withdraw(flow, withdrawn)
    restarted = _restarted_before(flow, event.steps, withdrawn) if event.restarted is None else event.restarted
    for step_id in event.steps:
        old = steps[step_id]
        if step_id in restarted:
            _keep_former(flow, step_id, old, old.items)
            steps[step_id] = StepState(matches=old.matches, closed=old.closed, generation=old.generation + 1)
        else:
            _keep_former(flow, step_id, old, event.renewed)
            steps[step_id] = _taken_up(old, event.renewed)
    _wait_no_more(flow)
    flow.state.cut = False
    flow.count()
    known = flow.owners.keys() | flow.state.former.keys()
    flow.state.finished = [token for token in flow.state.finished if token in known]


def _withdraw(flow: Flow, withdrawn: Withdrawn) -> None:
    attributes = flow.state.attributes
    for name, places in withdrawn.items():
        kept = [place for place in range(len(attributes[name])) if place not in places]
        left = [attributes[name][place] for place in kept]
        if left:
            attributes[name] = left
        else:
            del attributes[name]
        for step in flow.state.steps.values():
            judged = step.matches.pop(name, {})
            if moved := {new: judged[old] for new, old in enumerate(kept) if old in judged}:
                step.matches[name] = moved


def _restarted_before(flow: Flow, steps: list[str], withdrawn: Withdrawn) -> list[str]:
    """Steps that restarted in logs of older releases: only those with an input that has no value left."""
    emptied = {name for name in withdrawn if name not in flow.state.attributes}
    return [
        step_id
        for step_id in steps
        if flow.state.steps[step_id].items and any(each.name in emptied for each in flow.compiled.steps[step_id].inputs)
    ]


def _keep_former(flow: Flow, step_id: str, step: StepState, tokens: Collection[str]) -> None:
    """Keeps those replaced items that may still be answered or compensated."""
    answers = flow.compiled.steps[step_id].step.type == "async"
    for token, item in step.items.items():
        if token in tokens and item.started_at is not None and (answers or item.status == "compensation_failed"):
            flow.state.former[token] = FormerItem(step_id, item, step.inputs)


def _taken_up(old: StepState, renewed: dict[str, str]) -> StepState:
    """The step with its former work; one without any starts as if for the first time."""
    if not old.items:
        return StepState(matches=old.matches, closed=old.closed, generation=old.generation)
    return StepState(
        status="active",
        started_at=old.started_at,
        opened_seq=old.opened_seq,
        generation=old.generation + any(token in renewed for token in old.items),
        inputs=old.inputs,
        total=old.total,
        dropped=old.dropped,
        items={renewed.get(token, token): _item(item, token in renewed) for token, item in old.items.items()},
        closed=old.closed,
        matches=old.matches,
    )


def _item(item: ItemState, renewed: bool) -> ItemState:
    """Keeps an item that succeeded or is in flight; resets any other."""
    if renewed:
        return ItemState(item.values, item.place)
    if item.status in ("succeeded", "compensation_failed", "active"):
        return item
    return _begun_afresh(item)


def _begun_afresh(item: ItemState) -> ItemState:
    return ItemState(item.values, item.place, round=item.round + 1)


def _wait_no_more(flow: Flow) -> None:
    """Resets items that waited for a retry when the run ended, or that were compensated since; and children that ended
    with the run."""
    for step_id, step in flow.state.steps.items():
        ended_too = flow.state.cut and flow.compiled.steps[step_id].step.type in ("flow", "run")
        for token, item in step.items.items() if step.status == "active" else ():
            compensated = item.status == "compensated"
            if compensated or item.retry_at is not None or (ended_too and item.status == "active"):
                step.items[token] = _begun_afresh(item)
