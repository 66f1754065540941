"""Why a run does not proceed, in a sentence for each reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plait.dialects.refs.definition.plan import StepPlan
from plait.kernel.ids import Millis, TaskToken, caller_id
from plait.kernel.machine import RunInfo, TaskFacts
from plait.kernel.moment import utc
from plait.kernel.view import Reason

from .child_ids import child_id
from .children import is_child
from .refs_run import RefsRun
from .state import Work, work_id

Facts = Mapping[TaskToken, TaskFacts]


def reasons(run: RefsRun, info: RunInfo, tasks: Facts) -> list[Reason]:
    state = run.state
    if state.status != "running":
        return []
    if not state.begun:
        due = Millis(run.plan.start_at or 0)
        return [Reason("sleep", f"starts at {utc(due)}", until=due, short="delayed start")]
    found = [*_loops(run)]
    for name, index, work in run.under_way():
        found += _work(run.plan.steps[name], index, work, info, tasks, alone=index is None)
    if state.mode == "recording":
        text = f"recording: next tool call, {len(run.plan.steps)} steps so far"
        found.append(Reason("message", text, short="recording"))
    if not found:
        found = [Reason("step", f"step `{run.plan.order[place].name}` is next") for place in run.line[:1]]
    return found or [Reason("step", "the next step is about to start")]


def _loops(run: RefsRun) -> Iterator[Reason]:
    for name, loop in run.loops.items():
        text = f"`{name}`: {loop.settled} of {len(loop.items)} done, {loop.running} running"
        yield Reason("step", text, name)


def _work(
    step: StepPlan, index: int | None, work: Work, info: RunInfo, tasks: Facts, *, alone: bool
) -> Iterator[Reason]:
    id = work_id(step.name, index)
    facts = tasks.get(TaskToken(id))
    if is_child(step) and not work.raw:
        child = caller_id(child_id(info.run_id, step.name, index, work.generation))
        yield Reason("child", f"child run `{child}`", id, short=f"child run of `{id}`")
    elif facts is not None and facts.retry_at is not None:
        most = f"retry {facts.attempt} of {facts.max_attempts} of `{id}`"
        why = f": {facts.error.message}" if facts.error is not None else ""
        yield Reason("retry", f"{most} at {utc(facts.retry_at)}{why}", id, facts.retry_at, most)
    elif alone:
        yield Reason("step", f"step `{id}`: {_action(step)} since {utc(work.started_at)}", id)


def _action(step: StepPlan) -> str:
    match step.kind:
        case "tool":
            server, colon, tool = step.action.name.partition(":")
            return f"tool `{tool}` on `{server}`" if colon else f"tool `{step.action.name}`"
        case "function":
            return f"function `{step.action.name}`"
        case _:
            return step.kind
