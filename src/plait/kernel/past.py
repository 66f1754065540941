"""Facts about a run's earlier life, kept in its row."""

from __future__ import annotations

import msgspec

from .agent_totals import AgentTotals
from .ids import Millis, RunId


class Past(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What happened to a run earlier and its status does not show. Most runs have no such past, and none in their
    rows."""

    source: RunId | None = None
    """The run that it was forked from."""
    shared: int = 0
    """How many events it copied from that run."""
    reopened: int = 0
    """How often it was reopened after it had ended."""
    idle: Millis = Millis(0)
    """Milliseconds that it was ended in between."""
    partial: bool = False
    """It completed, but some of its steps did not."""
    agents: AgentTotals | None = None
    """Totals at the last write of its row."""


NO_PAST = Past()
