"""What agents send and get: section 4.7 of the spec. All durations are milliseconds."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from plait.api.shape import Body, Shape
from plait.api.task import WorkerName
from plait.kernel.ids import Millis

LeaseToken = Annotated[str, Meta(min_length=1, max_length=20_000)]
_Pattern = Annotated[str, Meta(min_length=1, max_length=200)]


class ClaimEvents(Body, frozen=True, kw_only=True):
    agent: WorkerName
    """The name of the agent, shown to people."""
    facets: Annotated[tuple[_Pattern, ...], Meta(min_length=1, max_length=100)] = ("*",)
    """Names or patterns, such as `geo.*`."""
    max: Annotated[int, Meta(ge=1, le=100)] = 1
    lease_ms: Annotated[int, Meta(ge=1_000, le=3_600_000)] = 30_000
    wait_ms: Annotated[int, Meta(ge=0, le=30_000)] = 0


class AgentTask(Shape, frozen=True, kw_only=True):
    """An AFL event that an agent holds."""

    id: str
    attempt: int
    lease_token: str
    """Proves the claim; another claim of the same event has another."""
    lease_until: Millis
    event_type: str
    run_id: str
    step_id: str
    payload: Any
    prompt: str | None = None
    """The text of the facet's prompt, filled in, if it has one."""
    idempotency_key: str
    """Equal on all attempts."""
    timeout_ms: int | None = None


class AgentTasks(Shape, frozen=True, kw_only=True):
    tasks: list[AgentTask]
    """Empty if none arrived within `wait_ms`."""


class HeldEvent(Body, frozen=True, kw_only=True):
    lease_token: LeaseToken


class Lease(Shape, frozen=True, kw_only=True):
    lease_until: Millis


class UpdateStep(Body, frozen=True, kw_only=True):
    lease_token: LeaseToken
    returns: dict[str, Any]


class CompleteEvent(Body, frozen=True, kw_only=True):
    lease_token: LeaseToken
    result: Any = None


class AgentError(Body, frozen=True, kw_only=True):
    message: Annotated[str, Meta(min_length=1, max_length=10_000)]
    type: Annotated[str, Meta(max_length=400)] = "RuntimeError"
    retryable: bool = True


class FailEvent(Body, frozen=True, kw_only=True):
    lease_token: LeaseToken
    error: AgentError


class Applied(Shape, frozen=True, kw_only=True):
    applied: bool
    """False: it came too late, or was a repetition."""
