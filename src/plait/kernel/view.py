"""The view of a run that the UI, the CLI and the API show for every dialect."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .agent_totals import AgentTotals
from .cause import Cause
from .errors import ErrorInfo
from .ids import Millis

NodeStatus = Literal[
    "pending", "running", "waiting", "retrying", "completed", "failed", "skipped", "cancelled", "blocked"
]
RunStatus = Literal["running", "completed", "failed", "cancelled"]
Phase = Literal["running", "waiting", "blocked", "ended"]
"""`waiting`: nothing is in flight, and the run continues when an input comes. `blocked`: it needs someone to act."""


class Node(msgspec.Struct, omit_defaults=True, kw_only=True):
    id: str
    kind: str
    label: str
    status: NodeStatus
    parent: str | None = None
    path: str = ""
    """Its place in words, if its label does not tell: "items / loop 2 / ship"."""
    attempts: int = 0
    started_at: Millis | None = None
    ended_at: Millis | None = None
    input: Any = None
    output: Any = None
    error: ErrorInfo | None = None
    skip_reason: str | None = None
    detail: str = ""
    child: str | None = None
    """The run that it started."""
    token: str | None = None
    """The token of its task, if it is one: kernel events refer to it."""
    queued: Millis = Millis(0)
    """Milliseconds that its last attempt waited for a worker."""


class Edge(msgspec.Struct, frozen=True, omit_defaults=True):
    source: str
    target: str
    label: str = ""
    chosen: bool = False
    """The source that provided the value, of several that could."""


class Pause(msgspec.Struct, frozen=True):
    """A time in which a run stood still, not counted as its own: it had ended and was reopened, or it is a fork and
    the nodes before are those of the other run."""

    start: Millis
    end: Millis
    kind: Literal["reopened", "forked"]


class RunView(msgspec.Struct, kw_only=True, omit_defaults=True):
    run_id: str
    namespace: str
    dialect: str
    definition: str
    status: RunStatus
    phase: Phase = "running"
    cause: Cause | None = None
    """What to show first for a failed run."""
    pauses: list[Pause] = []
    version: str | None = None
    revision: int = 1
    """Revision of its definition: each patch creates a new one."""
    nodes: list[Node]
    edges: list[Edge]
    blocked: ErrorInfo | None = None
    agents: AgentTotals | None = None
    """None: no agent has worked in it."""
    details: dict[str, Any] | None = None
    """Data specific to its dialect."""


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a run is not moving, in a sentence for people and in parts for programs."""

    kind: str
    text: str
    node: str | None = None
    until: Millis | None = None
    short: str = ""
    """The same in a few words, without the time, for lists."""
