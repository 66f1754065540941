"""Checks whether a run exceeds a limit with the current decision."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import ErrorInfo
from .limits import exceeded
from .run import Run
from .unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Breach:
    error: ErrorInfo
    children: bool = False
    """The breach is by the children that this decision starts."""


def breach_of(run: Run, unit: UnitOfWork) -> Breach | None:
    state, limits = run.state, run.limits
    if state.status != "running" or state.rolling_back:
        return None
    if unit.breach is not None:
        return Breach(unit.breach)
    events, depth = state.seq - run.snapshots.compacted, run.info.depth + 1
    if events > limits.max_events:
        return Breach(exceeded("events", events, limits.max_events))
    if (unit.write.children or unit.unresolved) and depth > limits.max_depth:
        return Breach(exceeded("levels of children", depth, limits.max_depth), children=True)
    return None
