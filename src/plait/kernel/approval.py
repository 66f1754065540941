"""Approval records as the store keeps them: the request, the votes and the decision.

A record is open until it is decided, expires or is withdrawn; after that it never changes. A token of a run has at most
one open record, so changes name the token. A later request under the same token is a new record with its own id.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec
from msgspec import Raw

from .ids import Millis, RunId, TaskToken
from .values import ABSENT, NULL

ClosedStatus = Literal["approved", "rejected", "expired", "withdrawn"]
ApprovalStatus = Literal["open"] | ClosedStatus


class Escalation(msgspec.Struct, frozen=True, gc=False):
    """One level of escalation: if nobody decides for this long after the previous level, more approvers are added."""

    after: Millis
    to: tuple[str, ...]


class Vote(msgspec.Struct, frozen=True, gc=False):
    by: str
    decision: str
    at: Millis
    comment: str = ""
    data: Raw = NULL
    evidence_hash: str = ""
    """SHA-256 of the JSON of the evidence shown, in hex."""


class Delegation(msgspec.Struct, frozen=True, gc=False):
    """An approver has delegated their vote."""

    by: str
    to: str
    at: Millis
    comment: str = ""


class Approval(msgspec.Struct, frozen=True, gc=False):
    id: str
    run_id: RunId
    namespace: str
    token: TaskToken
    title: str
    by: str
    """The audience as text for people; `approvers` lists who may decide."""
    asked_at: Millis
    deadline: Millis | None = None
    form: Raw = ABSENT
    """A JSON Schema of the data that comes with the decision."""
    evidence: Raw = ABSENT
    """The information an approver needs to decide."""
    required: int = 1
    """How many people must approve."""
    approvers: tuple[str, ...] = ()
    """Who may decide; empty: anyone with the permission."""
    escalations: tuple[Escalation, ...] = ()
    level: int = 0
    """How many escalations have happened."""
    status: ApprovalStatus = "open"
    votes: tuple[Vote, ...] = ()
    decided_at: Millis | None = None
    """When it was decided, expired or withdrawn."""
    decided_by: str = ""
    answer: Raw = ABSENT
    """The data that came with the decision."""
    delegations: tuple[Delegation, ...] = ()
    """Votes that were delegated."""
    evidence_hash: str = ""
    """Not stored; see `hash_of`. Each vote keeps the hash of the evidence shown to its voter."""


def hash_of(evidence: Raw) -> str:
    return hashlib.sha256(bytes(evidence)).hexdigest() if evidence else ""


class ApprovalChange(msgspec.Struct, frozen=True, gc=False):
    """A change of the open approval of a token, or of all open approvals of the run; None leaves a field unchanged."""

    status: ApprovalStatus
    at: Millis
    token: TaskToken | None = None
    """None: all open approvals of the run."""
    by: str = ""
    answer: Raw = ABSENT
    votes: tuple[Vote, ...] | None = None
    approvers: tuple[str, ...] | None = None
    level: int | None = None
    delegations: tuple[Delegation, ...] | None = None


class ApprovalFilter(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Selects approvals. Open ones, and those of one run, come oldest first; others newest first."""

    namespace: str
    run_id: RunId | None = None
    status: ApprovalStatus | None = "open"
    """None: any status."""
    after: tuple[Millis, str] | None = None
    """Continues after the approval requested at this time, with this id."""
    limit: int | None = None

    @property
    def newest_first(self) -> bool:
        return self.run_id is None and self.status != "open"
