"""Changes of a run: cancel, retry, compensate, patch, send it a message, fork it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plait.kernel.view import RunStatus

from .run import MAX_DEADLINE_MS
from .shape import Accepted, Body, NodeId, Position, RunIdText, Shape

MAX_WAIT_MS = 30_000
"""Maximum milliseconds that a request may wait: proxies take a longer silence for a dead connection."""


MessageId = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^~]")]


class RunState(Shape, frozen=True, kw_only=True):
    """The status of a run after the request."""

    id: str
    status: RunStatus


class CancelRun(Body, frozen=True, kw_only=True):
    reason: Annotated[str, Meta(max_length=10_000)] = ""
    compensate: bool = False
    """Whether to run the compensations of its steps first."""


class RetryRun(Body, frozen=True, kw_only=True):
    from_: NodeId | None = msgspec.field(name="from", default=None)
    """The node to retry from. Without it, the run continues where it failed."""
    scope: Literal["failed", "downstream"] | None = None
    """For dialects with a choice: `downstream` also reruns nodes that read values which may have changed."""
    deadline_ms: Annotated[int, Meta(ge=1, le=MAX_DEADLINE_MS)] | None = None
    """Milliseconds from now until the run's new deadline, if it has one."""


class PatchRun(Body, frozen=True, kw_only=True):
    operations: Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=1000)]
    base_revision: Position | None = None
    """The revision that the operations were made for: the `revision` of the run's view. If the run has a different one
    now, nothing is changed."""


class PatchedRun(RunState, frozen=True, kw_only=True):
    revision: int | None = None
    """The new revision of its definition; absent if no engine has answered yet."""


class SendMessage(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=1000)]
    body: Any = None
    id: MessageId | None = None
    """The message's id; the same id twice is one message, with one answer."""
    wait_ms: Annotated[int, Meta(ge=1, le=MAX_WAIT_MS)] | None = None
    """Milliseconds to wait for the run's answer. Without it, the response comes when the message is durable."""


class MessageReceipt(Accepted, frozen=True, kw_only=True):
    """The message is durable. If the run did not answer in time, send it again with its id to wait on."""

    answered: bool = False
    answer: Any = None


class ForkRun(Body, frozen=True, kw_only=True):
    at: Position | NodeId | None = None
    """The last event that both runs share, or the node to rerun."""
    edits: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """Results that replace those of completed nodes, by node. For a graph: `outputs` by node, `operations` that change
    the graph, and `agents` by node, with another `prompt`, other `instructions` or another `model`."""
    id: RunIdText | None = None
