"""What a retry has to do with operations: resume those that the failure stopped, forget those it led to."""

from __future__ import annotations

from collections.abc import Callable, Collection

from .coverage import Spares
from .history import History
from .location import parse, text
from .op_state import OpState

Fits = Callable[[list[str], Spares], bool]
"""Whether the code fits the history as it would be without the results of some operations."""


def stopped(history: History, causes: Collection[str]) -> list[str]:
    """Cancelled siblings in a `gather`, a `TaskGroup` or a branch, and timeouts around them. Some were cancelled for
    other reasons: the code will cancel those again."""
    since = _first_failure(history, causes)
    if since is None:
        return []
    found: dict[str, None] = {}
    reopened = set(causes)
    for op in sorted(history.ops.values(), key=lambda op: op.at.count("/")):  # outermost first
        if op.status == "cancelled" and op.closed_seq > since and not _is_inside_of_closed(op, history, reopened):
            found[op.at] = None
            reopened.add(op.at)
    return sorted(found)


def spare(history: History, causes: Collection[str], reset: list[str], fits: Fits | None) -> list[str]:
    """Operations that only the failure has led to: the code does not ask for them as if it had not happened. Without
    the code, all that was opened since."""
    since = _first_failure(history, causes)
    if since is None:
        return []
    if fits is None:
        return [op.at for op in history.ops.values() if op.opened_seq > since]
    found = Spares(since)
    if fits(reset, found):
        return found.found
    # Another failure, retried before, may have led to some of them first, and this one has led there again: then the
    # code asks for them as long as nothing is taken back
    unasked = Spares(0)
    if fits([], unasked):
        found = Spares(since, frozenset(unasked.found))
        fits(reset, found)
    return found.found


def _first_failure(history: History, causes: Collection[str]) -> int | None:
    """The number of the event at which the first of the causes failed."""
    failed = (history.ops[path].closed_seq for path in causes if path in history.ops)
    return min(filter(None, failed), default=None)


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
