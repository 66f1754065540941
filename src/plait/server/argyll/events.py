"""Translates events into Argyll's: a run's log and the two streams, event by event.

Numbers start at 0, so an event's number is one less than in the log. Some events of the log become two, some none:

    run.started            flow_started            run.completed, run.failed, run.cancelled    the outcome
    task.retry_scheduled   work_not_completed, work_retry_scheduled
    task.dead_lettered     work_not_completed      task.late                                   late_result
    rollback.started       the outcome, if it was not sent before
    rollback.step          comp_started, comp_succeeded, comp_failed; none when a failed compensation is abandoned

The event that ends a run is followed by flow_deactivated if no work is in progress; otherwise the log has that later.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from plait.dialects.goals.planning.plan import Plan
from plait.dialects.goals.running.evolve import GOAL_FAILED
from plait.dialects.goals.running.fanout import fan_of
from plait.dialects.goals.running.state import COMPENSATION, compensated_item
from plait.dialects.goals.steps.step import Step
from plait.kernel import values
from plait.kernel.events import Recorded

from .answers import tidy
from .plans import shown_init, shown_plan
from .steps import shown
from .times import moment

CATALOG, CLUSTER = ["catalog"], ["cluster"]
_OUTCOMES = {"run.completed": "completed", "run.failed": "failed", "run.cancelled": "cancelled"}
_SILENT = ("run.reopened", "run.patched", "rollback.ended", "child.compensable")
_UNDONE = {"completed": "comp_succeeded", "failed": "comp_failed", "retried": "comp_started"}


class Told(NamedTuple):
    sequence: int
    at: int
    type: str
    data: dict[str, Any]


def flow_aggregate(flow_id: str) -> list[str]:
    return ["flow", flow_id]


def catalog_event(event: Recorded) -> Told:
    data = dict(event.data)
    if "step" in data:
        data["step"] = shown(msgspec.convert(data["step"], Step))
    return Told(event.seq - 1, event.at, event.type, data)


def cluster_event(event: Recorded) -> Told:
    return Told(event.seq - 1, event.at, event.type, dict(event.data))


class FlowTeller:
    """Translates one run's events, from the first on: the meaning of an event may depend on those before it."""

    def __init__(self, flow_id: str) -> None:
        self._flow_id = flow_id
        self._began = 0
        self._steps: dict[str, str] = {}
        """The step of each work token."""
        self._active: set[str] = set()
        """The tokens of work in progress."""
        self._told_outcome = False
        self._cut = False
        """Whether the flow was ended from outside, so that later results are late."""
        self._plan: dict[str, Step] = {}

    def tell(self, event: Recorded) -> list[Told]:
        return [
            Told(event.seq - 1, event.at, name, {"flow_id": self._flow_id} | data) for name, data in self._said(event)
        ]

    def _said(self, event: Recorded) -> list[tuple[str, dict[str, Any]]]:
        data = event.data
        match event.type:
            case "run.started":
                return [("flow_started", self._started(event))]
            case "run.completed" | "run.failed" | "run.cancelled":
                return self._ended(event)
            case "rollback.started":
                return self._rolling_back(data)
            case "rollback.step":
                told = _UNDONE.get(data["status"])
                return [] if told is None else [(told, self._undone(data))]
            case "task.retry_scheduled":
                return self._retried(data)
            case "task.dead_lettered":
                work = self._work(data["token"])
                return [] if work is None else [("work_not_completed", work | _error(data))]
            case "task.late":
                work = self._work(data["token"])
                return (
                    [] if work is None else [("late_result", work | tidy(outputs=data.get("output"), **_error(data)))]
                )
            case name if name in _SILENT:
                return []
            case name:
                return [(name, self._own(name, data))]

    def _started(self, event: Recorded) -> dict[str, Any]:
        self._began = event.at
        data = event.data
        plan = msgspec.convert(data["data"]["plan"], Plan)
        self._plan = dict(plan.steps)
        return {
            "plan": shown_plan(plan),
            "init": shown_init(data.get("input") or {}, data["data"].get("more", {})),
            "labels": data.get("labels", {}),
        }

    def _ended(self, event: Recorded) -> list[tuple[str, dict[str, Any]]]:
        status = _OUTCOMES[event.type]
        outcome = [] if self._told_outcome else [self._outcome(event, status)]
        error: dict[str, Any] = event.data.get("error") or {}
        self._cut = status == "cancelled" or (status == "failed" and error.get("code") != GOAL_FAILED)
        self._told_outcome = False
        over = self._cut or not self._active
        return [*outcome, ("flow_deactivated", {"status": status})] if over else outcome

    def _outcome(self, event: Recorded, status: str) -> tuple[str, dict[str, Any]]:
        match status:
            case "completed":
                return "flow_completed", {
                    "duration": event.at - self._began,
                    "result": event.data.get("output") or {},
                }
            case "failed":
                return "flow_failed", _error(event.data)
            case _:
                return "flow_cancelled", {"reason": event.data.get("reason", "")}

    def _rolling_back(self, data: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Sends the outcome, which is known before compensations run and the run ends."""
        self._told_outcome = True
        match data["cause"]:
            case "request":
                return []
            case "cancel":
                return [("flow_cancelled", {"reason": data.get("reason", "")})]
            case _:
                return [("flow_failed", _error(data))]

    def _undone(self, data: dict[str, Any]) -> dict[str, Any]:
        return (self._work(compensated_item(data["at"])) or {}) | _error(data)

    def _retried(self, data: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        token: str = data["token"]
        work = self._work(compensated_item(token))
        if work is None:
            return []
        again = work | {"retry_count": data["attempt"], "next_retry_at": moment(data["due"])} | _error(data)
        if token.startswith(COMPENSATION):
            return [("comp_retry_scheduled", again)]
        self._active.discard(token)
        return [("work_not_completed", work | _error(data)), ("work_retry_scheduled", again)]

    def _own(self, name: str, data: dict[str, Any]) -> dict[str, Any]:
        """Translates an event of the dialect, which has the same name in Argyll."""
        match name:
            case "step_started":
                self._steps |= dict.fromkeys(data["work_items"], data["step_id"])
                return data | {"work_items": self._work_items(data)}
            case "attribute_set":
                return data | {"key": data["name"], "step_id": data["provider"]}
            case "work_started":
                self._active.add(data["token"])
            case "work_failed":
                self._active.discard(data["token"])
            case "work_succeeded":
                self._active.discard(data["token"])
                return data if "outputs" in data else data | {"outputs": {}}
            case "flow_resumed":
                self._resumed(data)
            case "flow_forked":
                steps = {id: msgspec.convert(step, Step) for id, step in data.get("steps", {}).items()}
                self._plan |= steps
                return data | {"steps": {id: shown(step) for id, step in steps.items()}}
            case _:
                pass
        return dict(data)

    def _resumed(self, data: dict[str, Any]) -> None:
        self._told_outcome = False
        self._steps |= {new: self._steps[old] for old, new in data.get("renewed", {}).items()}
        anew = set(data.get("restarted") or ())
        if self._cut:  # child runs ended with their parent
            anew |= {step_id for step_id, step in self._plan.items() if step.type in ("flow", "run")}
        self._active = {token for token in self._active if self._steps[token] not in anew}

    def _work_items(self, data: dict[str, Any]) -> dict[str, Any]:
        """The values of each item; a single item gets all inputs. The log has values only once, in the inputs."""
        told, inputs = data["work_items"], data["inputs"]
        if data.get("total", 1) <= 1:
            return dict.fromkeys(told, inputs)
        if all(told.values()):
            return told
        fan = fan_of(self._plan[data["step_id"]], {name: Raw(values.plain(value)) for name, value in inputs.items()})
        places = (place for place in range(data["total"]) if place not in data.get("dropped", ()))
        return {token: each or fan.values(place) for place, (token, each) in zip(places, told.items(), strict=True)}

    def _work(self, token: str) -> dict[str, Any] | None:
        """Returns the step and token of a work item; None for a task that is not one."""
        step_id = self._steps.get(token)
        return None if step_id is None else {"step_id": step_id, "token": token}


def _error(data: dict[str, Any]) -> dict[str, Any]:
    error: dict[str, Any] | None = data.get("error")
    return {} if error is None else {"error": error["message"]}
