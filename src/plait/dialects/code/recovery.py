"""What a failure stopped: operations that were cancelled after it, and must resume when the run is retried."""

from __future__ import annotations

from collections.abc import Collection

from .history import History
from .location import parse, text
from .op_state import OpState


def first_failure(history: History, causes: Collection[str]) -> int | None:
    """The number of the event at which the first of the causes failed."""
    failed = (history.ops[path].closed_seq for path in causes if path in history.ops)
    return min(filter(None, failed), default=None)


def stopped(history: History, causes: Collection[str]) -> list[str]:
    """Cancelled siblings in a `gather`, a `TaskGroup` or a branch, and timeouts around them. Some were cancelled for
    other reasons: the code will cancel those again."""
    since = first_failure(history, causes)
    if since is None:
        return []
    found: dict[str, None] = {}
    reopened = set(causes)
    for op in sorted(history.ops.values(), key=lambda op: op.at.count("/")):  # outermost first
        if op.status == "cancelled" and op.closed_seq > since and not _is_inside_of_closed(op, history, reopened):
            found[op.at] = None
            reopened.add(op.at)
    return sorted(found)


def _is_inside_of_closed(op: OpState, history: History, reopened: Collection[str]) -> bool:
    """Whether an enclosing join, race or loop, or the part that holds `op`, is over: the code won't reach it."""
    location = parse(op.at)
    for length in range(1, len(location)):
        above = history.ops.get(text(location[:length]))
        if above is not None and _is_over(above, location[length], reopened):
            return True
    return False


def _is_over(above: OpState, part: str | int, reopened: Collection[str]) -> bool:
    if above.status != "open" and above.at not in reopened:
        return True
    if isinstance(part, int):
        return part < above.iteration
    branch = (above.branches or {}).get(part)
    return branch is not None and (
        branch.status == "completed" or (branch.status == "failed" and above.status != "failed")
    )
