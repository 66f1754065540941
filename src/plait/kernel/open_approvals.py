"""Votes and escalations of a run's open approvals, folded from its events.

Only approvals that need several votes, certain people or an escalation are here. One that anybody may decide alone
needs no state: its first vote is the decision, and only the machine's own event records it.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

from .approval import Delegation, Escalation, Vote
from .events import (
    ApprovalClosed,
    ApprovalDelegated,
    ApprovalEscalated,
    ApprovalEvent,
    ApprovalRequested,
    ApprovalVoted,
)
from .ids import Millis, TaskToken


class OpenApproval(msgspec.Struct, frozen=True, omit_defaults=True):
    token: TaskToken
    required: int = 1
    approvers: tuple[str, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    level: int = 0
    votes: tuple[Vote, ...] = ()
    delegations: tuple[Delegation, ...] = ()

    @property
    def outcome(self) -> Literal["approved", "rejected"] | None:
        """The first rejection decides; otherwise the required number must approve."""
        if any(vote.decision == "reject" for vote in self.votes):
            return "rejected"
        return "approved" if len(self.votes) >= self.required else None

    @property
    def next_escalation(self) -> Escalation | None:
        return self.escalations[self.level] if self.level < len(self.escalations) else None

    def may_vote(self, by: str) -> bool:
        return not self.approvers or by in self.approvers

    def vote_of(self, by: str) -> Vote | None:
        return next((vote for vote in self.votes if vote.by == by), None)

    def handed_on(self, by: str) -> Delegation | None:
        """The delegation by someone who no longer has a vote."""
        if by in self.approvers:
            return None
        return next((each for each in reversed(self.delegations) if each.by == by), None)

    def delegated(self, event: ApprovalDelegated, at: Millis) -> OpenApproval:
        """Moves one vote to another person."""
        approvers = tuple(event.to if name == event.by else name for name in self.approvers)
        made = Delegation(event.by, event.to, at, event.comment)
        return replace(self, approvers=approvers, delegations=(*self.delegations, made))

    def escalated(self, event: ApprovalEscalated) -> OpenApproval:
        """Adds approvers; if anybody may decide, that stays so. Someone who delegated their vote gets no second one."""
        new = tuple(name for name in event.to if name not in self.approvers and self.handed_on(name) is None)
        return replace(self, level=event.level, approvers=(*self.approvers, *new) if self.approvers else ())


def fold(known: dict[TaskToken, OpenApproval], event: ApprovalEvent, at: Millis) -> None:
    match event:
        case ApprovalRequested():
            known[event.token] = OpenApproval(event.token, event.required, event.approvers, event.escalations)
        case ApprovalVoted() if (voted := known.get(event.token)) is not None:
            vote = Vote(event.by, event.decision, at, event.comment, event.data, event.evidence_hash)
            known[event.token] = replace(voted, votes=(*voted.votes, vote))
        case ApprovalDelegated() if (delegated := known.get(event.token)) is not None:
            known[event.token] = delegated.delegated(event, at)
        case ApprovalEscalated() if (escalated := known.get(event.token)) is not None:
            known[event.token] = escalated.escalated(event)
        case ApprovalClosed():
            known.pop(event.token, None)
        case _:
            pass
