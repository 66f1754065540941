"""How child runs are called: after their parent and the execution that started them."""

from __future__ import annotations

from plait.kernel.ids import RunId

from .state import Execution


def child_id(run_id: RunId, execution: Execution) -> RunId:
    """One that is started again, because the dead letter was retried, is another run."""
    return RunId(f"{run_id}:{execution.node}:{execution.task}")
