"""The log of a run, told with the event names of the spec, a line each."""

from __future__ import annotations

from typing import Any

from plait.kernel.events import Recorded

_NAMES = {
    "run.started": "flow_started",
    "run.completed": "flow_completed",
    "run.failed": "flow_failed",
    "run.cancelled": "flow_cancelled",
    "run.reopened": "",
    "run.patched": "",
    "task.late": "late_result",
    "task.dead_lettered": "dead_letter",
}


class Tale(list[str]):
    def __str__(self) -> str:
        return "\n".join(self)

    def of(self, *starts: str) -> list[str]:
        """Only those lines."""
        return [line for line in self if line.startswith(starts)]


def told(events: list[Recorded]) -> Tale:
    return Tale(line for event in events if (line := _line(event)))


def _line(event: Recorded) -> str:
    data = event.data
    match event.type:
        case "task.retry_scheduled":
            return f"retry_scheduled {data['attempt']} in {data['due'] - event.at}: {data['error']['message']}"
        case "rollback.step":
            return f"comp_{data['status']}"
        case "attribute_set":
            return f"attribute_set {data['name']}={data['value']} by {data['provider']}"
        case "step_skipped":
            return f"step_skipped {data['step_id']}: {data['reason']}"
        case "step_failed" | "work_failed":
            return f"{event.type} {data['step_id']}: {data['error']}"
        case "run.failed":
            return f"flow_failed: {data['error']['message']}"
        case _:
            return f"{_NAMES.get(event.type, event.type)} {_who(data)}".rstrip()


def _who(data: dict[str, Any]) -> str:
    return str(data.get("step_id", "")) if "step_id" in data else ""
