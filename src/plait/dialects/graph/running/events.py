"""Events of a run of a graph. They carry the counter, so that a reader can add it up.

The payload of an emitted token is the output of the node that emits it, in the event before, of the same decision.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Raw

from plait.kernel.errors import ErrorInfo, Flaw
from plait.kernel.events import Event
from plait.kernel.ids import Millis
from plait.kernel.measured import Flow
from plait.kernel.values import ABSENT, NULL

Via = Literal["edges", "branch", "handler", "loop", "break", "timeout", "approved", "rejected", "migration"]
"""What chose the targets."""
Discarded = Literal["discarded", "reprocessed"]


class NodeConsumed(Event, frozen=True, tag="node.consumed"):
    """An execution is settled, and its tokens are consumed; for a human node, people are asked."""

    node_id: str
    token_id: str
    """The first of its tokens, which is the id of the execution."""
    op_keys: list[str]
    delta: int
    counter_before: int
    counter_after: int
    hop: int = 1
    attempt: int = 1
    execution_id: str = ""
    token_ids: list[str] = []
    """All of its tokens, if there are several."""
    iteration: int = 1
    output: Raw = ABSENT
    duration_ms: int = 0
    revision: int = 1

    def flow(self) -> Flow:
        return Flow("consumed", self.node_id, tuple(self.token_ids) or (self.token_id,))


class NodeEmitted(Event, frozen=True, tag="node.emitted"):
    node_id: str
    token_id: str
    op_key: str
    """One key for the whole batch."""
    delta: int
    to_nodes: list[str]
    tokens: list[str]
    """Token ids, in the order of `to_nodes`."""
    counter_before: int
    counter_after: int
    via: Via = "edges"
    hop: int = 2
    """The hop count of the new tokens."""
    loops: dict[str, int] = {}
    """Iterations of the loops around the targets; each token keeps those whose body holds its node."""

    def flow(self) -> Flow:
        return Flow("emitted", self.node_id, tuple(self.tokens), tuple(self.to_nodes))


class NodeExecuted(Event, frozen=True, tag="node.executed"):
    """The work is done; the choice of where to go on is being judged outside the decision."""

    node_id: str
    token_id: str
    output: Raw = NULL
    attempt: int = 1
    next_nodes: list[str] | None = None
    """The targets that the node itself chose."""
    reasoning: str = ""


class NodeAccepted(Event, frozen=True, tag="node.accepted"):
    """Whoever accepted the work reports the result later."""

    node_id: str
    token_id: str
    attempt: int = 1
    until: Millis | None = None


class ConditionJudged(Event, frozen=True, tag="condition.judged"):
    """The verdict of a condition that is judged outside the decision."""

    node_id: str
    token_id: str
    where: str
    value: bool = False
    code: str = ""
    message: str = ""


class WaitStarted(Event, frozen=True, tag="wait.started"):
    node_id: str
    token_id: str
    until: Millis | None = None
    name: str = ""
    """The name of the awaited message."""


class TokenThrottled(Event, frozen=True, tag="token.throttled"):
    """The token is counted, and its node starts later."""

    node_id: str
    token_id: str
    until: Millis


class TokenReleased(Event, frozen=True, tag="token.released"):
    """A throttled token may go on: its node starts."""

    node_id: str
    token_id: str


class MessageQueued(Event, frozen=True, tag="message.queued"):
    """No node waits for the message yet."""

    name: str
    body: Raw = NULL


class MessageTaken(Event, frozen=True, tag="message.taken"):
    """A node took the oldest queued message of that name."""

    name: str
    token_id: str


class NodeFailed(Event, frozen=True, tag="node.failed"):
    node_id: str
    token_id: str
    error: ErrorInfo
    attempts: int = 1
    token_ids: list[str] = []


class ChildRetried(Event, frozen=True, tag="child.retried"):
    """A node's child run failed, and another is started in its place."""

    node_id: str
    token_id: str
    attempt: int


class TokenDeadLettered(Event, frozen=True, tag="token.dead_lettered"):
    node_id: str
    token_id: str
    dlq_id: str
    failure_reason: str
    attempts: int = 1


class TokenReprocessed(Event, frozen=True, tag="token.reprocessed"):
    """A dead letter is retried: the same token, with fresh attempts."""

    node_id: str
    token_id: str
    dlq_id: str
    generation: int
    by: str = ""


class TokenDiscarded(Event, frozen=True, tag="token.discarded"):
    """A dead letter is discarded: its token is consumed, and nothing is emitted."""

    node_id: str
    token_id: str
    dlq_id: str
    op_keys: list[str]
    delta: int
    counter_before: int
    counter_after: int
    by: str = ""


