"""An earlier state of a run without a log, computed from its entries: as it was before an operation was opened."""

from __future__ import annotations

from msgspec import Raw

from plait.dialects.code.history import History
from plait.dialects.code.location import loops_of
from plait.dialects.code.op_state import Branch, OpState
from plait.kernel.errors import Conflict
from plait.kernel.values import ABSENT, plain


def state_before(history: History, at: str | None) -> Raw:
    """Drops what came later, and reopens what was open then. An open loop restarts at its first iteration, because the
    states of its iterations are not kept."""
    image = history.image()
    since = _moment(history, at)
    image.ops = [_as_it_was(op, since) for op in image.ops if op.opened_seq < since]
    kept = {op.at for op in image.ops}
    image.undoables = [u for u in image.undoables if u.era < image.era or (u.at in kept and u.order < since)]
    image.queue, image.ended, image.end_seq, image.causes, image.blocked = [], None, 0, [], None
    return Raw(plain(image))


def _moment(history: History, at: str | None) -> int:
    """The number of the event before which everything is kept."""
    if at is None:
        return history.begun_seq + 1
    if at not in history.ops:
        raise Conflict(
            "CODE_REWIND_TARGET",
            f"nothing is recorded at `{at}`",
            why="the path is unknown, or was trimmed with its loop iteration",
            fix="`handle.history()` lists the paths",
        )
    around = next((loop for loop, _ in loops_of(at) if loop in history.ops), at)
    since = history.ops[around].opened_seq
    while True:
        begun = [op for op in history.ops.values() if op.kind == "loop" and op.opened_seq < since]
        earlier = [op.opened_seq for op in begun if not 0 < op.closed_seq < since]
        if not earlier:
            return since
        since = min(earlier)


def _as_it_was(op: OpState, since: int) -> OpState:
    if op.status == "open" or 0 < op.closed_seq < since or op.kind == "version":
        if op.status == "open":
            op.branches = _open_again(op.branches)
        return op
    op.status, op.order, op.closed_seq, op.closed_at = "open", 0, 0, None
    op.output, op.error, op.received, op.winner = ABSENT, None, None, None
    op.branches = _open_again(op.branches)
    return op


def _open_again(branches: dict[str, Branch] | None) -> dict[str, Branch] | None:
    """Reopens all branches, as it is unknown which had ended by then; those end again by what is recorded."""
    return None if branches is None else {name: Branch() for name in branches}
