"""Signed links for people and programs without a key: one decides an approval, one sends a message to a run."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from plait.kernel.ids import Millis

from .approval import Approval, Comment, Decision, VoterName
from .shape import Body, Shape

_DAY = 86_400
LinkSeconds = Annotated[int, Meta(ge=1, le=90 * _DAY)]


class SignedLink(Shape, frozen=True, kw_only=True):
    url: str
    expires_at: Millis


class NewHook(Body, frozen=True, kw_only=True):
    message: Annotated[str, Meta(min_length=1, max_length=1000)]
    """The name of the message that the link sends."""
    expires_in: LinkSeconds = _DAY


class NewLink(Body, frozen=True, kw_only=True):
    expires_in: LinkSeconds = _DAY
    by: VoterName = ""
    """Whose vote the link casts; required if certain people, or several, must approve."""


class LinkedApproval(Approval, frozen=True, kw_only=True):
    """The approval of a link."""

    voter: str = ""
    """Whose vote the link casts, if it was made for someone."""


class DecideByLink(Body, frozen=True, kw_only=True):
    decision: Decision
    by: VoterName = ""
    """The name to record the decision under, unless the link was made for someone."""
    comment: Comment = ""
    data: Any = None
