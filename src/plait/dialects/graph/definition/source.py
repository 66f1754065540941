"""A graph as people write it: the JSON of section 1 of the spec, field by field.

These structures are the one description of the language: `shape` parses JSON by them and notes every flaw, and the
JSON Schema for editors is generated from them. An absent field has its default; so has a field that is `null`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from .limits import MAX_ATTEMPTS

Condition = Any
"""An object with a `type`, or CEL text; parsed by `plait.conditions`."""

NodeId = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{1,64}$")]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Positive = Annotated[int, Meta(ge=1)]
NotNegative = Annotated[float, Meta(ge=0)]

OnFailure = Literal["fail", "compensate", "hold"]
BranchType = Literal["conditional", "agent_driven"]
Pressure = Literal["terminate", "throttle", "summarize"]


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Any object of a graph."""


class Edge(Part, frozen=True, kw_only=True):
    from_: str = msgspec.field(name="from")
    to: str
    condition: Condition = None


class Retry(Part, frozen=True, kw_only=True):
    max_attempts: Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS)] = 3
    backoff_ms: NotNegative = 1_000
    multiplier: Annotated[float, Meta(ge=1)] = 2.0
    max_backoff_ms: NotNegative = 300_000


class NodeLimits(Part, frozen=True, kw_only=True):
    deadline_s: Annotated[float, Meta(gt=0)] | None = 300.0
    """Seconds for one attempt."""
    max_hops: Positive | None = None


class Loop(Part, frozen=True, kw_only=True):
    enabled: bool = True
    condition: Condition
    """True: start another iteration."""
    max_iterations: Any = None
    """A whole number from 1; checked by a rule of its own."""
    loop_back_to: str | None = None
    """Defaults to the node itself."""
    break_path: list[str] | None = None
    timeout_path: list[str] | None = None


class Rule(Part, frozen=True, kw_only=True):
    condition: Condition
    next_nodes: list[str]


class Branch(Part, frozen=True, kw_only=True):
    enabled: bool = True
    type: BranchType = "conditional"
    rules: list[Rule] = []
    default: list[str] = []
    available_next_nodes: list[str] = []


class Escalation(Part, frozen=True, kw_only=True):
    escalate_to: list[str] | str
    timeout_hours: NotNegative = 48.0
    then: Literal["timeout", "auto_approve"] = "timeout"


class HumanConfig(Part, frozen=True, kw_only=True):
    timeout_hours: NotNegative | None = 48.0
    """0: at once; null: never."""
    approvers: list[str] = []
    escalation_policy: Literal["auto_approve_after_timeout", "auto_approve"] | Escalation | None = None
    approval_ui_url: str | None = None
    title: str = ""
    form_schema: dict[str, Any] | None = None
    on_reject: Literal["end", "fail"] = "end"


class Budget(Part, frozen=True, kw_only=True):
    max_tokens: Positive | None = None
    max_cost_usd: NotNegative | None = None


class AgentConfig(Part, frozen=True, kw_only=True):
    model: Name
    temperature: NotNegative = 0.3
    max_tokens: Positive = 4_096
    available_tools: list[str] | None = None
    """None: the two that change nothing."""
    timeout_sec: Annotated[float, Meta(gt=0)] = 300.0
    max_turns: Positive = 10
    budget: Budget | None = None


class Compensator(Part, frozen=True, kw_only=True):
    action: Name
    timeout_sec: Annotated[float, Meta(gt=0)] = 60.0
    retry: Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS)] = 3
    config: dict[str, Any] = {}


class Capabilities(Part, frozen=True, kw_only=True):
    can_emit_to: list[str] | None = None
    max_fanout: Positive | None = None
    requires_approval: bool = False
    allowed_tools: list[str] | None = None


class ConfigRef(Part, frozen=True, kw_only=True):
    type_url: str = ""
    """`svc.<handler>/Config@<n>`."""
    cas_ref: str


class Node(Part, frozen=True, kw_only=True):
    id: NodeId
    type: Name
    name: str = ""
    config: dict[str, Any] = {}
    config_ref: str | ConfigRef | None = None
    dependencies: list[str] = []
    dependents: list[str] = []
    wait_for_all: bool | None = None
    retry: Retry = Retry()
    limits: NodeLimits = NodeLimits()
    loop: Loop | None = None
    branch: Branch | None = None
    human_config: HumanConfig | None = None
    rejection_path: list[str] | None = None
    agent_config: AgentConfig | None = None
    compensator: Compensator | None = None
    capabilities: Capabilities = Capabilities()
    queue: str | None = None
    metadata: dict[str, Any] = {}


class Throttle(Part, frozen=True, kw_only=True):
    tokens_per_s: Annotated[float, Meta(gt=0)] | None = None
    max_queue_depth: Positive | None = None


class Backpressure(Part, frozen=True, kw_only=True):
    """Throttling, or summaries of payloads, with their settings; text alone takes the defaults."""

    throttle: Throttle | None = None
    summarize_bytes: Positive | None = None


class Limits(Part, frozen=True, kw_only=True):
    max_fanout: Positive | None = None
    """None: 100 for targets in the definition, 10 for those that an agent or a handler chooses."""
    max_hops: Positive = 100
    max_tokens: Positive = 10_000
    max_wall_time_s: Annotated[float, Meta(gt=0)] | None = None
    max_bytes_scanned: Positive | None = None
    max_llm_tokens: Positive | None = None
    max_cost_usd: NotNegative | None = None
    backpressure: Pressure | Backpressure = "terminate"


class PolicyRule(Part, frozen=True, kw_only=True):
    effect: Literal["allow", "deny"]
    condition: Condition


class Policy(Part, frozen=True, kw_only=True):
    allowed_transitions: dict[str, list[str]] | None = None
    rules: list[PolicyRule] = []
    pii_fields: list[str] = []


class Source(Part, frozen=True, kw_only=True):
    nodes: list[Node]
    edges: list[Edge] = []
    name: str = ""
    version: Name = "1.0"
    limits: Limits = Limits()
    policy: Policy = Policy()
    on_failure: OnFailure = "fail"
    output: Any = None
    """A template; without one, the outputs of the nodes that ended a path."""
    allow_endless: bool = False
    metadata: dict[str, Any] = {}