class JoinFired(Event, frozen=True, tag="join.fired"):
    node_id: str
    token_ids: list[str]
    arrived: list[str]
    """The dependencies whose tokens it takes, in the order of `token_ids`."""
    dead: list[str] = []
    """Dependencies that can't deliver a token any more."""
    round: list[int] = []
    """The iterations of the loops around it, outermost first."""


class LoopContinued(Event, frozen=True, tag="loop.continued"):
    node_id: str
    iteration: int
    """The number of the iteration that starts."""
    to: str


class LoopExited(Event, frozen=True, tag="loop.exited"):
    node_id: str
    iteration: int
    """The number of the last iteration."""
    exit: Literal["break", "timeout", "next"]
    """next: continue with the branch or the edges."""
    next_nodes: list[str] | None = None


class BranchTaken(Event, frozen=True, tag="branch.taken"):
    node_id: str
    rule: int | None
    """None: the default, or a choice of the node itself."""
    next_nodes: list[str]
    reasoning: str = ""


class AgentDecided(Event, frozen=True, tag="agent.decided"):
    """An agent's choice of where to go on, with its reasoning."""

    node_id: str
    next_nodes: list[str]
    reasoning: str = ""


class AgentRouteDenied(Event, frozen=True, tag="agent.route_denied"):
    """An agent chose a denied target: nothing is emitted, not even to the allowed ones."""

    node_id: str
    requested: list[str]
    denied: list[str]
    allowed: list[str]


class ConditionError(Event, frozen=True, tag="condition.error"):
    node_id: str
    where: str
    code: str
    message: str
    soft: bool = False
    """A problem that is only noted, with the verdict false: a node that has not run."""


class PolicyDenied(Event, frozen=True, tag="policy.denied"):
    node_id: str
    to_node: str
    code: str
    message: str


class LimitExceeded(Event, frozen=True, tag="limit.exceeded"):
    node_id: str
    code: str
    message: str


class ApprovalCreated(Event, frozen=True, tag="approval.created"):
    """An approval was requested. If `before`, the token waits, and is counted; otherwise it is consumed."""

    approval_id: str
    node_id: str
    token_id: str
    title: str
    hop: int = 1
    loops: dict[str, int] = {}
    approvers: list[str] = []
    timeout_at: Millis | None = None
    evidence_hash: str = ""
    """The hash of the payload that people decide about."""
    before: bool = False
    """Whether the node runs after the approval."""
    judged: dict[str, str] = {}
    """A policy server's verdict for each target: empty, or why it denies it."""


class ApprovalDecided(Event, frozen=True, tag="approval.decided"):
    approval_id: str
    node_id: str
    decision: Literal["approve", "reject", "timeout"]
    decided_by: str
    comments: str = ""
    output: Raw = NULL
    evidence_hash: str = ""
    next_nodes: list[str] = []


class ApprovalCancelled(Event, frozen=True, tag="approval.cancelled"):
    approval_id: str
    node_id: str


class PatchApplied(Event, frozen=True, tag="patch.applied"):
    revision: int
    operations: list[dict[str, Any]]
    by: str = ""
    description: str = ""
    agent: str = ""
    """The node of the agent whose patch it is."""


class PatchRejected(Event, frozen=True, tag="patch.rejected"):
    operations: list[dict[str, Any]]
    by: str = ""
    code: str = ""
    message: str = ""
    errors: list[Flaw] = []
    """All flaws, if there are several."""


class RunMigrated(Event, frozen=True, tag="run.migrated"):
    node_id: str
    from_version: str
    to_version: str
    definition: Raw
    """The complete new definition."""
    resume_at: list[str] = []


class GraphForked(Event, frozen=True, tag="graph.forked"):
    source: str
    at: int
    outputs: dict[str, Any] = {}
    operations: list[dict[str, Any]] = []


GraphEvent = (
    NodeConsumed
    | NodeEmitted
    | NodeExecuted
    | NodeAccepted
    | ConditionJudged
    | WaitStarted
    | TokenThrottled
    | TokenReleased
    | MessageQueued
    | MessageTaken
    | NodeFailed
    | ChildRetried
    | TokenDeadLettered
    | TokenReprocessed
    | TokenDiscarded
    | JoinFired
    | LoopContinued
    | LoopExited
    | BranchTaken
    | AgentDecided
    | AgentRouteDenied
    | ConditionError
    | PolicyDenied
    | LimitExceeded
    | ApprovalCreated
    | ApprovalDecided
    | ApprovalCancelled
    | PatchApplied
    | PatchRejected
    | RunMigrated
    | GraphForked
)
