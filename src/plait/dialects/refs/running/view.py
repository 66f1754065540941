"""A run as people see it: its input, its steps with their outcomes, and what they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Raw

from plait.dialects.refs.definition.edges import edges_of
from plait.dialects.refs.definition.plan import StepPlan
from plait.dialects.refs.references.heads import INPUT
from plait.kernel import values
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.machine import RunInfo, TaskFacts
from plait.kernel.view import Edge, Node, NodeStatus

from .child_ids import child_id
from .children import is_child
from .refs_run import RefsRun
from .state import TRANSFORM, Loop, Work, work_id

_ITERATIONS_SHOWN: Final = 1_000
"""Iterations shown of one step; failed and running ones come first."""

Facts = Mapping[TaskToken, TaskFacts]


def nodes(run: RefsRun, info: RunInfo, tasks: Facts) -> tuple[list[Node], list[Edge]]:
    found = [Node(id=INPUT, kind="input", label="Input", status="completed", output=_shown(run.state.input))]
    for step in run.plan.order:
        work, loop = run.work(step.name), run.state.loops.get(step.name)
        found.append(_node(run, step, None, work, info, tasks))
        if loop is not None:
            found += [_node(run, step, index, each, info, tasks) for index, each in _iterations(loop)]
    return found, [*_edges(run)]


def _iterations(loop: Loop) -> list[tuple[int, Work]]:
    if len(loop.works) <= _ITERATIONS_SHOWN:
        return sorted(loop.works.items())
    ranked = sorted(loop.works.items(), key=lambda each: (each[1].status == "completed", each[0]))
    return sorted(ranked[:_ITERATIONS_SHOWN])


def _node(run: RefsRun, step: StepPlan, index: int | None, work: Work, info: RunInfo, tasks: Facts) -> Node:
    id = work_id(step.name, index)
    loop = run.state.loops.get(step.name) if index is None else None
    has_child = is_child(step) and work.status != "waiting" and loop is None and work.input
    return Node(
        id=id,
        kind=step.kind,
        label=id,
        status=_status(run, step, index, work, tasks),
        parent=None if index is None else step.name,
        attempts=_attempts(id, work, tasks),
        started_at=work.started_at,
        ended_at=work.ended_at,
        input=_shown(work.input),
        output=_shown(work.output) if work.status == "completed" else None,
        error=work.error,
        skip_reason=_skip_reason(run, work),
        detail=_detail(step, work, loop),
        child=caller_id(child_id(info.run_id, step.name, index, work.generation)) if has_child else None,
        token=None if loop is not None else id + (TRANSFORM if work.raw and step.action.transform else ""),
    )


def _status(run: RefsRun, step: StepPlan, index: int | None, work: Work, tasks: Facts) -> NodeStatus:
    over = run.state.status != "running"
    match work.status:
        case "waiting":
            return "skipped" if over else "pending"
        case "running" if over:
            loop = run.state.loops.get(step.name) if index is None else None
            failed = loop is not None and any(each.status == "failed" for each in loop.works.values())
            return "failed" if failed and step.on_error == "fail" else "cancelled"
        case "running":
            facts = tasks.get(TaskToken(work_id(step.name, index)))
            return "retrying" if facts is not None and facts.retry_at is not None else "running"
        case _:
            return work.status


def _skip_reason(run: RefsRun, work: Work) -> str | None:
    if work.status == "skipped":
        return f"condition {_text(work.skipped_by)} was false: the value was {_text(work.seen)}"
    if work.status == "waiting" and run.state.status != "running":
        return "run ended"
    return None


def _text(raw: Raw) -> str:
    text = bytes(raw).decode()
    return text if len(text) <= 200 else f"{text[:197]}..."


def _attempts(id: str, work: Work, tasks: Facts) -> int:
    facts = tasks.get(TaskToken(id))
    return facts.attempt if facts is not None else work.attempts


def _detail(step: StepPlan, work: Work, loop: Loop | None) -> str:
    parts = [flag for flag in ("preset", "late", "stale", "compensated") if getattr(work, flag)]
    if loop is not None:
        done = sum(each.status == "completed" for each in loop.works.values())
        failed = sum(each.status == "failed" for each in loop.works.values())
        parts.insert(0, f"{done} of {loop.count} done" + (f", {failed} failed" if failed else ""))
    if work.unresolved:
        parts.append(f"not found: {', '.join(work.unresolved[:5])}")
    if step.kind in ("tool", "function"):
        parts.append(f"{step.kind} {step.action.name}")
    return ", ".join(parts)


def _shown(raw: Raw) -> Any:
    return values.decode(raw) if raw else None


# -- edges -------------------------------------------------------------------------------------------------------------


def _edges(run: RefsRun) -> Iterator[Edge]:
    for step in run.plan.order:
        for source, label in edges_of(step, run.plan.declared):
            yield Edge(source, step.name, label)


# -- beside the nodes --------------------------------------------------------------------------------------------------


def is_partial(run: RefsRun) -> bool:
    """Whether it completed, but not all of its steps did."""
    return run.state.status == "completed" and run.has_failed()


def details(run: RefsRun) -> dict[str, Any]:
    state = run.state
    return {
        "mode": state.mode,
        "hash": run.plan.hash,
        "definition": _shown(run.plan.definition),
        "partial": is_partial(run),
        "ended_by": {"how": state.how, "step": state.ended_by or None} if state.how else None,
        "levels": [list(level) for level in run.plan.levels],
        "steps": {
            step.name: _step_details(run.work(step.name), run.state.loops.get(step.name)) for step in run.plan.order
        },
    }


def _step_details(work: Work, loop: Loop | None) -> dict[str, Any]:
    found: dict[str, Any] = {"flags": [flag for flag in ("preset", "late", "stale") if getattr(work, flag)]}
    if work.raw:
        found["raw"] = _shown(work.raw)
    if work.unresolved:
        found["unresolved"] = work.unresolved
    if work.status == "skipped":
        found["condition"], found["value"] = _shown(work.skipped_by), _shown(work.seen)
    if loop is not None:
        statuses = [each.status for each in loop.works.values()]
        found["iterations"] = {
            "total": loop.count,
            "done": statuses.count("completed"),
            "failed": statuses.count("failed"),
            "running": statuses.count("running"),
        }
    return found
