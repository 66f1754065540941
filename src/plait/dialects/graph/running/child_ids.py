"""Ids of child runs: after their parent and the execution that started them."""

from __future__ import annotations

from plait.kernel.ids import RunId

from .state import Execution


def child_id(run_id: RunId, execution: Execution) -> RunId:
    """Each attempt is another run, and so is one that is started because the dead letter was retried."""
    attempt = f".{execution.child}" if execution.child > 1 else ""
    return RunId(f"{run_id}:{execution.node}:{execution.task}{attempt}")
