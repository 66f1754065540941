"""Approvals as the store keeps them: what a run asks people, who voted, and how it was decided.

A record is open until it is decided, expires, or is withdrawn; then it stays as it is. Of one token of a run at most
one is open, so changes name the token; a request that comes again after that is a new record with an id of its own.
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
    """One level of escalation: nobody decided for this long after the level before, so others are asked too."""

    after: Millis
    to: tuple[str, ...]


class Vote(msgspec.Struct, frozen=True, gc=False):
    by: str
    decision: str
    at: Millis
    comment: str = ""
    data: Raw = NULL
    evidence_hash: str = ""
    """Of the evidence that was shown: SHA-256 of its JSON, in hex."""


class Delegation(msgspec.Struct, frozen=True, gc=False):
    """An approver has handed their vote to someone else."""

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
    """Who is asked, for people to read; who may decide is `approvers`."""
    asked_at: Millis
    deadline: Millis | None = None
    form: Raw = ABSENT
    """A JSON Schema of the data that comes with the decision."""
    evidence: Raw = ABSENT
    """What the person should know to decide."""
    required: int = 1
    """How many people must approve."""
    approvers: tuple[str, ...] = ()
    """Who may decide; empty: anyone with the right to."""
    escalations: tuple[Escalation, ...] = ()
    level: int = 0
    """How many of them have happened."""
    status: ApprovalStatus = "open"
    votes: tuple[Vote, ...] = ()
    decided_at: Millis | None = None
    """When it was decided, expired or was withdrawn."""
    decided_by: str = ""
    answer: Raw = ABSENT
    """The data that came with the decision."""
    delegations: tuple[Delegation, ...] = ()
    """Votes that were handed to others."""
    evidence_hash: str = ""
    """Not stored: see `hash_of`. A vote keeps that of what was shown."""


def hash_of(evidence: Raw) -> str:
    return hashlib.sha256(bytes(evidence)).hexdigest() if evidence else ""


class ApprovalChange(msgspec.Struct, frozen=True, gc=False):
    """What becomes of the open approval of a token, or of all open ones of the run; None leaves a part as it is."""

    status: ApprovalStatus
    at: Millis
    token: TaskToken | None = None
    """None: of all."""
    by: str = ""
    answer: Raw = ABSENT
    votes: tuple[Vote, ...] | None = None
    approvers: tuple[str, ...] | None = None
    level: int | None = None
    delegations: tuple[Delegation, ...] | None = None


class ApprovalFilter(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Open approvals come oldest first, as do those of one run; others newest first."""

    namespace: str
    run_id: RunId | None = None
    status: ApprovalStatus | None = "open"
    """None: any."""
    after: tuple[Millis, str] | None = None
    """Past the one that was asked then and has this id."""
    limit: int | None = None

    @property
    def newest_first(self) -> bool:
        return self.run_id is None and self.status != "open"
