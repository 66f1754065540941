"""What agents did in a run: one record for each attempt, with every turn of its conversation."""

from __future__ import annotations

from typing import Any, Literal

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis

from .shape import Shape

AgentStatus = Literal["running", "waiting", "completed", "failed", "cancelled"]
ToolStatus = Literal["running", "waiting", "completed", "failed", "denied"]


class AgentTokens(Shape, frozen=True, kw_only=True):
    """Cached ones are part of the input."""

    input: int = 0
    output: int = 0
    cached: int = 0


class AgentToolCall(Shape, frozen=True, kw_only=True):
    index: int
    """From 0, in its turn."""
    tool: str
    arguments: Any = None
    status: ToolStatus
    result: Any = None
    """As the model saw it."""
    result_ref: str = ""
    """`cas://sha256:…`: what the whole of it is called."""
    error: str = ""
    ms: int = 0
    at: Millis | None = None
    waits_for: Literal["approval", "child"] | None = None
    approval_id: str = ""
    child_run_id: str = ""
    answer: Any = None
    """What people decided, or how the child run ended."""


class AgentTurn(Shape, frozen=True, kw_only=True):
    turn: int
    """From 1."""
    at: Millis
    """When the reply was there."""
    ms: int
    model: str
    """As the provider calls it."""
    text: str = ""
    finish: str = "stop"
    tool_calls: list[AgentToolCall] = []
    usage: AgentTokens
    cost_usd: float | None = None
    """Null: the price is not known."""
    cache_hit: bool = False
    feedback: str = ""
    """What the model was told of an answer that can't be used."""
    seq: int
    """The event that recorded it: a fork there asks the next turn anew."""


class AgentDecision(Shape, frozen=True, kw_only=True):
    next_nodes: list[str] | None = None
    reasoning: str = ""


class DeniedRoute(Shape, frozen=True, kw_only=True):
    """Where an agent may not go on: its whole answer was refused."""

    requested: list[str]
    denied: list[str]
    allowed: list[str]


class AgentUse(Shape, frozen=True, kw_only=True):
    """A tool call in short."""

    tool: str
    args: Any = None


class AgentRecord(Shape, frozen=True, kw_only=True):
    result_id: str
    job_id: str
    run_id: str
    node_id: str
    token: str
    """Of its task: nodes of the run's view have the same."""
    attempt: int
    status: AgentStatus
    model: str
    """As the workflow names it."""
    max_turns: int
    prompt: str | None = None
    """Null: prompts are not kept."""
    prompt_hash: str = ""
    instructions: str = ""
    offered_tools: list[str] = []
    """Beside the five built-in ones."""
    turns: list[AgentTurn] = []
    waiting: str = ""
    """What it waits for, or how far it is."""
    result_data: Any = None
    cas_id: str | None = None
    """What the whole result is called."""
    s3_ref: str | None = None
    decision: AgentDecision | None = None
    denied_route: DeniedRoute | None = None
    error: ErrorInfo | None = None
    warnings: list[str] = []
    tool_calls: list[AgentUse] = []
    tokens_used: int = 0
    usage: AgentTokens
    cost_usd: float | None = None
    cache_hit: bool = False
    execution_time_ms: int = 0
    created_at: Millis
    completed_at: Millis | None = None


class AgentRecords(Shape, frozen=True, kw_only=True):
    """In the order in which they began."""

    agents: list[AgentRecord]
    tokens_used: int = 0
    cost_usd: float | None = None
    """Of all of them; null if one has no known cost."""
