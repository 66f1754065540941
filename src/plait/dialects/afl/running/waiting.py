"""Why a run does not proceed, in a sentence for each reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.machine import RunInfo, TaskFacts
from plait.kernel.moment import utc
from plait.kernel.view import Reason

from .afl_run import AflRun
from .nodes import StepNode, path_of
from .state import Binding
from .states import EVENT_TRANSMIT
from .view import token_of
from .work import child_run_id

Facts = Mapping[TaskToken, TaskFacts]
_MOST = 1_000


def reasons(run: AflRun, info: RunInfo, tasks: Facts) -> list[Reason]:
    if run.state.status != "running":
        return []
    found: list[Reason] = []
    for node in run.nodes.values():
        if len(found) >= _MOST:
            break
        if node.waits:
            found += _outside(run, info, node, tasks)
        elif node.is_block and node.failed and not node.terminal:
            found += _failed_block(node)
    return found or [Reason("step", "the next iteration is about to start")]


def _outside(run: AflRun, info: RunInfo, node: StepNode, tasks: Facts) -> Iterator[Reason]:
    path = path_of(node)
    token = token_of(run, node)
    facts = None if token is None else tasks.get(token)
    if node.record.state != EVENT_TRANSMIT:
        yield Reason("script", f"step `{path}` runs its script", node.id, short=f"script of `{path}`")
        return
    event = run.event_of(node)
    if event is None:
        return
    binding = run.state.start.bindings.get(event.event_type) or Binding()
    if facts is not None and facts.retry_at is not None:
        most = f"attempt {facts.attempt + 1} of {facts.max_attempts} of `{event.event_type}`"
        why = "" if facts.error is None else f": {facts.error.message}"
        yield Reason("retry", f"{most} at {utc(facts.retry_at)}{why}", node.id, facts.retry_at, most)
    elif binding.kind == "child":
        child = caller_id(child_run_id(info.run_id, event.event_id))
        yield Reason("child", f"step `{path}` waits for child run `{child}`", node.id, short=f"child run of `{path}`")
    else:
        since = f"since {utc(event.created_at)}"
        kind = "step" if binding.kind in ("python", "http", "prompt") else "task"
        yield Reason(kind, f"step `{path}` waits for `{event.event_type}` ({since})", node.id)


def _failed_block(node: StepNode) -> Iterator[Reason]:
    inside = [*node.members.values(), *node.subs]
    failed = next((each for each in inside if each.terminal and not each.complete), None)
    for each in inside:
        if not each.terminal and failed is not None:
            text = f"`{path_of(failed)}` failed; its block waits for `{path_of(each)}`"
            yield Reason("join", text, each.id)
