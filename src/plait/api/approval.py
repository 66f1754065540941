"""Approvals that runs request, and the decisions on them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from plait.kernel.approval import ApprovalStatus
from plait.kernel.ids import Millis

from .shape import Body, RunIdText, Scoped, Shape

Decision = Literal["approve", "reject"]
Comment = Annotated[str, Meta(max_length=10_000)]
VoterName = Annotated[str, Meta(max_length=200)]


class Vote(Shape, frozen=True, kw_only=True):
    by: str
    decision: Decision
    at: Millis
    comment: str = ""
    data: Any = None
    evidence_hash: str = ""
    """SHA-256 of the evidence that was shown, in hex."""


class Delegation(Shape, frozen=True, kw_only=True):
    """`to` votes in the place of `by`, who does not any more."""

    by: str
    to: str
    at: Millis
    comment: str = ""


class Escalation(Shape, frozen=True, kw_only=True):
    """If nobody has decided `after` milliseconds from the request or the level before, these people may too."""

    after: Millis
    to: list[str]


class Approval(Shape, frozen=True, kw_only=True):
    """What a run asks people; it stays after the decision."""

    id: str
    run_id: str
    namespace: str
    node: str
    title: str
    by: str = ""
    """Who is asked to decide."""
    asked_at: Millis
    deadline: Millis | None = None
    form: Any = None
    """A JSON Schema for `data`."""
    evidence: Any = None
    """What to look at before deciding."""
    status: ApprovalStatus
    required: int = 1
    """How many people must approve; one who rejects is enough."""
    approvers: list[str] = []
    """The people who may decide; empty: everyone with the role."""
    votes: list[Vote] = []
    escalations: list[Escalation] = []
    level: int = 0
    """How many escalations have happened."""
    decided_at: Millis | None = None
    """When it was approved or rejected, or expired, or was withdrawn."""
    decided_by: str = ""
    answer: Any = None
    """The data that came with the decision."""
    delegations: list[Delegation] = []
    """Votes that were delegated, oldest first."""
    evidence_hash: str = ""
    """SHA-256 of the evidence's JSON, in hex; send it with a decision to be sure that it is about this evidence."""


class ApprovalPage(Shape, frozen=True, kw_only=True):
    approvals: list[Approval]
    next: str | None = None
    """The cursor of the next page, if there is one."""


class Decided(Shape, frozen=True, kw_only=True):
    id: str
    decision: Decision
    remaining: int = 0
    """The number of people who must still approve."""
    approval_id: str | None = None
    """The same as `id`; set with `status` and `next_nodes` if the run's dialect tells where it continues."""
    status: Literal["resumed"] | None = None
    next_nodes: list[str] | None = None


class Decide(Body, frozen=True, kw_only=True):
    decision: Decision
    comment: Comment = ""
    data: Any = None
    """The data that the form requests."""
    by: VoterName = ""
    """Who decides, on a server without keys; otherwise the name of the key counts."""
    comments: Comment = ""
    """Another name of `comment`."""
    decided_by: VoterName = ""
    """Another name of `by`."""
    evidence_hash: Annotated[str, Meta(max_length=64)] = ""
    """The hash of the evidence that the decision is about; refused if it differs. Empty: not checked."""


class Delegate(Body, frozen=True, kw_only=True):
    to: Annotated[str, Meta(min_length=1, max_length=200)]
    """Who votes instead."""
    by: VoterName = ""
    """Whose vote it is; by default the caller's. Only administrators may delegate the votes of others."""
    comment: Comment = ""


class ListApprovals(Scoped, frozen=True, kw_only=True):
    run: RunIdText | None = None
    status: ApprovalStatus | Literal["all"] = "open"
    cursor: Annotated[str, Meta(max_length=20_000)] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100
