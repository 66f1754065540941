"""The error for a decision on a closed approval: who decided what, and when."""

from __future__ import annotations

from plait.kernel.approval import Approval
from plait.kernel.errors import Conflict
from plait.kernel.ids import caller_id
from plait.kernel.moment import utc


def already_closed(approval: Approval) -> Conflict:
    return Conflict("kernel.approval_decided", f"approval {approval.id} {_what_happened(approval)}", why=_why(approval))


def _what_happened(approval: Approval) -> str:
    by = f" by {approval.decided_by}" if approval.decided_by else ""
    at = f" at {utc(approval.decided_at)}" if approval.decided_at is not None else ""
    match approval.status:
        case "expired":
            return f"expired{at}"
        case "withdrawn":
            return f"was withdrawn{at}"
        case _:
            return f"was {approval.status}{by}{at}"


def _why(approval: Approval) -> str:
    match approval.status:
        case "expired":
            return "nobody decided it before its deadline"
        case "withdrawn":
            return f"run {caller_id(approval.run_id)} does not wait for it any more"
        case _:
            return "an approval is decided once"
