"""A flow's state, as Argyll's clients read it."""

from __future__ import annotations

from typing import Any, Literal, cast

from plait.dialects.goals.running.machine import GoalsMachine
from plait.dialects.goals.running.state import FlowState, ItemState, StepState, Value
from plait.kernel.ids import Millis, caller_id
from plait.kernel.loader import recorded
from plait.kernel.run import Run
from plait.kernel.store import RunRow
from plait.registry.engine import Engine

from .answers import tidy
from .plans import shown_plan
from .times import UNSET, moment

Status = Literal["active", "completed", "failed"]
_EMPTY_PLAN: dict[str, Any] = {"goals": [], "required": [], "steps": {}, "attributes": {}, "excluded": {}}


async def flow_state(engine: Engine, row: RunRow) -> tuple[dict[str, Any], int]:
    """Returns the state and the number of the next event."""
    run = await engine.kernel.peek(row)
    if not run.state.seq:  # created by another process, and not loaded by any owner yet
        return _unborn(row), 0
    state = state_of(run)
    over = await _outcome_at(engine, run, state)
    found = {
        "id": caller_id(row.id),
        "status": "failed" if state.status == "cancelled" else state.status,
        "created_at": moment(row.created_at),
        "completed_at": moment(over),
        "deactivated_at": moment(_deactivated_at(state)),
        "last_updated": moment(state.updated_at),
        "plan": shown_plan(state.plan),
        "metadata": _metadata(row, state),
        "labels": row.labels,
        "attributes": {name: [_value(each) for each in given] for name, given in state.attributes.items()},
        "executions": {step_id: _execution(step) for step_id, step in state.steps.items()},
    }
    return found | tidy(error=_error(state.status, state.error)), run.state.seq


async def listed_status(engine: Engine, row: RunRow) -> Status:
    """`active` until no work is in progress."""
    if row.status == "running":
        return "active"
    state = state_of(await engine.kernel.peek(row))
    return "active" if _deactivated_at(state) is None else ended_status(row)


def ended_status(row: RunRow) -> Status:
    return "completed" if row.status == "completed" else "failed"


def row_error(row: RunRow) -> str:
    return "" if row.error is None else _error(row.status, row.error.message)


def state_of(run: Run) -> FlowState:
    return cast("GoalsMachine", run.machine).flow.state


def _unborn(row: RunRow) -> dict[str, Any]:
    return {
        "id": caller_id(row.id),
        "status": "active",
        "created_at": moment(row.created_at),
        "completed_at": UNSET,
        "deactivated_at": UNSET,
        "last_updated": moment(row.created_at),
        "plan": _EMPTY_PLAN,
        "metadata": {},
        "labels": row.labels,
        "attributes": {},
        "executions": {},
    }


async def _outcome_at(engine: Engine, run: Run, state: FlowState) -> Millis | None:
    """Returns when the outcome was known; for a run with compensations, that is before its end."""
    if state.status == "active":
        return None
    if run.state.rollback is None:
        return state.ended_at
    told = await recorded(engine.kernel.store, run.id, state.end_seq - 1, 1)
    return told[0].at if told else state.ended_at


def _deactivated_at(state: FlowState) -> Millis | None:
    return state.deactivated_at if state.outlived else state.ended_at


def _metadata(row: RunRow, state: FlowState) -> dict[str, Any]:
    if row.parent is None:
        return {}
    return tidy(
        parent_flow_id=caller_id(row.parent), parent_step_id=state.parent_step, parent_work_item_token=row.parent_token
    )


def _error(status: str, error: str) -> str:
    if status != "cancelled":
        return error
    return f"cancelled: {error}" if error and error != "cancelled" else "cancelled"


def _value(value: Value) -> dict[str, Any]:
    return tidy(step=value.step) | {"value": value.value, "set_at": moment(value.set_at)}


def _execution(step: StepState) -> dict[str, Any]:
    found = {
        "status": step.status,
        "started_at": moment(step.started_at),
        "completed_at": moment(step.ended_at),
        "inputs": step.inputs or {},
        "duration": step.ended_at - step.started_at if step.ended_at and step.started_at else 0,
        "work_items": {token: _item(item, step) for token, item in step.items.items()},
    }
    return found | tidy(
        outputs=step.outputs or None, error=step.error or step.reason, unsatisfied=step.unsatisfied or None
    )


def _item(item: ItemState, step: StepState) -> dict[str, Any]:
    found = {
        "status": item.status,
        "started_at": moment(item.started_at),
        "completed_at": moment(item.ended_at),
        "next_retry_at": moment(item.retry_at),
        "inputs": (step.inputs or {}) if step.total <= 1 else item.values,
        "retry_count": max(item.attempts - (item.status == "failed"), 0),
    }
    return found | tidy(outputs=item.outputs or None, error=item.error)
