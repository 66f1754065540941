"""What agents did in a run: one record per attempt, with every turn of its conversation."""

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
    """The index in its turn, from 0."""
    tool: str
    arguments: Any = None
    status: ToolStatus
    result: Any = None
    """The result as the model saw it."""
    result_ref: str = ""
    """The reference of the whole result, `cas://sha256:…`."""
    error: str = ""
    ms: int = 0
    at: Millis | None = None
    waits_for: Literal["approval", "child"] | None = None
    approval_id: str = ""
    child_run_id: str = ""
    answer: Any = None
    """The decision, or how the child run ended."""


class AgentTurn(Shape, frozen=True, kw_only=True):
    turn: int
    """The number of the turn, from 1."""
    at: Millis
    """When the reply arrived."""
    ms: int
    model: str
    """The provider's name of the model."""
    text: str = ""
    finish: str = "stop"
    tool_calls: list[AgentToolCall] = []
    usage: AgentTokens
    cost_usd: float | None = None
    """The cost in USD; null: the price is not known."""
    cache_hit: bool = False
    feedback: str = ""
    """What the model was told about an answer that can't be used."""
    seq: int
    """The event that recorded the turn: a fork there requests the next turn again."""


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
    """The token of its task, which nodes of the run's view have as well."""
    attempt: int
    status: AgentStatus
    model: str
    """The model's name in the workflow."""
    max_turns: int
    prompt: str | None = None
    """The prompt; null if prompts are not kept."""
    prompt_hash: str = ""
    instructions: str = ""
    offered_tools: list[str] = []
    """The offered tools besides the five built-in ones."""
    turns: list[AgentTurn] = []
    waiting: str = ""
    """What it waits for, or its progress."""
    result_data: Any = None
    cas_id: str | None = None
    """The reference of the whole result."""
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
    """The total cost in USD; null if the cost of a record is not known."""
